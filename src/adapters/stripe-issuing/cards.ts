import type Stripe from 'stripe'
import {
  type Done,
  type IssuedCard,
  isFailure,
  type NewCard,
  type NumberState,
  type ProcessorCall,
  type ProcessorFailure,
} from '../../ports/card-processor.ts'
import { DONE, failureOf, UNUSABLE } from './answers.ts'
import { cardholderOf } from './cardholder.ts'
import { createOnce } from './create-card.ts'

export async function issueCard(
  stripe: Stripe,
  card: NewCard,
  call: ProcessorCall,
): Promise<IssuedCard | ProcessorFailure> {
  const cardholder = await cardholderOf(stripe, card, call)
  if (typeof cardholder !== 'string') return cardholder
  return createOnce(stripe, { card, cardholder, call }, {}, call.reference)
}

/**
 * Only the replacement of a lost card has another number. Where Stripe demands that the old card be cancelled first, which
 * would end the overlap of a rotation, the new one is issued without that link.
 */
export async function replaceCard(
  stripe: Stripe,
  processorCardId: string,
  card: NewCard,
  call: ProcessorCall,
): Promise<IssuedCard | ProcessorFailure> {
  const cardholder = await cardholderOf(stripe, card, call)
  if (typeof cardholder !== 'string') return cardholder
  const order = { card, cardholder, call }
  const link = { replacement_for: processorCardId, replacement_reason: 'lost' } as const
  try {
    return await createOnce(stripe, order, link, call.reference)
  } catch (error) {
    const failure = failureOf(error)
    const { param } = error as { param?: string }
    if (failure.failure !== 'refused' || !param || !(param in link)) return failure
    return createOnce(stripe, order, {}, `${call.reference}/unlinked`)
  }
}

const STATUS = { active: 'active', inactive: 'inactive', closed: 'canceled' } as const satisfies Record<
  NumberState,
  string
>

/** Stripe refuses to cancel a cancelled card: what counts is how the card then stands. */
export async function changeState(
  stripe: Stripe,
  processorCardId: string,
  state: NumberState,
  { reference }: ProcessorCall,
): Promise<Done | ProcessorFailure> {
  const wanted = STATUS[state]
  const change = stripe.issuing.cards.update(
    processorCardId,
    { status: wanted },
    { idempotencyKey: reference },
  )
  const answer = await change.catch(failureOf)
  if (!isFailure(answer)) return answer.status === wanted ? DONE : UNUSABLE
  if (answer.failure !== 'refused') return answer
  const { status } = await stripe.issuing.cards.retrieve(processorCardId)
  return status === wanted ? DONE : answer
}
