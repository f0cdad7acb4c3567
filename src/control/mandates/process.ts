import type { DurableProcess } from '../../kernel/contract/process.ts'

export const mandateProcess = {
  name: 'mandate',
  title: 'Mandate',
  details: `Runs until the mandate ends: it expires, is exhausted or is revoked. While it is suspended it approves nothing.

Signals, each with \`{"by": "your name", "reason": "why"}\`:

- \`suspend\` suspends it.
- \`resume\` makes it active again, unless the agent is frozen or the signer was removed.
- \`revoke\` revokes it for good and ends the run.

In live mode they count only with \`OPERATOR_SIGNALS=true\`. The API can do the same: \`POST /mandates/{id}/suspend\`.`,
} as const satisfies DurableProcess

export type MandateSignal = 'suspend' | 'resume' | 'revoke'
