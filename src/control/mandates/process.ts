import type { RecordProcess } from '../../kernel/contract/process.ts'

export const mandateProcess = {
  name: 'mandate',
  title: 'Mandate',
  details: `Runs until the mandate ends: it expires, is exhausted or is revoked. While it is suspended it approves nothing.

Signals, each with \`{"by": "your name", "reason": "why"}\`:

- \`suspend\` suspends it.
- \`resume\` makes it active again, unless the agent is frozen or the signer was removed.
- \`revoke\` revokes it for good and ends the run.

In live mode they count only with \`OPERATOR_SIGNALS=true\`. The API can do the same: \`POST /mandates/{id}/suspend\`.`,
  read: { activity: 'readMandate', operation: 'mandates.status', summary: 'Status of the mandate' },
  decide: 'changeMandate',
  signals: {
    suspend: {
      effect: 'Suspends the mandate: it approves nothing until it is resumed.',
      operation: 'mandates.suspend',
    },
    resume: { effect: 'Makes the mandate active again.', operation: 'mandates.resume' },
    revoke: { effect: 'Revokes the mandate permanently and ends the run.', operation: 'mandates.revoke' },
  },
  steps: {
    expireMandate: { operation: 'mandates.expire', summary: 'Expire the mandate at its end' },
  },
} as const satisfies RecordProcess

export type MandateSignal = keyof typeof mandateProcess.signals
