import { CardTerms } from '../../control/card-terms/index.ts'
import { IntentEvent } from '../../control/intents/index.ts'
import { PolicyExpired } from '../../control/policies/index.ts'
import { onlyWith, reaction, reactionToAll } from '../../kernel/contract/area.ts'
import type { Context } from '../../kernel/contract/context.ts'
import type { Condition } from '../../kernel/contract/records.ts'
import { Card } from './card.ts'
import { cardEvents } from './schemas.ts'
import { closeCard, freezeCard } from './states.ts'

const ends = { 'card.closed': cardEvents['card.closed'] }
const endsOrStops = { ...ends, 'card.frozen': cardEvents['card.frozen'] }

const notClosed = { $ne: 'closed' } as const

/** Locks open cards with their terms, in the order of their ids. Whoever caused the reaction has locked their agent. */
export async function lockOpenCards(
  condition: Condition<Card>,
  { records }: Pick<Context, 'records'>,
  limit?: number,
) {
  const order = { orderBy: { id: 'asc' }, lock: true } as const
  const found = await records.find(Card, condition, { orderBy: { id: 'asc' }, ...(limit ? { limit } : {}) })
  if (found.length === 0) return []
  const ids = { $in: found.map(({ id }) => id) }
  const [terms, cards] = await Promise.all([
    records.find(CardTerms, { id: ids }, order),
    records.find(Card, { id: ids }, order),
  ])
  const termsById = new Map(terms.map(one => [one.id, one]))
  return cards.map(card => ({ card, terms: termsById.get(card.id) as CardTerms }))
}

/** Closes the card that was issued for an intent alone when the intent ends unpaid. */
const onIntentEnded = (closedReason: string) =>
  onlyWith(
    'cardId',
    reactionToAll(IntentEvent, ends, async (events, context) => {
      const intentIds = events.map(({ intentId }) => intentId)
      const cards = await lockOpenCards({ intentId: { $in: intentIds }, status: notClosed }, context)
      for (const locked of cards) closeCard(locked, closedReason, context)
    }),
  )

/** Freezes or closes the cards of an agent whose policy has expired, as the policy says. */
const onPolicyExpired = reaction(PolicyExpired, endsOrStops, async ({ agentId, action }, context) => {
  if (action === 'notify' || !agentId) return
  const cards = await lockOpenCards({ agentId, status: notClosed }, context)
  for (const locked of cards) {
    if (action === 'close') closeCard(locked, 'policy_expired', context)
    // A card that is not issued yet is not active then either.
    else if (!freezeCard(locked, 'policy_expired', context)) locked.card.activates = false
  }
})

export const cardReactions = {
  'intent.cancelled': onIntentEnded('intent_cancelled'),
  'intent.denied': onIntentEnded('intent_denied'),
  'intent.expired': onIntentEnded('intent_expired'),
  'policy.expired': onPolicyExpired,
}
