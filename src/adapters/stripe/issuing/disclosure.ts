import type Stripe from 'stripe'
import { z } from 'zod'
import type {
  DisclosureRecipient,
  EncryptedDisclosure,
  EphemeralKey,
  ProcessorCall,
  ProcessorFailure,
} from '../../../ports/card-processor.ts'
import { encryptCardData } from '../../card-processor/encrypt.ts'
import { STRIPE_API_VERSION } from './connection.ts'

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
export async function discloseStripeCard(
  stripe: Stripe,
  processorCardId: string,
  recipient: DisclosureRecipient,
): Promise<EncryptedDisclosure | ProcessorFailure> {
  const card = await stripe.issuing.cards.retrieve(processorCardId, { expand: ['number', 'cvc'] })
  return encryptCardData(Data.parse(card), recipient)
}

const Key = z.object({ secret: z.string().min(1), expires: z.int() })

/** For Stripe's own elements: they fetch the card's data in the browser that made the nonce. */
export async function createEphemeralKey(
  stripe: Stripe,
  processorCardId: string,
  nonce: string,
  { reference }: ProcessorCall,
): Promise<EphemeralKey> {
  const made = await stripe.ephemeralKeys.create(
    { issuing_card: processorCardId, nonce },
    { idempotencyKey: reference, apiVersion: STRIPE_API_VERSION },
  )
  const { secret, expires } = Key.parse(made)
  return { secret, expiresAt: new Date(expires * 1000) }
}
