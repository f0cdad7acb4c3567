import { cardSteps, closeCardsOfAgent } from '../src/cards/cards/index.ts'
import {
  agentDeletionStatus,
  agentSteps,
  finishAgentDeletion,
  returnAgentMoney,
} from '../src/control/agents/index.ts'
import { cancelIntentsOfAgent, intentSteps } from '../src/control/intents/index.ts'
import { expirePolicy, policyEndStatus, policySteps } from '../src/control/policies/index.ts'
import { endRunsOfAgent, runSteps } from '../src/control/runs/index.ts'
import type { RecordRef } from '../src/kernel/contract/step.ts'
import type { ActivityTools } from './shared/tools.ts'

export type AgentActivities = ReturnType<typeof agentActivities>

export const agentActivities = ({ read, transaction }: ActivityTools) => {
  const readAgent = (ref: RecordRef) =>
    read(ref, async context => {
      const deletion = await agentDeletionStatus(ref.id, context)
      if (deletion) return deletion
      const policyEnd = await policyEndStatus(ref.id, context)
      return policyEnd && { ...policyEnd, left: null }
    })
  return {
    readAgent,

    async expirePolicy(ref: RecordRef) {
      await transaction(ref, policySteps.expire, tx => expirePolicy(ref.id, tx))
      return readAgent(ref)
    },

    async closeCards(ref: RecordRef) {
      await transaction(ref, cardSteps.closeForAgent, tx => closeCardsOfAgent(ref.id, tx))
      return readAgent(ref)
    },

    async cancelIntents(ref: RecordRef) {
      await transaction(ref, intentSteps.cancelForAgent, tx => cancelIntentsOfAgent(ref.id, tx))
      return readAgent(ref)
    },

    async endRuns(ref: RecordRef) {
      await transaction(ref, runSteps.endForAgent, tx => endRunsOfAgent(ref.id, tx))
      return readAgent(ref)
    },

    async returnMoney(ref: RecordRef) {
      await transaction(ref, agentSteps.returnMoney, tx => returnAgentMoney(ref.id, tx))
      return readAgent(ref)
    },

    async finishDeletion(ref: RecordRef) {
      await transaction(ref, agentSteps.finishDeletion, tx => finishAgentDeletion(ref.id, tx))
      return readAgent(ref)
    },
  }
}
