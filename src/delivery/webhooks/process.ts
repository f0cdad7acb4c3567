import type { RecordProcess } from '../../kernel/contract/process.ts'

/** Runs while a failed delivery waits for another attempt; a replay starts it again. */
export const webhookProcess = {
  name: 'webhook',
  title: 'Webhook delivery',
  details: `Makes the next attempts at a delivery that has failed, until it is taken or given up. Under *Pending Activities*
the last failure says which attempt comes next, and when.

Signals:

- \`retryNow\`, without a payload, makes the next attempt at once.`,
  recurs: true,
  read: { activity: 'readDelivery', operation: 'webhooks.status', summary: 'Status of the delivery' },
  decide: 'retryDeliveryNow',
  signals: {
    retryNow: {
      effect: 'Makes the next attempt at once.',
      operation: 'webhooks.retry',
      body: () => ({ asked: true }),
    },
  },
  withoutPayload: true,
  steps: {
    retryDelivery: {
      operation: 'webhooks.retry',
      summary: 'Make each attempt when it is due',
      body: { asked: false },
      untilClosed: true,
    },
  },
} as const satisfies RecordProcess
