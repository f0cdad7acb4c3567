import type { FilterQuery } from '@mikro-orm/core'
import { lockAnyAgent } from '../../control/agents/index.ts'
import { CardTerms } from '../../control/card-terms/index.ts'
import { IntentEvent } from '../../control/intents/index.ts'
import { PolicyExpiredEvent } from '../../control/policies/index.ts'
import type { TenantNow } from '../../kernel/contract/actor.ts'
import { reaction, reactionToAll, whenMemberPresent } from '../../kernel/contract/area.ts'
import { sqlCondition } from '../../kernel/contract/conditions.ts'
import type { SqlContext, WriteContext } from '../../kernel/contract/context.ts'
import type { Row } from '../../kernel/contract/sql.ts'
import { FOR_UPDATE_BY_ID } from '../../kernel/database/entity.ts'
import { cardEvents, type cardSteps } from './api.ts'
import { Card } from './card.ts'
import { openPurseReturn, returnPurse } from './purse.ts'
import { closeCard, freezeCard } from './states.ts'

const closeEvents = { 'card.closed': cardEvents['card.closed'] }
const closeOrFreezeEvents = { ...closeEvents, 'card.frozen': cardEvents['card.frozen'] }

const notClosed = { $ne: 'closed' } as const

/** In the order of ids. The operation that caused the reaction holds the agent's lock. */
async function lockOpenCards(condition: FilterQuery<Card>, { em }: WriteContext) {
  const found = await em.find(Card, condition, { orderBy: { id: 'asc' } })
  if (found.length === 0) return []
  const ids = { $in: found.map(({ id }) => id) }
  const [terms, cards] = await Promise.all([
    em.find(CardTerms, { id: ids }, FOR_UPDATE_BY_ID),
    em.find(Card, { id: ids }, FOR_UPDATE_BY_ID),
  ])
  const termsById = new Map(terms.map(one => [one.id, one]))
  return cards.flatMap(card => {
    const own = termsById.get(card.id)
    return own ? { card, terms: own } : []
  })
}

const onIntentEnded = (closedReason: string) =>
  whenMemberPresent(
    'cardId',
    reactionToAll(IntentEvent, closeEvents, async (events, context) => {
      const intentIds = events.map(({ intentId }) => intentId)
      const cards = await lockOpenCards({ intentId: { $in: intentIds }, status: notClosed }, context)
      for (const locked of cards) closeCard(locked, closedReason, context)
    }),
  )

const onPolicyExpired = reaction(
  PolicyExpiredEvent,
  closeOrFreezeEvents,
  async ({ agentId, action }, context) => {
    if (action === 'notify' || !agentId) return
    const cards = await lockOpenCards({ agentId, status: notClosed }, context)
    for (const locked of cards) {
      if (action === 'close') closeCard(locked, 'policy_expired', context)
      // A card that is not issued yet does not become active when it is.
      else if (!freezeCard(locked, 'policy_expired', context)) locked.card.activates = false
    }
  },
)

export const cardReactions = {
  'intent.cancelled': onIntentEnded('intent_cancelled'),
  'intent.denied': onIntentEnded('intent_denied'),
  'intent.expired': onIntentEnded('intent_expired'),
  'policy.expired': onPolicyExpired,
}

const FIRST_TO_END = `
select id from cards where owner_id = $1 and mode = $2 and agent_id = $3 and (status <> 'closed' or purse_due_at <= $4)
order by id limit 1`

export async function firstCardToEnd(
  agentId: string,
  { sql, tenant, now }: SqlContext & TenantNow,
): Promise<string | null> {
  const [card] = await sql<{ id: string } & Row>(FIRST_TO_END, [tenant.ownerId, tenant.mode, agentId, now])
  return card?.id ?? null
}

const CLOSE_BATCH = 200

/**
 * A step in the deletion of an agent: closes a batch of its cards and empties their purses, and is repeated until none is
 * open. A hold of a payment under way returns to one of the owner's wallets when it is released.
 */
export async function closeCardsOfAgent(
  agentId: string,
  context: WriteContext<(typeof cardSteps.closeForAgent)['emits']>,
): Promise<void> {
  const { em, sql, now, queueStatement } = context
  const agent = await lockAnyAgent(em, agentId)
  if (agent?.status !== 'deleting') return
  const toEnd = {
    agentId,
    ...sqlCondition(`(status <> 'closed' or purse_due_at <= ?)`, [now]),
  }
  const found = await em.find(Card, toEnd, { orderBy: { id: 'asc' }, limit: CLOSE_BATCH })
  if (found.length === 0) return
  const purses = found.flatMap(({ walletId }) => walletId ?? [])
  const opened = purses.length > 0 ? await openPurseReturn(purses, agent, context) : null
  for (const locked of await lockOpenCards({ id: { $in: found.map(({ id }) => id) } }, context)) {
    closeCard(locked, 'agent_deleted', context)
    if (opened) returnPurse(locked.card, opened, context)
  }
  if (opened) queueStatement(opened.book.post(sql))
}
