import type { RecordProcess } from '../../kernel/contract/process.ts'

export const recoveryProcess = {
  name: 'recovery',
  title: 'Recovery',
  details: `Somebody has no passkey any more, and the operator lets that person in again. For 24 hours everybody of the account is told and can stop it; after that the operator makes a link by \`POST /people/{id}/link\`. What nobody has used after seven more days expires.

Signals, with \`{"by": "your name", "reason": "why"}\`:

- \`cancel\`, or *Request Cancellation*, stops the recovery and ends the run.

In live mode it counts only with \`OPERATOR_SIGNALS=true\`. The API can do the same: \`DELETE /people/{id}/recovery\`.`,
  read: { activity: 'readRecovery', operation: 'people.recoveryStatus', summary: 'Status of the recovery' },
  decide: 'answerRecovery',
  signals: {
    cancel: { effect: 'Stops the recovery and ends the run.', operation: 'people.cancelRecovery' },
  },
  steps: {
    advanceRecovery: {
      operation: 'people.advanceRecovery',
      summary: 'Allow the link after 24 hours, or end what was not used in time',
    },
  },
} as const satisfies RecordProcess

export type RecoverySignal = keyof typeof recoveryProcess.signals
