import type Stripe from 'stripe'
import { z } from 'zod'
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
import { spendingControlsOf } from './controls.ts'

type CardParams = Stripe.Issuing.CardCreateParams

/** What is kept of an answer; the rest is not looked at. */
const Issued = z
  .object({
    id: z.string().min(1),
    brand: z.string().min(1),
    last4: z.string().regex(/^\d{4}$/),
    exp_month: z.int().min(1).max(12),
    exp_year: z.int().min(2000),
  })
  .transform(
    ({ id, brand, last4, exp_month, exp_year }): IssuedCard => ({
      processorCardId: id,
      brand: brand.toLowerCase(),
      last4,
      expMonth: exp_month,
      expYear: exp_year,
    }),
  )

export async function issueCard(
  stripe: Stripe,
  card: NewCard,
  { reference }: ProcessorCall,
): Promise<IssuedCard | ProcessorFailure> {
  const cardholder = await cardholderOf(stripe, card, reference)
  if (typeof cardholder !== 'string') return cardholder
  return create(stripe, paramsOf(card, cardholder), reference)
}

const paramsOf = ({ cardId, ownerId, controls }: NewCard, cardholder: string): CardParams => ({
  cardholder,
  currency: 'eur',
  type: 'virtual',
  status: 'inactive',
  spending_controls: spendingControlsOf(controls),
  metadata: { card_id: cardId, owner_id: ownerId },
})

async function create(stripe: Stripe, params: CardParams, idempotencyKey: string): Promise<IssuedCard> {
  return Issued.parse(await stripe.issuing.cards.create(params, { idempotencyKey }))
}

/**
 * Only the replacement of a lost card has another number. Where Stripe demands that the old card be cancelled first, which
 * would end the overlap of a rotation, the new one is issued without that link.
 */
export async function replaceCard(
  stripe: Stripe,
  processorCardId: string,
  card: NewCard,
  { reference }: ProcessorCall,
): Promise<IssuedCard | ProcessorFailure> {
  const cardholder = await cardholderOf(stripe, card, reference)
  if (typeof cardholder !== 'string') return cardholder
  const params = paramsOf(card, cardholder)
  const link = { replacement_for: processorCardId, replacement_reason: 'lost' } as const
  try {
    return await create(stripe, { ...params, ...link }, reference)
  } catch (error) {
    const failure = failureOf(error)
    const { param } = error as { param?: string }
    if (failure.failure !== 'refused' || !param || !(param in link)) return failure
    return create(stripe, params, `${reference}/unlinked`)
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
