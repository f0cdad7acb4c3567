import type { Process } from '../../kernel/contract/process.ts'

/** Begins with the mandate; ends when it is revoked, expired or exhausted. */
export const mandateProcess = {
  name: 'mandate',
  title: 'Mandate',
  details: `Watches over what a person has allowed an agent in advance, until that ends: by its time, by being used up, or by being revoked. While it is suspended nothing is approved by it.

Signals, each with \`{"by": "your name", "reason": "why"}\`:

- \`suspend\` suspends it.
- \`resume\` makes it active again, unless the agent is frozen or the signer was removed.
- \`revoke\` revokes it for good and ends the run.

In live mode they count only with \`OPERATOR_SIGNALS=true\`. The API can do the same: \`POST /mandates/{id}/suspend\`.`,
} as const satisfies Process

/** The signals that operators send from the Web UI or the command line, and what each does. */
export const mandateSignals = {
  suspend: 'Suspends the mandate: nothing more is approved by it.',
  resume: 'Makes the mandate active again.',
  revoke: 'Revokes the mandate for good and ends the run.',
} as const
export type MandateSignal = keyof typeof mandateSignals
