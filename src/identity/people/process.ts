import type { DurableProcess } from '../../kernel/contract/process.ts'

export const recoveryProcess = {
  name: 'recovery',
  title: 'Recovery',
  details: `A person has no passkey any more, and the operator restores their access. For 24 hours everyone of the account is notified and can stop it; after that the operator creates a link with \`POST /people/{id}/link\`. It expires after seven more days.

Signals, with \`{"by": "your name", "reason": "why"}\`:

- \`cancel\`, or *Request Cancellation*, stops the recovery and ends the run.

In live mode it counts only with \`OPERATOR_SIGNALS=true\`. The API can do the same: \`DELETE /people/{id}/recovery\`.`,
} as const satisfies DurableProcess

export type RecoverySignal = 'cancel'
