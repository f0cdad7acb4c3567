import type { DurableProcess } from '../../kernel/contract/process.ts'

export const mppProcess = {
  name: 'mpp',
  title: 'Machine payment',
  details: `Carries out one machine payment: asks the merchant, checks its offer, mints a credential and sends it, once; then it follows the payment until its outcome is known. The intent, the card and the owner’s rules are checked again before anything is minted. With \`MPP_WORKFLOWS=request\`, or while no worker was there, the request has taken these steps itself. Nothing is ever sent again.

A payment that was asked for with \`Prefer: respond-async\` may wait before that: for a person’s approval of the intent, or for a merchant that is away, which is asked again after longer and longer pauses. It ends with its intent.

While the outcome is unknown the money stays held. The card network decides it by an authorization, a clearing or a decline of the token; after 31 days it counts as not paid, and the token is revoked.

Signals, each with \`{"by": "your name", "reason": "why"}\`:

- \`paid\` records the payment as paid: the money is captured.
- \`notPaid\` records it as not paid: the token is revoked, and the intent can be paid again.

In live mode they count only with \`OPERATOR_SIGNALS=true\`. The API can do the same: \`POST /v1/mpp/credentials/{id}/resolve\`.`,
  newIn: ['waiting', 'ordering', 'minted', 'sent'],
} as const satisfies DurableProcess

/** Follows a paid payment that the network has reversed, since the token must still be deleted. */
export const reversedMppProcess = { ...mppProcess, recurs: true } as const satisfies DurableProcess

export type MppSignal = 'paid' | 'notPaid'
