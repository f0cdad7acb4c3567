import type { RecordProcess } from '../../kernel/contract/process.ts'

export const recoveryProcess = {
  name: 'recovery',
  title: 'Recovery',
  details: `A person has no passkey any more, and the operator restores their access. For 24 hours everyone of the account is notified and can stop it; after that the operator creates a link with \`POST /people/{id}/link\`. It expires after seven more days.

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
