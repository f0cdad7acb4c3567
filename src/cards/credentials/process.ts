import type { Process } from '../../kernel/contract/process.ts'

/** The name that the deadline needs. No workflow runs for a credential. */
export const credentialProcess = { name: 'credential' } as const satisfies Process
