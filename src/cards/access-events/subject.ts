import { Agent } from '../../control/agents/index.ts'
import {
  findIntentsById,
  hasPayeeRecord,
  type Intent,
  intentPaymentProblem,
  unpayableIntentReason,
} from '../../control/intents/index.ts'
import type { Actor, Tenant } from '../../kernel/contract/actor.ts'
import { sqlCondition } from '../../kernel/contract/conditions.ts'
import type { ReadContext, SqlContext } from '../../kernel/contract/context.ts'
import type { EntityReader } from '../../kernel/contract/entity-manager.ts'
import type { Row } from '../../kernel/contract/sql.ts'
import { mayReachRecord } from '../../kernel/database/entity.ts'
import { tenantEntityManager } from '../../kernel/database/orm.ts'
import { Card, CardNumber } from '../cards/index.ts'
import type { AccessReason } from './access-event.ts'
import { accessSubjectRefusals } from './api.ts'

interface Candidate extends Row {
  readonly intentId: string
  readonly id: string
  readonly isNamed: boolean
}

const CANDIDATES = `
select w.id as "intentId", found.* from unnest($3::text[]) as w (id)
cross join lateral (
  select c.id, coalesce(c.id = i.card_id or c.intent_id = i.id, false) as "isNamed"
  from intents i
  join cards c on (c.owner_id, c.mode, c.agent_id) = (i.owner_id, i.mode, i.agent_id)
  where (i.owner_id, i.mode, i.id) = ($1, $2, w.id)
    and (c.id = i.card_id or c.status = 'active' and (c.intent_id is null or c.intent_id = i.id))
  order by "isNamed" desc, c.id desc limit 2) as found
order by "isNamed" desc, id desc`

interface Payable {
  readonly cardId?: string | undefined
  readonly intentId: string
}

/**
 * The card that pays an intent: the named card, else the card bound to the intent, else the agent's only
 * active card.
 */
export const cardIdForIntent = async (payable: Payable, context: SqlContext): Promise<string | null> =>
  (await cardIdsForIntents([payable], context))[0] ?? null

export async function cardIdsForIntents(
  payables: readonly Payable[],
  { sql, tenant: { ownerId, mode } }: SqlContext,
): Promise<readonly (string | null)[]> {
  const open = payables.flatMap(({ cardId, intentId }) => (cardId === undefined ? [intentId] : []))
  const rows = open.length === 0 ? [] : await sql<Candidate>(CANDIDATES, [ownerId, mode, [...new Set(open)]])
  return payables.map(({ cardId, intentId }) => {
    if (cardId !== undefined) return cardId
    const [first, second] = rows.filter(row => row.intentId === intentId)
    return first && (first.isNamed || !second) ? first.id : null
  })
}

export interface AccessSubject {
  readonly cardId: string | null
  readonly card: Card | null
  /** A card of another agent of the owner. Only the owner learns that it exists. */
  readonly cardOfOther: string | null
  readonly number: CardNumber | null
  readonly agent: Agent | null
  readonly intent: Intent | null
  /** Why there is no intent, although the caller named one. */
  readonly intentProblem:
    | 'intent_not_found'
    | 'intent_other_budget'
    | ReturnType<typeof intentPaymentProblem>
    | null
  /** Why the card’s own limits do not hold the token of the caller to its maximum. */
  readonly beyondToken: AccessReason | null
  /** The card that counts towards the token’s maximum once its data is given. */
  readonly countedCard: Card | null
}

type SubjectRefusal = keyof typeof accessSubjectRefusals

const REMEDIES: Readonly<Record<string, string>> = {
  pending: 'The card is not issued yet. Wait for card.issued.',
  inactive: 'The card is not active yet. Activate it first.',
  frozen: 'The card is frozen. Unfreeze it first.',
  closed: 'The card is permanently closed. Name another one.',
}

const PAID = 'intentId: the intent is already paid. Declare another intent for another payment.'

function cardBlockers({ cardId, card, number, agent }: AccessSubject): (SubjectRefusal | false)[] {
  if (cardId === null) return []
  if (!card) return ['card_not_found']
  return [
    agent?.status !== 'active' && 'agent_not_active',
    (card.status !== 'active' || !number) && 'card_not_active',
  ]
}

function intentBlockers(
  { card, intent, intentProblem }: AccessSubject,
  now: Date,
): (SubjectRefusal | false)[] {
  if (!intent) return [intentProblem ?? false]
  return [
    unpayableIntentReason(intent, now) ?? false,
    hasPayeeRecord(intent) && 'intent_not_by_card',
    card !== null && intent.agentId !== card.agentId && 'intent_other_agent',
    card !== null && intent.cardId !== null && intent.cardId !== card.id && 'intent_other_card',
    card !== null && card.intentId !== null && card.intentId !== intent.id && 'card_other_intent',
  ]
}

/** In the order in which the reasons can be fixed. */
export function accessBlockers(subject: AccessSubject, now: Date): AccessReason[] {
  const isNameless = subject.cardId === null && subject.intent !== null && ('card_required' as const)
  const blockers = [...cardBlockers(subject), ...intentBlockers(subject, now), isNameless]
  const codes = blockers.filter(code => code !== false)
  const remedy = REMEDIES[subject.card?.status ?? '']
  const reasons = codes.map(code => ({
    code,
    message:
      (code === 'card_not_active' && remedy) ||
      (code === 'intent_not_approved' && subject.intent?.status === 'completed' && PAID) ||
      accessSubjectRefusals[code][1],
  }))
  return subject.beyondToken ? [...reasons, subject.beyondToken] : reasons
}

export interface SubjectQuery {
  readonly actor: Actor
  readonly cardId: string | null
  readonly intentId: string | null
}

const AGENTS_OF_CARDS =
  'id = any(array(select c.agent_id from cards c where c.owner_id = ? and c.mode = ? and c.id = any(?::text[])))'

function problemOf(intent: Intent | undefined, actor: Actor): AccessSubject['intentProblem'] {
  if (!intent || !mayReachRecord(actor, intent)) return 'intent_not_found'
  // What a card pays counts towards the budget that the intent was declared with.
  const isOtherBudget = actor.budgetId && actor.budgetId !== intent.tokenId
  return intentPaymentProblem(actor, intent) ?? (isOtherBudget ? 'intent_other_budget' : null)
}

/**
 * Reads all records of the tenant in one round trip, without locks, since a card that is frozen a moment
 * later pays nothing.
 */
export async function loadAccessSubjects<K>(
  queries: ReadonlyMap<K, SubjectQuery>,
  { em, tenant: { ownerId, mode } }: { readonly em: EntityReader; readonly tenant: Tenant },
): Promise<ReadonlyMap<K, AccessSubject>> {
  const named = [...queries.values()]
  const cardIds = [...new Set(named.flatMap(({ cardId }) => cardId ?? []))]
  const [cards, numbers, agents, intents] = await Promise.all([
    em.find(Card, { id: { $in: cardIds } }),
    em.find(CardNumber, { cardId: { $in: cardIds }, status: 'current' }),
    em.find(Agent, sqlCondition(AGENTS_OF_CARDS, [ownerId, mode, cardIds])),
    findIntentsById(
      em,
      named.flatMap(({ intentId }) => intentId ?? []),
    ),
  ])
  const cardsById = new Map(cards.map(card => [card.id, card]))
  const agentsById = new Map(agents.map(agent => [agent.id, agent]))
  const numbersByCard = new Map(numbers.map(number => [number.cardId, number]))
  const subjectOf = ({ actor, cardId, intentId }: SubjectQuery): AccessSubject => {
    const requested = cardsById.get(cardId ?? '')
    const isOwn = requested !== undefined && (!actor.agentId || actor.agentId === requested.agentId)
    const found = intents.get(intentId ?? '')
    const intentProblem = intentId === null ? null : problemOf(found, actor)
    return {
      cardId,
      card: isOwn ? requested : null,
      cardOfOther: requested && !isOwn ? requested.id : null,
      number: isOwn ? (numbersByCard.get(requested.id) ?? null) : null,
      agent: isOwn ? (agentsById.get(requested.agentId) ?? null) : null,
      intent: found && intentProblem === null ? found : null,
      intentProblem,
      beyondToken: null,
      countedCard: null,
    }
  }
  return new Map([...queries].map(([key, query]) => [key, subjectOf(query)]))
}

export async function loadAccessSubject(
  { cardId, intentId }: Pick<SubjectQuery, 'cardId' | 'intentId'>,
  { sql, tenant, now, actor }: ReadContext,
): Promise<AccessSubject> {
  const em = tenantEntityManager(sql, { tenant, now })
  const subjects = await loadAccessSubjects(new Map([['only', { actor, cardId, intentId }]]), {
    em,
    tenant,
  })
  return subjects.get('only') ?? Promise.reject(new Error('a query without its subject'))
}
