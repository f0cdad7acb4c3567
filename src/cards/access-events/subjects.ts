import { Agent } from '../../control/agents/index.ts'
import { findIntentsById } from '../../control/intents/index.ts'
import type { Actor, Tenant } from '../../kernel/contract/actor.ts'
import { type Records, sqlCondition } from '../../kernel/contract/records.ts'
import { reaches } from '../../kernel/database/entity.ts'
import { Card, CardNumber } from '../cards/index.ts'
import type { AccessSubject } from './subject.ts'

/** Who asks for the data of which card, and for which intent. */
export interface SubjectAsk {
  readonly actor: Actor
  readonly cardId: string | null
  readonly intentId: string
}

const AGENTS_OF_CARDS =
  'id = any(array(select c.agent_id from cards c where c.owner_id = ? and c.mode = ? and c.id = any(?::text[])))'

/** What many asks are judged by, in their order, read in one round trip from all records of the tenant. */
export async function openSubjects(
  asks: readonly SubjectAsk[],
  { records, tenant: { ownerId, mode } }: { readonly records: Records; readonly tenant: Tenant },
): Promise<readonly AccessSubject[]> {
  const cardIds = [...new Set(asks.flatMap(({ cardId }) => cardId ?? []))]
  const [cards, numbers, agents, intents] = await Promise.all([
    records.find(Card, { id: { $in: cardIds } }),
    records.find(CardNumber, { cardId: { $in: cardIds }, status: 'current' }),
    records.find(Agent, sqlCondition(AGENTS_OF_CARDS, [ownerId, mode, cardIds])),
    findIntentsById(
      records,
      asks.map(({ intentId }) => intentId),
    ),
  ])
  const cardsById = new Map(cards.map(card => [card.id, card]))
  const agentsById = new Map(agents.map(agent => [agent.id, agent]))
  const numbersByCard = new Map(numbers.map(number => [number.cardId, number]))
  return asks.map(({ actor, cardId, intentId }) => {
    const asked = cardsById.get(cardId ?? '')
    const isOwn = asked !== undefined && (!actor.agentId || actor.agentId === asked.agentId)
    const intent = intents.get(intentId)
    return {
      cardId,
      card: isOwn ? asked : null,
      cardOfOther: asked && !isOwn ? asked.id : null,
      number: isOwn ? (numbersByCard.get(asked.id) ?? null) : null,
      agent: isOwn ? (agentsById.get(asked.agentId) ?? null) : null,
      intent: intent && reaches(actor, intent) ? intent : null,
      needsIntent: true,
    }
  })
}
