import type { Process } from '../../../kernel/contract/process.ts'

/** The name that the deadline needs. The process of the request waits for the outcome. */
export const settlementProcess = { name: 'settlement' } as const satisfies Process
