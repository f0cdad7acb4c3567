import type { AgentActivities } from '../activities/agents.ts'
import { agentProcess } from '../src/control/agents/process.ts'
import type { ProcessInput } from '../src/kernel/contract/process.ts'
import { followRecord } from './shared/follow-record.ts'
import { stepsOf } from './shared/steps.ts'

const { readAgent, expirePolicy, closeCards, cancelIntents, endRuns, returnMoney, finishDeletion } =
  stepsOf<AgentActivities>()({
    readAgent: { summary: 'What is pending for the agent' },
    expirePolicy: { summary: 'The agent’s policy has come to its end' },
    closeCards: { summary: 'Deletion, step 1: its cards are closed' },
    cancelIntents: { summary: 'Deletion, step 2: its open intents are cancelled' },
    endRuns: { summary: 'Deletion, step 3: its open runs end' },
    returnMoney: { summary: 'Deletion, step 4: its money goes back' },
    finishDeletion: { summary: 'Deletion, step 5: the agent is deleted' },
  })

/** The policy of an agent ends in its time, and an agent that is to go is undone step by step. */
export const agent = (input: ProcessInput): Promise<string> =>
  followRecord(input, {
    recurs: agentProcess.recurs,
    read: readAgent,
    async story(record) {
      await record.during(
        ({ status }) => status !== 'deleting',
        () => expirePolicy(input),
      )
      await record.during(
        ({ status }) => status === 'deleting',
        () => undo(input),
      )
    },
  })

/** What was made last goes first: cards, intents, runs, money, the agent. It stops at what takes longer, and goes on there. */
async function undo(input: ProcessInput): Promise<void> {
  for (const step of [closeCards, cancelIntents, endRuns, returnMoney, finishDeletion])
    if (!(await step(input)).done) return
}
