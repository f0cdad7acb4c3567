import type { Process } from '../../kernel/contract/process.ts'

/** The name that the deadline needs. No workflow runs for an agent credential. */
export const agentCredentialProcess = { name: 'agent-credential' } as const satisfies Process
