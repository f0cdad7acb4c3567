import type { Process } from '../../kernel/contract/process.ts'

/** Runs while something is pending for an agent: its deletion, or the expiry of its policy. */
export const agentProcess = {
  name: 'agent',
  title: 'Agent',
  details: `Waits for the end of the agent’s policy. Carries out the deletion of the agent in five steps: its cards are closed, open intents are cancelled, open runs end, the money goes back to the wallet it came from, the agent is deleted. A step that fails is tried again.

No signal decides here: \`DELETE /agents/{id}\` begins a deletion, a new policy moves the end. *Request Cancellation* changes nothing.`,
  recurs: true,
} as const satisfies Process

/**
 * The operations of a deletion, in order. They are only named here, because most belong to nouns to the right of agents.
 * Each can be repeated, and answers whether the next one may begin.
 */
export const deletionSteps = [
  'cards.endForAgent',
  'intents.endForAgent',
  'runs.endForAgent',
  'agents.sweep',
  'agents.finishDeletion',
] as const
