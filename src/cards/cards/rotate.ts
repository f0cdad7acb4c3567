import type { HandlerOf } from '../../kernel/contract/operation.ts'
import { newId } from '../../values/ids.ts'
import type { cardsApi } from './api.ts'
import { whyNotChangeable } from './controls.ts'
import { announceChange } from './due.ts'
import { cardEvent } from './events.ts'
import { lockCard } from './lock-card.ts'
import { cardResponse } from './response.ts'

/** Reserves the id of the next number, which is the reference of the call: however often it is repeated, there is one number. */
export const rotate: HandlerOf<typeof cardsApi.rotate> = async ({ params, body }, context) => {
  const { tenant, now, ports, emit, refuse } = context
  const locked = await lockCard(params.id, context)
  if (!locked) return refuse('card_not_found')
  const refusal = whyNotChangeable(locked)
  if (refusal) return refuse(refusal)
  // Throws before anything is reserved if this mode has no processor.
  ports.cardProcessor(tenant.mode)
  const { card } = locked
  if (card.nextNumberId) return refuse('rotation_under_way')
  const { overlapMinutes } = body
  Object.assign(card, { nextNumberId: newId('cardnumber'), nextNumberAt: now, overlapMinutes })
  emit('card.rotation_started', cardEvent(card))
  announceChange(card, context)
  return cardResponse(locked, context)
}
