import type { DurableProcess } from '../../kernel/contract/process.ts'

export const agentProcess = {
  name: 'agent',
  title: 'Agent',
  details: `Waits for the end of the agent’s policy. Carries out the deletion of the agent step by step: its cards are closed, open intents are cancelled, open runs end, its money goes to the owner’s main wallet, the agent is deleted. A step that fails is tried again.

No signal decides here: \`DELETE /agents/{id}\` begins a deletion, a new policy moves the end. *Request Cancellation* changes nothing.`,
  recurs: true,
} as const satisfies DurableProcess
