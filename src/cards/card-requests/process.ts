import type { DurableProcess } from '../../kernel/contract/process.ts'

export const cardRequestProcess = {
  name: 'card-request',
  title: 'Card request',
  details: `Waits until a person has answered an agent’s request for a card, or for other limits of a card; or until several have approved it by the steps of the policy. Carries out the approval: the card is issued, or its limits change. A request without an answer expires after 72 hours.

Signals, each with \`{"by": "your name", "reason": "why"}\`:

- \`approve\` approves it as requested. Lower limits need the API. It is refused where the policy asks for several people by steps.
- \`deny\` denies it and ends the run.
- \`cancel\`, or *Request Cancellation*, cancels it and ends the run.

In live mode they count only with \`OPERATOR_SIGNALS=true\`. The API can do the same: \`POST /card-requests/{id}/approve\`.`,
  newIn: ['pending'],
} as const satisfies DurableProcess

export type CardRequestSignal = 'approve' | 'deny' | 'cancel'
