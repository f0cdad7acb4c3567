import type { Process } from '../../kernel/process.ts'

/** Exists while something is pending for an agent: the expiry of its policy. */
export const agentProcess = { name: 'agent', recurs: true } as const satisfies Process
