import type { Process } from '../../kernel/contract/process.ts'

/** Exists while something is pending for an agent: its deletion, or the expiry of its policy. */
export const agentProcess = { name: 'agent', recurs: true } as const satisfies Process

/**
 * What a deletion does, one after the other. They are named only, for most lie to the right of agents. Each does
 * nothing where there is nothing to do, and answers whether the next one may begin.
 */
export const deletionSteps = [
  'intents.endForAgent',
  'runs.endForAgent',
  'agents.sweep',
  'agents.finishDeletion',
] as const
