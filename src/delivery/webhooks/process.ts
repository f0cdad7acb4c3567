import type { DurableProcess } from '../../kernel/contract/process.ts'

/** Runs while a failed delivery waits for another attempt; a replay starts it again. */
export const webhookProcess = {
  name: 'webhook',
  title: 'Webhook delivery',
  details: `Begins when the first attempt of a delivery has failed, and sends it again until it is accepted or given up. Timers show
which attempt comes next, and when; the summary has the answers of the receiver so far.

Signals:

- \`retryNow\`, without a payload, makes the next attempt at once.`,
  recurs: true,
} as const satisfies DurableProcess
