import { cardSteps, closeCardsOfAgent, firstCardToEnd } from '../src/cards/cards/index.ts'
import {
  type Agent,
  agentDeletionStatus,
  agentSteps,
  findAgent,
  finishAgentDeletion,
  lockDeletingAgent,
  returnAgentMoney,
} from '../src/control/agents/index.ts'
import { cancelIntentsOfAgent, firstOpenIntent, intentSteps } from '../src/control/intents/index.ts'
import { expirePolicy, policyEndStatus, policySteps } from '../src/control/policies/index.ts'
import { endRunsOfAgent, firstRunningRun, runSteps } from '../src/control/runs/index.ts'
import type { ReadContext, WriteContext } from '../src/kernel/contract/context.ts'
import type { RecordRef } from '../src/kernel/contract/step.ts'
import { walletsById } from '../src/money/wallets/index.ts'
import type { ActivityTools } from './shared/tools.ts'

export type AgentActivities = ReturnType<typeof agentActivities>

/** What an agent that is being deleted still has, in the order in which it ends: the first of each. */
async function leftOf({ id, walletId }: Agent, context: ReadContext) {
  const [card, intent, run, wallets] = await Promise.all([
    firstCardToEnd(id, context),
    firstOpenIntent(id, context),
    firstRunningRun(id, context),
    walletsById(context.sql, context.tenant, [walletId]),
  ])
  const { status = 'closed' } = wallets.get(walletId) ?? {}
  return { card, intent, run, wallet: status === 'closed' ? null : walletId }
}

/** The agent, locked, if all that has to end before this has ended. */
async function lockWhereNext(
  kind: 'intent' | 'run' | 'wallet' | 'agent',
  { id }: RecordRef,
  tx: WriteContext,
) {
  const agent = await lockDeletingAgent(id, tx)
  const left = agent && (await leftOf(agent, tx))
  const next = left && ((['card', 'intent', 'run', 'wallet'] as const).find(each => left[each]) ?? 'agent')
  return next === kind ? agent : undefined
}

export const agentActivities = ({ read, transaction }: ActivityTools) => {
  const readAgent = (ref: RecordRef) =>
    read(ref, async context => {
      const agent = await findAgent(context.em, ref.id)
      if (agent?.status === 'deleting')
        return { ...agentDeletionStatus(agent, context), left: await leftOf(agent, context) }
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
      await transaction(ref, intentSteps.cancelForAgent, async tx => {
        if (await lockWhereNext('intent', ref, tx)) await cancelIntentsOfAgent(ref.id, tx)
      })
      return readAgent(ref)
    },

    async endRuns(ref: RecordRef) {
      await transaction(ref, runSteps.endForAgent, async tx => {
        if (await lockWhereNext('run', ref, tx)) await endRunsOfAgent(ref.id, tx)
      })
      return readAgent(ref)
    },

    async returnMoney(ref: RecordRef) {
      await transaction(ref, agentSteps.returnMoney, async tx => {
        const agent = await lockWhereNext('wallet', ref, tx)
        if (agent) await returnAgentMoney(agent, tx)
      })
      return readAgent(ref)
    },

    async finishDeletion(ref: RecordRef) {
      await transaction(ref, agentSteps.finishDeletion, async tx => {
        const agent = await lockWhereNext('agent', ref, tx)
        if (agent) finishAgentDeletion(agent, tx)
      })
      return readAgent(ref)
    },
  }
}
