import type { ProcessInput } from '../src/kernel/process.ts'
import { lookWith, type Run } from './support.ts'

export const agentActivities = (run: Run) => ({
  lookAtAgent: (input: ProcessInput) => lookWith(run, 'policies.look', input, requestOf(input)),

  async expirePolicy(input: ProcessInput): Promise<void> {
    await run('policies.expire', { of: input, as: 'process', requestId: requestOf(input) })
  },
})

export type AgentActivities = ReturnType<typeof agentActivities>

const requestOf = ({ id }: ProcessInput): string => `workflow:agent/${id}`
