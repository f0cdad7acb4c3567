import { agentProcess } from '../src/control/agents/process.ts'
import type { ProcessStatus } from '../src/kernel/contract/process.ts'
import { type FollowedRecord, followRecord } from './shared/follow-record.ts'
import type { StepsOf } from './shared/steps.ts'

/** Ends an agent's policy on time, and deletes an agent step by step. */
export const agent = followRecord(agentProcess, async (record: FollowedRecord<ProcessStatus>, steps) => {
  await record.during(({ status }) => status !== 'deleting', steps.expirePolicy)
  await record.during({ status: 'deleting' }, () => deleteAgent(steps))
})

/**
 * In reverse order of creation: cards, intents, runs, money, the agent. A step that is not complete stops the
 * sequence here.
 */
async function deleteAgent(steps: StepsOf<typeof agentProcess>): Promise<void> {
  const { closeCards, cancelIntents, endRuns, returnMoney, finishDeletion } = steps
  for (const step of [closeCards, cancelIntents, endRuns, returnMoney, finishDeletion])
    if (!(await step())?.done) return
}
