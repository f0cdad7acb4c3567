import type { RecordProcess } from '../../kernel/contract/process.ts'

export const collectProcess = {
  name: 'collect',
  title: 'Payment request',
  recurs: true,
  details: `Waits for the money that was asked for, by SEPA, by card or from another wallet. What has not come in time expires; what comes later stays in the wallet and is marked. It runs again for a refund, until the money is back with who had paid.

Signals, with \`{"by": "your name", "reason": "why"}\`:

- \`cancel\`, or *Request Cancellation*, cancels the request while no payment on it is under way.

In live mode it counts only with \`OPERATOR_SIGNALS=true\`. The API can do the same: \`POST /collect/requests/{id}/cancel\`.`,
  read: {
    activity: 'readPaymentRequest',
    operation: 'collect.status',
    summary: 'Status of the payment request',
  },
  decide: 'answerPaymentRequest',
  signals: {
    cancel: {
      effect: 'Cancels the request while no payment on it is under way.',
      operation: 'collect.cancel',
    },
  },
  steps: {
    expirePaymentRequest: {
      operation: 'collect.expire',
      summary: 'Expire the request, which was not paid in time',
    },
    followRefunds: { operation: 'collect.followRefunds', summary: 'Check whether the refunds have arrived' },
  },
} as const satisfies RecordProcess

export type CollectSignal = keyof typeof collectProcess.signals
