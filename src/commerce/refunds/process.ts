import type { Process } from '../../kernel/contract/process.ts'

/** Begins where a merchant is asked for money; ends when it is there, given up or cancelled. */
export const refundProcess = {
  name: 'refund',
  title: 'Refund',
  details: `Has the processor of the card ask the merchant, where it can and has not answered yet: from a minute apart to an hour, under one reference. Then it waits until the card network brings the money. After 30 days it is given up: the payment can then be disputed. What comes later is booked all the same.

Signals, with \`{"by": "your name", "reason": "why"}\`:

- \`cancel\`, or *Request Cancellation*, ends the waiting: what was asked for can be asked for again, or disputed.

In live mode it counts only with \`OPERATOR_SIGNALS=true\`. The API can do the same: \`POST /refunds/{id}/cancel\`.`,
} as const satisfies Process

/** The signals that operators send from the Web UI or the command line, and what each does. */
export const refundSignals = {
  cancel: 'Ends the waiting for the money.',
} as const
export type RefundSignal = keyof typeof refundSignals
