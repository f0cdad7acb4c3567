import type { Process } from '../../kernel/contract/process.ts'

/** Exists while a delivery that has failed once is to be tried again; a replay begins it anew. */
export const webhookProcess = {
  name: 'webhook',
  title: 'Webhook delivery',
  details: `Waits for the next attempt at a delivery that has failed, until it is taken or given up.

Signals:

- \`retryNow\`, without a payload, makes the next attempt at once.`,
  recurs: true,
} as const satisfies Process

/** Signal of an operator who does not want to wait for the next attempt. */
export const webhookSignals = { retryNow: 'Makes the next attempt at once.' } as const
