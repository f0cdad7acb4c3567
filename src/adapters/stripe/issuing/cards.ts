import type Stripe from 'stripe'
import { z } from 'zod'
import {
  CALL_DONE,
  type CardNumberState,
  type IssuedCard,
  isProcessorFailure,
  type NewCard,
  type ProcessorCall,
  type ProcessorCallDone,
  type ProcessorFailure,
} from '../../../ports/card-processor.ts'
import { addMs, minutes } from '../../../values/clock.ts'
import { findOrCreateCardholder, valueDigest } from './cardholder.ts'
import { failureFromStripeError, UNUSABLE_ANSWER } from './connection.ts'
import { changeStripeCardControls, stripeSpendingControls } from './controls.ts'

export async function issueStripeCard(
  stripe: Stripe,
  card: NewCard,
  call: ProcessorCall,
): Promise<IssuedCard | ProcessorFailure> {
  const cardholder = await findOrCreateCardholder(stripe, card, call)
  if (typeof cardholder !== 'string') return cardholder
  return createOnce(stripe, { card, cardholder, call }, {}, call.reference)
}

/**
 * Only the replacement of a lost card has another number. If Stripe demands that the old card be cancelled
 * first, which would end the overlap of a rotation, the new one is issued without that link.
 */
export async function replaceStripeCard(
  stripe: Stripe,
  processorCardId: string,
  card: NewCard,
  call: ProcessorCall,
): Promise<IssuedCard | ProcessorFailure> {
  const cardholder = await findOrCreateCardholder(stripe, card, call)
  if (typeof cardholder !== 'string') return cardholder
  const order = { card, cardholder, call }
  const link = { replacement_for: processorCardId, replacement_reason: 'lost' } as const
  try {
    return await createOnce(stripe, order, link, call.reference)
  } catch (error) {
    const failure = failureFromStripeError(error)
    const { param } = error as { param?: string }
    if (failure.failure !== 'refused' || !param || !(param in link)) return failure
    return createOnce(stripe, order, {}, `${call.reference}/unlinked`)
  }
}

const STATUS = { active: 'active', inactive: 'inactive', closed: 'canceled' } as const satisfies Record<
  CardNumberState,
  string
>

/** Stripe refuses to cancel a cancelled card, so the card's resulting status counts. */
export async function changeStripeCardState(
  stripe: Stripe,
  processorCardId: string,
  state: CardNumberState,
  { reference }: ProcessorCall,
): Promise<ProcessorCallDone | ProcessorFailure> {
  const wanted = STATUS[state]
  const change = stripe.issuing.cards.update(
    processorCardId,
    { status: wanted },
    { idempotencyKey: reference },
  )
  const answer = await change.catch(failureFromStripeError)
  if (!isProcessorFailure(answer)) return answer.status === wanted ? CALL_DONE : UNUSABLE_ANSWER
  if (answer.failure !== 'refused') return answer
  const { status } = await stripe.issuing.cards.retrieve(processorCardId)
  return status === wanted ? CALL_DONE : answer
}

type Made = Stripe.Issuing.Card

type Link = Pick<Stripe.Issuing.CardCreateParams, 'replacement_for' | 'replacement_reason'>

interface Order {
  readonly card: NewCard
  readonly cardholder: string
  readonly call: ProcessorCall
}

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

/** Stripe forgets a key a day after its first use at the earliest. */
const KEY_LASTS_MS = minutes(20 * 60)
const LEEWAY_MS = minutes(60)

/**
 * Creates a card once. If Stripe has forgotten the key, or the card was first requested with other limits,
 * the card is looked up by the reference in its metadata.
 */
async function createOnce(
  stripe: Stripe,
  order: Order,
  link: Link,
  key: string,
): Promise<IssuedCard | ProcessorFailure> {
  const { card, call } = order
  const isLate = call.now.getTime() - card.requestedAt.getTime() > KEY_LASTS_MS
  const earlier = isLate ? await find(stripe, order) : undefined
  if (earlier) return adopt(stripe, earlier, order)
  try {
    return Issued.parse(await stripe.issuing.cards.create(paramsOf(order, link), { idempotencyKey: key }))
  } catch (error) {
    if ((error as { rawType?: unknown }).rawType !== 'idempotency_error') throw error
    const made = await find(stripe, order)
    return made ? adopt(stripe, made, order) : UNUSABLE_ANSWER
  }
}

const paramsOf = ({ card, cardholder, call }: Order, link: Link): Stripe.Issuing.CardCreateParams => ({
  cardholder,
  currency: 'eur',
  type: 'virtual',
  status: 'inactive',
  spending_controls: stripeSpendingControls(card.controls),
  metadata: { card_id: card.cardId, owner_id: card.ownerId, reference: call.reference },
  ...link,
})

async function find(stripe: Stripe, { card, cardholder, call }: Order): Promise<Made | undefined> {
  const since = Math.floor(addMs(card.requestedAt, -LEEWAY_MS).getTime() / 1000)
  const made = stripe.issuing.cards.list({ cardholder, created: { gte: since }, limit: 100 })
  for await (const one of made) if (one.metadata.reference === call.reference) return one
  return undefined
}

/** The card has the limits of its first request, so the current ones are set. */
async function adopt(stripe: Stripe, made: Made, { card, call }: Order): Promise<IssuedCard> {
  const reference = `${call.reference}/${valueDigest(card.controls)}`
  await changeStripeCardControls(stripe, made.id, card.controls, { ...call, reference })
  return Issued.parse(made)
}
