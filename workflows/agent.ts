import { proxyActivities } from '@temporalio/workflow'
import type { AgentActivities } from '../activities/agents.ts'
import { agentProcess } from '../src/control/agents/process.ts'
import type { ProcessInput } from '../src/kernel/process.ts'
import { follow } from './support.ts'

const { lookAtAgent, expirePolicy } = proxyActivities<AgentActivities>({
  startToCloseTimeout: 30_000,
  retry: { initialInterval: 200, maximumInterval: 30_000 },
})

/** An agent's policy ends when its time has come. */
export const agent = (input: ProcessInput): Promise<string> =>
  follow(input, {
    recurs: agentProcess.recurs,
    look: () => lookAtAgent(input),
    due: () => expirePolicy(input),
  })
