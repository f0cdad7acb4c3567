import type { deletionSteps } from '../src/control/agents/process.ts'
import type { ProcessInput, ProcessStatus } from '../src/kernel/contract/process.ts'
import { type Run, readWith } from './support.ts'

/** Whether nothing is left to do, so that the next step may begin. */
interface Step {
  readonly done: boolean
}

export const agentActivities = (run: Run) => {
  /** What is pending for the agent: a deletion before all else. */
  async function readAgent(input: ProcessInput): Promise<ProcessStatus> {
    const read = (operation: string) => readWith(run, operation, input, requestOf(input))
    const deletion = await read('agents.status')
    return deletion.closed ? read('policies.status') : deletion
  }

  const step =
    (operation: (typeof deletionSteps)[number]) =>
    async (input: ProcessInput): Promise<Step> => {
      const { result } = await run<Step>(operation, { of: input, as: 'process', requestId: requestOf(input) })
      return { done: result?.done ?? false }
    }

  return {
    readAgent,

    async expirePolicy(input: ProcessInput): Promise<void> {
      await run('policies.expire', { of: input, as: 'process', requestId: requestOf(input) })
    },

    closeCards: step('cards.endForAgent'),
    cancelIntents: step('intents.endForAgent'),
    endRuns: step('runs.endForAgent'),
    returnMoney: step('agents.sweep'),
    finishDeletion: step('agents.finishDeletion'),
  }
}

export type AgentActivities = ReturnType<typeof agentActivities>

const requestOf = ({ id }: ProcessInput): string => `workflow:agent/${id}`
