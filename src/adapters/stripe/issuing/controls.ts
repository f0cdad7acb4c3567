import type Stripe from 'stripe'
import {
  CALL_DONE,
  type ProcessorCall,
  type ProcessorCallDone,
  type ProcessorControls,
} from '../../../ports/card-processor.ts'
import { type Cents, cents } from '../../../values/money.ts'

type Limit = Stripe.Issuing.CardCreateParams.SpendingControls.SpendingLimit

/**
 * In effect no limit. Each interval must be named: a card without a daily limit gets Stripe's own of 500 a
 * day, and an empty list changes nothing.
 */
const HIGHEST = cents(99_999_999n)

/**
 * Limits and countries as Stripe's spending controls. Stripe groups merchants by its own names, without a
 * mapping to category codes (MCCs): those are enforced only by the service, at each authorization.
 */
export const stripeSpendingControls = (controls: ProcessorControls) => ({
  spending_limits: [
    limit('per_authorization', controls.maxTransactionCents),
    limit('daily', controls.dailyLimitCents),
    limit('monthly', controls.monthlyLimitCents),
  ],
  ...(controls.allowedCountries.length > 0
    ? { allowed_merchant_countries: [...controls.allowedCountries] }
    : {}),
})

const limit = (interval: string, amount: Cents | null): Limit => ({
  interval,
  amount: Number(amount === null || amount > HIGHEST ? HIGHEST : amount),
})

/** Stripe keeps a list of countries that is left out; the documented empty value removes it. */
const NO_COUNTRIES = '' as unknown as string[]

export async function changeStripeCardControls(
  stripe: Stripe,
  processorCardId: string,
  controls: ProcessorControls,
  { reference }: ProcessorCall,
): Promise<ProcessorCallDone> {
  const wanted = stripeSpendingControls(controls)
  const { spending_controls: kept } = await stripe.issuing.cards.update(
    processorCardId,
    { spending_controls: wanted },
    { idempotencyKey: reference },
  )
  const mustOpen = controls.allowedCountries.length === 0 && kept.allowed_merchant_countries?.length
  if (mustOpen)
    await stripe.issuing.cards.update(
      processorCardId,
      { spending_controls: { ...wanted, allowed_merchant_countries: NO_COUNTRIES } },
      { idempotencyKey: `${reference}/countries` },
    )
  return CALL_DONE
}
