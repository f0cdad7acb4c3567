import type { AgentActivities } from '../activities/agents.ts'
import { agentProcess } from '../src/control/agents/process.ts'
import type { ProcessInput } from '../src/kernel/contract/process.ts'
import { activities, decision, reading } from './shared/activities.ts'
import { follow } from './shared/record-run.ts'

const { readAgent, expirePolicy, closeCards, cancelIntents, endRuns, returnMoney, finishDeletion } =
  activities<AgentActivities>({
    readAgent: reading('What is pending for the agent'),
    expirePolicy: decision('End the agent’s policy'),
    closeCards: decision('Deletion, step 1: close its cards'),
    cancelIntents: decision('Deletion, step 2: cancel its open intents'),
    endRuns: decision('Deletion, step 3: end its open runs'),
    returnMoney: decision('Deletion, step 4: return its money'),
    finishDeletion: decision('Deletion, step 5: delete the agent'),
  })

/** Ends an agent’s policy on time. Deletes an agent in reverse order of creation: cards, intents, runs, money, the agent. */
export async function agent(ref: ProcessInput): Promise<string> {
  const record = await follow(ref, { process: agentProcess, read: readAgent })
  while (!record.isOver) {
    const { left, deadline } = record.state
    const isBeingDeleted = left !== null
    if (!isBeingDeleted) await record.waitFor(`the policy to end, ${deadline}`, { whenDue: expirePolicy })
    else if (left.card) await record.waitFor('its cards to be closed', { whenDue: closeCards })
    else if (left.intent) await record.waitFor('its open intents to be cancelled', { whenDue: cancelIntents })
    else if (left.run) await record.waitFor('its open runs to end', { whenDue: endRuns })
    else if (left.wallet) await record.waitFor('its money to be returned', { whenDue: returnMoney })
    else await record.take(finishDeletion)
  }
  return record.state.status
}
