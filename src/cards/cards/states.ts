import type { CardTerms } from '../../control/card-terms/index.ts'
import { refuseUnsignedWidening } from '../../identity/passkeys/index.ts'
import type { Tenant } from '../../kernel/contract/actor.ts'
import type { ContextOf, HandlerOf } from '../../kernel/contract/operation.ts'
import type { Sql } from '../../kernel/contract/sql.ts'
import type { cardsApi } from './api.ts'
import { type Card, cardEvent, cardMachine, cardNumberMachine } from './card.ts'
import {
  type CardContext,
  cardResponse,
  type LockedCard,
  type LockedCardNumbers,
  lockCard,
  lockCardNumbers,
} from './card-with-terms.ts'
import { scheduleCardStep, wakeCardProcess } from './due.ts'
import { cardProcess } from './process.ts'
import { activatingCard } from './widening.ts'

/** Moves card and terms together. Returns false, and writes nothing, if the state machine does not allow it. */
export const moveCardStatus = (
  { card, terms }: Pick<LockedCard, 'card' | 'terms'>,
  to: Card['status'],
): boolean => cardMachine.move(card, to) && cardMachine.move(terms, to)

/** Closes a card for good and returns what its purse has; false if it is already closed. */
export function closeCard(
  locked: { readonly card: Card; readonly terms: CardTerms },
  closedReason: string | null,
  context: CardContext<'card.closed'>,
): boolean {
  const { card } = locked
  if (!moveCardStatus(locked, 'closed')) return false
  const { now } = context
  Object.assign(card, { closedReason, closedAt: now, purseDueAt: card.walletId ? now : null })
  context.emit('card.closed', cardEvent(card, closedReason))
  wakeCardProcess(card, context)
  return true
}

export function freezeCard(
  locked: { readonly card: Card; readonly terms: CardTerms },
  frozenReason: string | null,
  context: CardContext<'card.frozen'>,
): boolean {
  const { card } = locked
  if (!moveCardStatus(locked, 'frozen')) return false
  card.frozenReason = frozenReason
  context.emit('card.frozen', cardEvent(card, frozenReason))
  wakeCardProcess(card, context)
  return true
}

const alreadyMessage = ({ status }: Card): string => `The card is already ${status}.`

function wrongState({ card }: LockedCard, { refuse }: ContextOf<typeof cardsApi.activate>) {
  if (card.status === 'closed') return refuse('card_closed')
  if (card.status === 'pending') return refuse('card_pending')
  return null
}

export const activateCard: HandlerOf<typeof cardsApi.activate> = async ({ params, body }, context) => {
  const locked = await lockCard(params.id, context)
  if (!locked) return context.refuse('card_not_found')
  const { card } = locked
  const refusal = wrongState(locked, context)
  if (refusal) return refusal
  if (card.status !== 'inactive') return context.refuse('card_not_inactive', alreadyMessage(card))
  const unsigned = await refuseUnsignedWidening(
    body.webauthnAssertion,
    () => activatingCard(card, 'inactive'),
    context,
  )
  if (unsigned) return unsigned
  moveCardStatus(locked, 'active')
  context.emit('card.activated', cardEvent(card))
  wakeCardProcess(card, context)
  return cardResponse(locked, context)
}

export const freezeCardOperation: HandlerOf<typeof cardsApi.freeze> = async ({ params, body }, context) => {
  const locked = await lockCard(params.id, context)
  if (!locked) return context.refuse('card_not_found')
  const { card } = locked
  if (card.status === 'closed') return context.refuse('card_closed')
  if (!freezeCard(locked, body.reason, context))
    return context.refuse('card_not_active', alreadyMessage(card))
  return cardResponse(locked, context)
}

export const unfreezeCard: HandlerOf<typeof cardsApi.unfreeze> = async ({ params, body }, context) => {
  const locked = await lockCard(params.id, context)
  if (!locked) return context.refuse('card_not_found')
  const { card } = locked
  if (card.status === 'closed') return context.refuse('card_closed')
  if (card.status !== 'frozen') return context.refuse('card_not_frozen', alreadyMessage(card))
  const unsigned = await refuseUnsignedWidening(
    body.webauthnAssertion,
    () => activatingCard(card, 'frozen'),
    context,
  )
  if (unsigned) return unsigned
  moveCardStatus(locked, 'active')
  card.frozenReason = null
  context.emit('card.unfrozen', cardEvent(card))
  wakeCardProcess(card, context)
  return cardResponse(locked, context)
}

export const closeCardOperation: HandlerOf<typeof cardsApi.close> = async ({ params, body }, context) => {
  const locked = await lockCard(params.id, context)
  if (!locked) return context.refuse('card_not_found')
  if (!closeCard(locked, body.reason, context)) return context.refuse('card_closed')
  return cardResponse(locked, context)
}

/** Closes the replaced number, or the card, if its end has come by the tenant's clock. */
export async function endDueCard(cardId: string, context: CardContext<'card.closed'>): Promise<void> {
  const { now, wake } = context
  const locked = await lockCardNumbers(cardId, context)
  if (!locked) return
  const hasEnded = endNumbers(locked, now) || endCard(locked, context)
  scheduleCardStep(locked, now)
  if (hasEnded) wake(cardProcess, locked.card)
}

function endNumbers({ numbers }: LockedCardNumbers, now: Date): boolean {
  const over = numbers.filter(
    ({ status, retiresAt }) => status === 'retiring' && retiresAt !== null && retiresAt <= now,
  )
  for (const number of over) cardNumberMachine.move(number, 'replaced')
  return over.length > 0
}

function endCard(locked: LockedCardNumbers, context: CardContext<'card.closed'>): boolean {
  const { card, numbers } = locked
  const { now } = context
  if (card.spentAt && card.spentAt <= now) return closeCard(locked, 'spent', context)
  const current = numbers.find(({ id }) => id === card.numberId)
  return current && current.endsAt <= now ? closeCard(locked, 'expired', context) : false
}

const MARK_SPENT = `
update cards set spent_at = coalesce(spent_at, $4::timestamptz), due_at = least(due_at, $4::timestamptz)
where owner_id = $1 and mode = $2 and id = any($3::text[]) and closed_at is null`

/**
 * Records that the only payment of these cards has ended: their processes close them. The caller holds the
 * agents' locks.
 */
export async function markCardsSpent(
  sql: Sql,
  { ownerId, mode }: Tenant,
  cardIds: readonly string[],
  at: Date,
): Promise<void> {
  if (cardIds.length > 0) await sql(MARK_SPENT, [ownerId, mode, [...new Set(cardIds)], at])
}
