import { proxyActivities } from '@temporalio/workflow'
import type { AgentActivities } from '../activities/agents.ts'
import { agentProcess } from '../src/control/agents/process.ts'
import type { ProcessInput } from '../src/kernel/contract/process.ts'
import { follow } from './follow-record.ts'

const { lookAtAgent, expirePolicy, carryOutDeletion } = proxyActivities<AgentActivities>({
  startToCloseTimeout: 15_000,
  retry: { initialInterval: 200, maximumInterval: 30_000 },
})

/** An agent is deleted when that has been asked for; its policy ends when its time has come. */
export const agent = (input: ProcessInput): Promise<string> =>
  follow(input, {
    recurs: agentProcess.recurs,
    look: () => lookAtAgent(input),
    due: ({ status }) => (status === 'deleting' ? carryOutDeletion(input) : expirePolicy(input)),
  })
