import type { RecordProcess } from '../../kernel/contract/process.ts'

/** Runs while a failed delivery waits for another attempt; a replay starts it again. */
export const webhookProcess = {
  name: 'webhook',
  title: 'Webhook delivery',
  details: `Follows a delivery that has failed until it is accepted or given up. The deliverer makes the attempts; when one is
due, the run wakes it. Under *Pending Activities* the last failure says which attempt comes next, and when.

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
      summary: 'Wake the deliverer for each attempt that is due',
      body: { asked: false },
      untilClosed: true,
    },
  },
} as const satisfies RecordProcess
