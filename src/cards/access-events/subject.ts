import { Agent } from '../../control/agents/index.ts'
import { findIntent, hasPayeeRecord, type Intent, unpayableBecause } from '../../control/intents/index.ts'
import type { Context } from '../../kernel/contract/context.ts'
import { sqlCondition } from '../../kernel/contract/records.ts'
import { Card, CardNumber } from '../cards/index.ts'
import type { AccessReason } from './access-event.ts'
import { subjectRefusals } from './refusals.ts'

/** What an ask for card data is judged by; null = not found, or not the caller's. */
export interface AccessSubject {
  /** Null where none was named, and the agent has not just one. */
  readonly cardId: string | null
  readonly card: Card | null
  /** The card of another agent of the owner, which an agent has asked for: only the owner is to learn of that. */
  readonly cardOfOther: string | null
  /** The number in use. */
  readonly number: CardNumber | null
  readonly agent: Agent | null
  readonly intent: Intent | null
  /** Only a network token may go without an intent. */
  readonly needsIntent: boolean
}

type ReadContext = Pick<Context, 'records' | 'tenant' | 'sql' | 'actor'>

/** The agent of a card never changes. */
const agentOf = ({ ownerId, mode }: Context['tenant'], cardId: string) =>
  sqlCondition('id = (select c.agent_id from cards c where (c.owner_id, c.mode, c.id) = (?, ?, ?))', [
    ownerId,
    mode,
    cardId,
  ])

const CARD_OF_ANY_AGENT = 'select id from cards where (owner_id, mode, id) = ($1, $2, $3)'

async function cardOfOtherAgent(
  cardId: string,
  { sql, tenant, actor }: Pick<ReadContext, 'sql' | 'tenant' | 'actor'>,
): Promise<string | null> {
  if (!actor.agentId) return null
  const [found] = await sql<{ id: string }>(CARD_OF_ANY_AGENT, [tenant.ownerId, tenant.mode, cardId])
  return found?.id ?? null
}

const NO_CARD = { card: null, number: null, agent: null }

async function openCard(cardId: string, { records, tenant }: ReadContext) {
  const [card, number, agent] = await Promise.all([
    records.findOne(Card, { id: cardId }),
    records.findOne(CardNumber, { cardId, status: 'current' }),
    records.findOne(Agent, agentOf(tenant, cardId)),
  ])
  return { card, number, agent }
}

/** Reads in one round trip. Nothing is locked: a card that is frozen a moment later pays nothing, whoever has seen it. */
export async function openSubject(
  { cardId, intentId }: { readonly cardId: string | null; readonly intentId: string | null },
  context: ReadContext,
): Promise<AccessSubject> {
  const { records } = context
  const [cardWithNumber, intent] = await Promise.all([
    cardId === null ? NO_CARD : openCard(cardId, context),
    intentId === null ? null : findIntent(records, intentId),
  ])
  const { card, number, agent } = cardWithNumber
  const cardOfOther = card || cardId === null ? null : await cardOfOtherAgent(cardId, context)
  return { cardId, card, cardOfOther, number, agent, intent, needsIntent: intentId !== null }
}

type SubjectRefusal = keyof typeof subjectRefusals

const REMEDIES: Readonly<Record<string, string>> = {
  pending: 'The card is not issued yet. Wait for card.issued.',
  inactive: 'The card is not active yet. Activate it first.',
  frozen: 'The card is frozen. Unfreeze it first.',
  closed: 'The card is closed and never opens again. Name another one.',
}

const PAID = 'intentId: it is paid already. Declare another intent for another payment.'

function cardBlockers({ cardId, card, number, agent }: AccessSubject): (SubjectRefusal | false)[] {
  if (cardId === null) return []
  if (!card) return ['card_not_found']
  return [
    agent?.status !== 'active' && 'agent_not_active',
    (card.status !== 'active' || !number) && 'card_not_active',
  ]
}

function intentBlockers({ card, intent, needsIntent }: AccessSubject, now: Date): (SubjectRefusal | false)[] {
  if (!intent) return [needsIntent && 'intent_not_found']
  return [
    unpayableBecause(intent, now) ?? false,
    hasPayeeRecord(intent) && 'intent_not_by_card',
    card !== null && intent.agentId !== card.agentId && 'intent_other_agent',
    card !== null && intent.cardId !== null && intent.cardId !== card.id && 'intent_other_card',
    card !== null && card.intentId !== null && card.intentId !== intent.id && 'card_other_intent',
  ]
}

/** All that stands against opening the card for the intent, in the order in which it is to be mended. */
export function blockersOf(subject: AccessSubject, now: Date): AccessReason[] {
  const isNameless = subject.cardId === null && subject.intent !== null && ('card_required' as const)
  const blockers = [...cardBlockers(subject), ...intentBlockers(subject, now), isNameless]
  const codes = blockers.filter(code => code !== false)
  const remedy = REMEDIES[subject.card?.status ?? '']
  return codes.map(code => ({
    code,
    message:
      (code === 'card_not_active' && remedy) ||
      (code === 'intent_not_approved' && subject.intent?.status === 'completed' && PAID) ||
      subjectRefusals[code][1],
  }))
}
