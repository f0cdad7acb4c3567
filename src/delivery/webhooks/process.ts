import type { Process } from '../../kernel/contract/process.ts'

/** Exists while a delivery that has failed once is to be tried again; a replay begins it anew. */
export const webhookProcess = { name: 'webhook', recurs: true } as const satisfies Process

/** An operator sends it who does not want to wait for the next attempt. */
export const webhookSignals = ['retryNow'] as const
