import type { Process } from '../../kernel/contract/process.ts'

/** Only a name: nothing waits for a delegation but its deadline. */
export const delegationProcess = { name: 'delegation' } as const satisfies Process
