import type Stripe from 'stripe'
import { z } from 'zod'
import type { Chargeback } from '../../ports/acquirer.ts'
import { cents, NO_CENTS, negateCents, sumOf } from '../../values/money.ts'
import { STRIPE_PREVIEW_VERSION } from '../stripe-issuing/shared-tokens.ts'

export const StripeRefund = z.object({
  id: z.string().min(1),
  status: z.string().nullable(),
  failure_reason: z.string().max(200).nullish(),
  metadata: z.record(z.string(), z.string()).default({}),
})
export type StripeRefund = z.output<typeof StripeRefund>

/** The balance is in euros, like everything that is charged here. Fees of a dispute are the installation's. */
const StripeDispute = z.object({
  id: z.string().min(1).max(200),
  reason: z.string().max(200),
  balance_transactions: z.array(
    z.object({ amount: z.int().transform(cents), currency: z.literal('eur', 'the balance is in euros') }),
  ),
})

export const listRefunds = (stripe: Stripe, intentId: string): Promise<StripeRefund[]> =>
  listOf(stripe, 'refunds', StripeRefund, intentId)

export async function listChargebacks(stripe: Stripe, intentId: string): Promise<Chargeback[]> {
  const disputes = await listOf(stripe, 'disputes', StripeDispute, intentId)
  return disputes.map(({ id, reason, balance_transactions: moved }) => {
    const amounts = moved.map(({ amount }) => amount)
    return {
      id,
      reason,
      withdrawnCents: negateCents(sumOf(amounts.filter(amount => amount < NO_CENTS))),
      reinstatedCents: sumOf(amounts.filter(amount => amount > NO_CENTS)),
    }
  })
}

const PAGE = 100

/** All of a payment: a missing one would be made once more. */
async function listOf<T extends { readonly id: string }>(
  stripe: Stripe,
  path: 'refunds' | 'disputes',
  form: z.ZodType<T>,
  intentId: string,
): Promise<T[]> {
  const List = z.object({ data: z.array(form), has_more: z.boolean() })
  const found: T[] = []
  for (;;) {
    const last = found.at(-1)
    const after = last ? { starting_after: last.id } : {}
    // The package takes parameters of a raw GET only in its path.
    const query = new URLSearchParams({ payment_intent: intentId, limit: String(PAGE), ...after })
    const page = await stripe.rawRequest('GET', `/v1/${path}?${query}`, undefined, {
      apiVersion: STRIPE_PREVIEW_VERSION,
    })
    const { data, has_more } = List.parse(page)
    found.push(...data)
    if (!has_more || data.length === 0) return found
  }
}
