import type { Process } from '../../kernel/contract/process.ts'

/** The name that the deadline needs. No workflow runs for a delegation. */
export const delegationProcess = { name: 'delegation' } as const satisfies Process
