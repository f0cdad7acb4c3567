import type { Process } from '../../kernel/contract/process.ts'

/**
 * Begins with the commit that precedes the first byte of a credential; ends with the word of the merchant, the network, the
 * owner or the deadline.
 */
export const mppProcess = {
  name: 'mpp',
  title: 'Machine payment',
  details: `Looks after one machine payment. The request itself asks the merchant, checks its offer, mints the credential and sends it, once; this run takes over what the request leaves: a service that was stopped in between, a merchant that is silent, an outcome that nobody knows. Nothing is ever minted or sent again.

While the outcome is open the money stays held. The card network ends it by an authorization, a clearing or a decline of the token; after 31 days it counts as not paid, and the token is revoked.

Signals, each with \`{"by": "your name", "reason": "why"}\`:

- \`paid\` takes the payment as made: the money is captured.
- \`notPaid\` takes it as not made: the token is revoked, and the intent is free again.

In live mode they count only with \`OPERATOR_SIGNALS=true\`. The API can do the same: \`POST /v1/mpp/credentials/{id}/resolve\`.`,
} as const satisfies Process

/** The process of a payment that had ended as paid: the network has taken that back, and the token is to be deleted. */
export const takenBackProcess = { ...mppProcess, recurs: true } as const satisfies Process

/** The signals that operators send from the Web UI or the command line, and what each does. */
export const mppSignals = {
  paid: 'Takes the payment as made: the money is captured.',
  notPaid: 'Takes the payment as not made: the token is revoked, and the intent is free again.',
} as const
export type MppSignal = keyof typeof mppSignals
