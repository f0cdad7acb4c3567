import { Agent } from '../../control/agents/index.ts'
import { CardTerms } from '../../control/card-terms/index.ts'
import type { Context } from '../../kernel/contract/context.ts'
import { sqlCondition } from '../../kernel/contract/records.ts'
import { Card, CardNumber } from './card.ts'

/** A card with all that changes with it, locked until the transaction ends. */
export interface LockedCard {
  readonly agent: Agent
  readonly card: Card
  readonly terms: CardTerms
}

export interface LockedNumbers extends LockedCard {
  readonly numbers: readonly CardNumber[]
}

type Locking = Pick<Context, 'records' | 'tenant'>

/** The agent of a card never changes. */
const agentOf = ({ ownerId, mode }: Context['tenant'], cardId: string) =>
  sqlCondition('id = (select c.agent_id from cards c where (c.owner_id, c.mode, c.id) = (?, ?, ?))', [
    ownerId,
    mode,
    cardId,
  ])

/** Locks the agent of a card, whatever its status: whoever changes or spends by a card of it waits. */
export const lockAgentOfCard = (cardId: string, { records, tenant }: Locking): Promise<Agent | null> =>
  records.findOne(Agent, agentOf(tenant, cardId), { lock: true })

/** Locks the agent first, as whoever spends does, then the card with its terms. */
export async function lockCard(cardId: string, context: Locking): Promise<LockedCard | null> {
  const { records } = context
  const [agent, terms, card] = await Promise.all([
    lockAgentOfCard(cardId, context),
    records.lock(CardTerms, cardId),
    records.lock(Card, cardId),
  ])
  return agent && terms && card && { agent, terms, card }
}

/** Locks the numbers of the card too, the newest first. */
export async function lockNumbers(cardId: string, context: Locking): Promise<LockedNumbers | null> {
  const [locked, numbers] = await Promise.all([
    lockCard(cardId, context),
    context.records.find(CardNumber, { cardId }, { orderBy: { id: 'desc' }, lock: true }),
  ])
  return locked && { ...locked, numbers }
}
