import type { ProcessStatus, RecordProcess } from '../../kernel/contract/process.ts'

export const refundProcess = {
  name: 'refund',
  title: 'Refund',
  details: `Has the processor of the card ask the merchant, where it can and has not answered yet: from a minute apart to an hour, under one reference. Then it waits until the card network brings the money. After 30 days it is given up: the payment can then be disputed. What comes later is booked all the same.

Signals, with \`{"by": "your name", "reason": "why"}\`:

- \`cancel\`, or *Request Cancellation*, ends the waiting: what was asked for can be asked for again, or disputed.

In live mode it counts only with \`OPERATOR_SIGNALS=true\`. The API can do the same: \`POST /refunds/{id}/cancel\`.`,
  read: { activity: 'readRefund', operation: 'refunds.status', summary: 'Status of the refund' },
  decide: 'answerRefund',
  signals: {
    cancel: {
      effect: 'Ends the waiting for the money.',
      operation: 'refunds.cancel',
      body: () => ({}),
    },
  },
  steps: {
    askMerchantForRefund: {
      operation: 'refunds.ask',
      summary: 'Have the card processor ask the merchant, once',
      timeoutMs: 60_000,
    },
    giveUpRefund: {
      operation: 'refunds.expire',
      summary: 'Give up the refund, which did not arrive in time',
    },
  },
} as const satisfies RecordProcess

export interface RefundStatus extends ProcessStatus {
  readonly next: 'ask' | 'give up' | null
}

export type RefundSignal = keyof typeof refundProcess.signals
