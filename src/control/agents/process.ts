import type { RecordProcess } from '../../kernel/contract/process.ts'

/**
 * The operations of a deletion, in order. They are named by text because most belong to nouns after agents in
 * the import order. Each can be repeated, and returns whether the next one may begin.
 */
const deletion = {
  closeCards: { operation: 'cards.endForAgent', summary: 'Deletion, step 1: close its cards' },
  cancelIntents: { operation: 'intents.endForAgent', summary: 'Deletion, step 2: cancel its open intents' },
  endRuns: { operation: 'runs.endForAgent', summary: 'Deletion, step 3: end its open runs' },
  returnMoney: { operation: 'agents.sweep', summary: 'Deletion, step 4: return its money' },
  finishDeletion: { operation: 'agents.finishDeletion', summary: 'Deletion, step 5: delete the agent' },
} as const

export const agentDeletionSteps = Object.values(deletion).map(({ operation }) => operation)

export const agentProcess = {
  name: 'agent',
  title: 'Agent',
  details: `Waits for the end of the agent’s policy. Carries out the deletion of the agent in five steps: its cards are closed, open intents are cancelled, open runs end, the money goes back to the wallet it came from, the agent is deleted. A step that fails is tried again.

No signal decides here: \`DELETE /agents/{id}\` begins a deletion, a new policy moves the end. *Request Cancellation* changes nothing.`,
  recurs: true,
  read: {
    activity: 'readAgent',
    operation: 'agents.status',
    whenClosed: 'policies.status',
    summary: 'What is pending for the agent',
  },
  steps: {
    expirePolicy: { operation: 'policies.expire', summary: 'End the agent’s policy' },
    ...deletion,
  },
} as const satisfies RecordProcess
