import type { Process } from '../../kernel/contract/process.ts'

/** Begins with the recovery of a person; ends when it is completed, stopped or expired. */
export const recoveryProcess = {
  name: 'recovery',
  title: 'Recovery',
  details: `Somebody has no passkey any more, and the operator lets that person in again. For 24 hours everybody of the account is told and can stop it; after that the operator makes a link by \`POST /people/{id}/link\`. What nobody has used after seven more days expires.

Signals, with \`{"by": "your name", "reason": "why"}\`:

- \`cancel\`, or *Request Cancellation*, stops the recovery and ends the run.

In live mode it counts only with \`OPERATOR_SIGNALS=true\`. The API can do the same: \`DELETE /people/{id}/recovery\`.`,
} as const satisfies Process

/** The signals that operators send from the Web UI or the command line, and what each does. */
export const recoverySignals = { cancel: 'Stops the recovery and ends the run.' } as const
export type RecoverySignal = keyof typeof recoverySignals
