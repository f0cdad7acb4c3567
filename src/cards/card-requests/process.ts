import type { Process } from '../../kernel/contract/process.ts'

/** Begins with the request; ends when it is answered and carried out, cancelled or expired. */
export const cardRequestProcess = {
  name: 'card-request',
  title: 'Card request',
  details: `Waits until a person has answered an agent’s request for a card, or for other limits of a card. Carries out what was approved: the card is issued, or its limits change. What nobody has answered after 72 hours expires.

Signals, each with \`{"by": "your name", "reason": "why"}\`:

- \`approve\` approves it as it was asked for. Lower limits can be given by the API only.
- \`deny\` denies it and ends the run.
- \`cancel\`, or *Request Cancellation*, cancels it and ends the run.

In live mode they count only with \`OPERATOR_SIGNALS=true\`. The API can do the same: \`POST /card-requests/{id}/approve\`.`,
} as const satisfies Process

/** The signals that approvers send from the Web UI or the command line, and what each does. */
export const cardRequestSignals = {
  approve: 'Approves the request as it was asked for.',
  deny: 'Denies the request and ends the run.',
  cancel: 'Cancels the request and ends the run.',
} as const
export type CardRequestSignal = keyof typeof cardRequestSignals
