import type { RecordProcess } from '../../kernel/contract/process.ts'

export const cardRequestProcess = {
  name: 'card-request',
  title: 'Card request',
  details: `Waits until a person has answered an agent’s request for a card, or for other limits of a card. Carries out the approval: the card is issued, or its limits change. A request without an answer expires after 72 hours.

Signals, each with \`{"by": "your name", "reason": "why"}\`:

- \`approve\` approves it as requested. Lower limits need the API.
- \`deny\` denies it and ends the run.
- \`cancel\`, or *Request Cancellation*, cancels it and ends the run.

In live mode they count only with \`OPERATOR_SIGNALS=true\`. The API can do the same: \`POST /card-requests/{id}/approve\`.`,
  read: {
    activity: 'readCardRequest',
    operation: 'cardRequests.status',
    summary: 'Status of the card request',
  },
  decide: 'answerCardRequest',
  signals: {
    approve: { effect: 'Approves the request as made.', operation: 'cardRequests.approve' },
    deny: {
      effect: 'Denies the request and ends the run.',
      operation: 'cardRequests.deny',
      body: (by, comment) => ({ reason: comment ?? `Denied by ${by}` }),
    },
    cancel: { effect: 'Cancels the request and ends the run.', operation: 'cardRequests.cancel' },
  },
  steps: {
    expireCardRequest: {
      operation: 'cardRequests.expire',
      summary: 'Expire the request, which was not answered in time',
    },
    carryOutCardRequest: {
      operation: 'cardRequests.carryOut',
      summary: 'Carry out the approval: issue the card, or change its limits',
    },
  },
} as const satisfies RecordProcess

export type CardRequestSignal = keyof typeof cardRequestProcess.signals
