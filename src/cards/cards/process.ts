import type { DurableProcess } from '../../kernel/contract/process.ts'

export const cardProcess = {
  name: 'card',
  title: 'Card',
  details: `Has the card issued by the processor, once, and sends it every change: active, frozen, closed, limits and controls, another number. A processor that does not answer is called again, with increasing pauses. The service itself applies every change immediately. Closes the card when it expires, and when the payment of a single-use card has ended. Returns the balance of a closed card’s purse.

Signals, each with \`{"by": "your name", "reason": "why"}\`:

- \`freeze\` declines all payments until the card is unfrozen.
- \`unfreeze\` lets it pay again.
- \`close\` closes it for good.

In live mode they count only with \`OPERATOR_SIGNALS=true\`. The API can do the same: \`POST /cards/{id}/freeze\`. *Request Cancellation* changes nothing.`,
  recurs: true,
  newIn: ['pending'],
} as const satisfies DurableProcess

export type CardSignal = 'freeze' | 'unfreeze' | 'close'
