import type { DurableProcess } from '../../kernel/contract/process.ts'

export const collectProcess = {
  name: 'collect',
  title: 'Payment request',
  recurs: true,
  details: `Waits for the requested money, by SEPA, by card or from another wallet. A request that is not paid in time expires; later money stays in the wallet and is marked. The run starts again for a refund, until the payer has the money.

Signals, with \`{"by": "your name", "reason": "why"}\`:

- \`cancel\`, or *Request Cancellation*, cancels the request while no payment on it is under way.

In live mode it counts only with \`OPERATOR_SIGNALS=true\`. The API can do the same: \`POST /collect/requests/{id}/cancel\`.`,
} as const satisfies DurableProcess

export type CollectSignal = 'cancel'
