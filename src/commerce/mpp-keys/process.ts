import type { Process } from '../../kernel/contract/process.ts'

/** The name that the deadline needs. No workflow runs for a key. */
export const mppKeyProcess = { name: 'mpp-key' } as const satisfies Process
