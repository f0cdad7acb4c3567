import type { RecordProcess } from '../../kernel/contract/process.ts'

/** Runs while a failed delivery waits for another attempt; a replay starts it again. */
export const webhookProcess = {
  name: 'webhook',
  title: 'Webhook delivery',
  details: `Waits for the next attempt at a delivery that has failed, until it is taken or given up.

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
      summary: 'Make the attempt that is due',
      body: { asked: false },
    },
  },
} as const satisfies RecordProcess
