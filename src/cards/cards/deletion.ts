import { Agent } from '../../control/agents/index.ts'
import { agentProcess } from '../../control/agents/process.ts'
import type { HandlerOf } from '../../kernel/contract/operation.ts'
import { sqlCondition } from '../../kernel/contract/records.ts'
import { Card } from './card.ts'
import { lockOpenCards } from './reactions.ts'
import { openReturn, returnPurse } from './return-purse.ts'
import { closeCard } from './states.ts'
import type { stepsApi } from './steps-api.ts'

/** How many cards of an agent are closed in one transaction. */
const CLOSE_BATCH = 200

/**
 * Closes the cards of an agent that is being deleted, and empties their purses. What is held on a purse for a payment
 * that is under way returns when it is free, into a wallet of the owner.
 */
export const deletionStep: HandlerOf<typeof stepsApi.endForAgent> = async ({ params }, context) => {
  const { records, sql, now, sendAlong, wake } = context
  const agent = await records.lock(Agent, params.id)
  if (agent?.status !== 'deleting') return { done: true }
  const toEnd = {
    agentId: agent.id,
    ...sqlCondition(`(status <> 'closed' or purse_due_at <= ?)`, [now]),
  }
  const found = await records.find(Card, toEnd, { orderBy: { id: 'asc' }, limit: CLOSE_BATCH })
  if (found.length === 0) return { done: true }
  const purses = found.flatMap(({ walletId }) => walletId ?? [])
  const opened = purses.length > 0 ? await openReturn(purses, agent, context) : null
  for (const locked of await lockOpenCards({ id: { $in: found.map(({ id }) => id) } }, context)) {
    closeCard(locked, 'agent_deleted', context)
    if (opened) returnPurse(locked.card, opened, context)
  }
  if (opened) sendAlong(opened.book.post(sql))
  const done = found.length < CLOSE_BATCH
  if (!done) wake(agentProcess, { id: agent.id, agentId: agent.id })
  return { done }
}
