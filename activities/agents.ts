import { deletionSteps } from '../src/control/agents/process.ts'
import type { Look, ProcessInput } from '../src/kernel/contract/process.ts'
import { lookWith, type Run } from './support.ts'

export const agentActivities = (run: Run) => ({
  /** What is pending for it: a deletion before all else. */
  async lookAtAgent(input: ProcessInput): Promise<Look> {
    const look = (operation: string) => lookWith(run, operation, input, requestOf(input))
    const deletion = await look('agents.look')
    return deletion.closed ? look('policies.look') : deletion
  },

  async expirePolicy(input: ProcessInput): Promise<void> {
    await run('policies.expire', { of: input, as: 'process', requestId: requestOf(input) })
  },

  /** As far as it comes: what is done is not done again, and what is left is done the next time. */
  async carryOutDeletion(input: ProcessInput): Promise<void> {
    for (const step of deletionSteps) {
      const asked = { of: input, as: 'process', requestId: requestOf(input) } as const
      const { result } = await run<{ done: boolean }>(step, asked)
      if (!result?.done) return
    }
  },
})

export type AgentActivities = ReturnType<typeof agentActivities>

const requestOf = ({ id }: ProcessInput): string => `workflow:agent/${id}`
