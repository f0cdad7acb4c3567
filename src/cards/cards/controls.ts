import { CardTerms } from '../../control/card-terms/index.ts'
import { refuseUnsignedWidening } from '../../identity/passkeys/index.ts'
import { bindHandlers, type HandlerOf } from '../../kernel/contract/operation.ts'
import { getRecord } from '../../kernel/database/get-record.ts'
import { cardControlsApi, type cardsApi } from './api.ts'
import { cardEvent } from './card.ts'
import { type CardContext, cardResponse, type LockedCard, lockCard } from './card-with-terms.ts'
import { wakeCardProcess } from './due.ts'
import type { CardLimits } from './issue.ts'
import { wideningsOfCard } from './widening.ts'

export const cardChangeBlocker = ({ card }: Pick<LockedCard, 'card'>) => {
  if (card.status === 'closed') return 'card_closed'
  // The request for the card must stay the same until the processor has answered.
  return card.status === 'pending' ? 'card_pending' : undefined
}

export function applyCardLimits(
  { card, terms }: Pick<LockedCard, 'card' | 'terms'>,
  limits: CardLimits,
  context: CardContext<'card.limits_changed'>,
): void {
  const { maxTransactionCents, dailyLimitCents, monthlyLimitCents } = limits
  const changed = { maxTransactionCents, dailyLimitCents, monthlyLimitCents }
  Object.assign(terms, changed)
  terms.version++
  context.emit('card.limits_changed', { ...cardEvent(card), ...changed })
  wakeCardProcess(card, context)
}

export const changeCardLimits: HandlerOf<typeof cardsApi.setLimits> = async ({ params, body }, context) => {
  const locked = await lockCard(params.id, context)
  if (!locked) return context.refuse('card_not_found')
  const refusal = cardChangeBlocker(locked)
  if (refusal) return context.refuse(refusal)
  const { card, terms } = locked
  const { webauthnAssertion, ...limits } = body
  const unsigned = await refuseUnsignedWidening(
    webauthnAssertion,
    () => wideningsOfCard(card, terms, { ...terms, ...limits }),
    context,
  )
  if (unsigned) return unsigned
  applyCardLimits(locked, limits, context)
  return cardResponse(locked, context)
}

export const cardControlHandlers = bindHandlers(cardControlsApi, {
  get: getRecord(CardTerms, 'card_not_found'),

  async set({ params, body }, context) {
    const { emit, refuse } = context
    const locked = await lockCard(params.id, context)
    if (!locked) return refuse('card_not_found')
    const refusal = cardChangeBlocker(locked)
    if (refusal) return refuse(refusal)
    const { card, terms } = locked
    const { webauthnAssertion, ...controls } = body
    const unsigned = await refuseUnsignedWidening(
      webauthnAssertion,
      () => wideningsOfCard(card, terms, { ...terms, ...controls }),
      context,
    )
    if (unsigned) return unsigned
    Object.assign(terms, controls)
    terms.version++
    emit('card.controls_changed', cardEvent(card))
    wakeCardProcess(card, context)
    return terms
  },
})
