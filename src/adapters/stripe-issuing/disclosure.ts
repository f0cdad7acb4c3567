import type Stripe from 'stripe'
import { z } from 'zod'
import type {
  Disclosure,
  EphemeralKey,
  ProcessorCall,
  ProcessorFailure,
  Recipient,
} from '../../ports/card-processor.ts'
import { encrypt } from '../card-processor/encrypt.ts'
import { API_VERSION } from './connection.ts'

const Data = z
  .object({
    number: z.string().regex(/^\d{12,19}$/),
    cvc: z.string().regex(/^\d{3,4}$/),
    exp_month: z.int().min(1).max(12),
    exp_year: z.int().min(2000),
  })
  .transform(({ number, cvc, exp_month, exp_year }) => ({
    number,
    cvc,
    expMonth: exp_month,
    expYear: exp_year,
  }))

/** Number and CVC are in this process only between Stripe's answer and the encryption directly below. */
export async function discloseCard(
  stripe: Stripe,
  processorCardId: string,
  recipient: Recipient,
): Promise<Disclosure | ProcessorFailure> {
  const card = await stripe.issuing.cards.retrieve(processorCardId, { expand: ['number', 'cvc'] })
  return encrypt(Data.parse(card), recipient)
}

const Key = z.object({ secret: z.string().min(1), expires: z.int() })

/** For Stripe's own elements: they fetch the card's data in the browser that made the nonce. */
export async function ephemeralKey(
  stripe: Stripe,
  processorCardId: string,
  nonce: string,
  { reference }: ProcessorCall,
): Promise<EphemeralKey> {
  const made = await stripe.ephemeralKeys.create(
    { issuing_card: processorCardId, nonce },
    { idempotencyKey: reference, apiVersion: API_VERSION },
  )
  const { secret, expires } = Key.parse(made)
  return { secret, expiresAt: new Date(expires * 1000) }
}
