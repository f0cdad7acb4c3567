import type { DurableProcess } from '../../kernel/contract/process.ts'

export const refundProcess = {
  name: 'refund',
  title: 'Refund',
  details: `Has the card’s processor request the refund from the merchant, if it supports that: repeated after a minute, later up to an hour, under one reference. Then it waits for the money from the card network. After 30 days the refund expires and the payment can be disputed. Later money is still booked.

Signals, with \`{"by": "your name", "reason": "why"}\`:

- \`cancel\`, or *Request Cancellation*, cancels the refund: the amount can be requested again, or disputed.

In live mode it counts only with \`OPERATOR_SIGNALS=true\`. The API can do the same: \`POST /refunds/{id}/cancel\`.`,
} as const satisfies DurableProcess

export type RefundSignal = 'cancel'
