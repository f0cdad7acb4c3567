import { type Agent, lockAgentsWhere } from '../../control/agents/index.ts'
import { CardTerms } from '../../control/card-terms/index.ts'
import type { Tenant } from '../../kernel/contract/actor.ts'
import { sqlCondition } from '../../kernel/contract/conditions.ts'
import type { ReadContext, SqlContext, WriteContext } from '../../kernel/contract/context.ts'
import { FOR_UPDATE, withMembers } from '../../kernel/database/entity.ts'
import { type AvailableBalance, readWalletBalances } from '../../money/ledger/index.ts'
import { requireFirst } from '../../values/collections.ts'
import { NO_CENTS } from '../../values/money.ts'
import type { cardEvents } from './api.ts'
import { Card, CardNumber } from './card.ts'

export interface LockedCard {
  readonly agent: Agent
  readonly card: Card
  readonly terms: CardTerms
}

export interface LockedCardNumbers extends LockedCard {
  readonly numbers: readonly CardNumber[]
}

export type CardContext<Event extends keyof typeof cardEvents> = WriteContext<Pick<typeof cardEvents, Event>>

const agentOf = ({ ownerId, mode }: Tenant, cardId: string) =>
  sqlCondition('id = (select c.agent_id from cards c where (c.owner_id, c.mode, c.id) = (?, ?, ?))', [
    ownerId,
    mode,
    cardId,
  ])

/** Works in any status of the agent. Other changes and spends of the agent's cards wait for this lock. */
export async function lockAgentOfCard(cardId: string, { em, tenant }: WriteContext): Promise<Agent | null> {
  const [agent = null] = await lockAgentsWhere(em, agentOf(tenant, cardId))
  return agent
}

/** Locks the agent first, as every spend does, then the card with its terms. */
export async function lockCard(cardId: string, context: WriteContext): Promise<LockedCard | null> {
  const { em } = context
  const [agent, terms, card] = await Promise.all([
    lockAgentOfCard(cardId, context),
    em.findOne(CardTerms, { id: cardId }, FOR_UPDATE),
    em.findOne(Card, { id: cardId }, FOR_UPDATE),
  ])
  return agent && terms && card && { agent, terms, card }
}

export async function lockCardNumbers(
  cardId: string,
  context: WriteContext,
): Promise<LockedCardNumbers | null> {
  const [locked, numbers] = await Promise.all([
    lockCard(cardId, context),
    context.em.find(CardNumber, { cardId }, { orderBy: { id: 'desc' }, ...FOR_UPDATE }),
  ])
  return locked && { ...locked, numbers }
}

const EMPTY: AvailableBalance = { availableCents: NO_CENTS, heldCents: NO_CENTS }

function withTerms(card: Card, terms: CardTerms, balances: ReadonlyMap<string, AvailableBalance>) {
  const { walletId } = card
  return cardWithBalance({ card, terms }, walletId === null ? null : (balances.get(walletId) ?? EMPTY))
}

interface CardWithTerms {
  readonly card: Card
  readonly terms: CardTerms
}

export const cardWithBalance = ({ card, terms }: CardWithTerms, balance: AvailableBalance | null) =>
  withMembers(card, { limits: terms, controls: terms, balance })

export async function cardResponse({ card, terms }: CardWithTerms, { sql, tenant }: SqlContext) {
  const balances = card.walletId === null ? new Map() : await readWalletBalances(sql, tenant, [card.walletId])
  return withTerms(card, terms, balances)
}

export async function cardResponses(cards: readonly Card[], { em, sql, tenant }: ReadContext) {
  const purses = cards.flatMap(({ walletId }) => walletId ?? [])
  const [terms, balances] = await Promise.all([
    cards.length === 0 ? [] : em.find(CardTerms, { id: { $in: cards.map(({ id }) => id) } }),
    purses.length === 0 ? new Map<string, AvailableBalance>() : readWalletBalances(sql, tenant, purses),
  ])
  const byId = new Map(terms.map(one => [one.id, one]))
  return cards.flatMap(card => {
    const own = byId.get(card.id)
    return own ? withTerms(card, own, balances) : []
  })
}

export async function storedCardResponse(card: Card, context: ReadContext) {
  return requireFirst(await cardResponses([card], context))
}
