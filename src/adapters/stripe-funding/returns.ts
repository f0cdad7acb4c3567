import type Stripe from 'stripe'
import { z } from 'zod'
import type { ChargeReturn, ChargeState } from '../../ports/funding-rail.ts'
import { cents } from '../../values/money.ts'

/** In the metadata of payment intents: which funding it is. */
export const FUNDING_ID = 'funding_id'

export const ReturnedCharge = z.object({ disputed: z.boolean(), amount_refunded: z.int().min(0) })

const Dispute = z.object({
  reason: z.string(),
  balance_transactions: z.array(z.object({ amount: z.int() })),
  payment_intent: z.union([z.string(), z.object({ metadata: z.record(z.string(), z.string()) })]).nullish(),
})
type Dispute = z.output<typeof Dispute>

const amounts = (disputes: readonly Dispute[]): number[] =>
  disputes.flatMap(({ balance_transactions }) => balance_transactions.map(({ amount }) => amount))

const sumOf = (list: readonly number[]): number => list.reduce((sum, amount) => sum + amount, 0)

/**
 * What is gone is what the disputes have moved on Stripe's balance, and refunds. A returned SEPA direct debit is
 * a dispute, too. An inquiry moves nothing.
 */
export async function returnOf(
  stripe: Stripe,
  paymentIntent: string,
  { disputed, amount_refunded: refunded }: z.output<typeof ReturnedCharge>,
): Promise<ChargeState> {
  if (!disputed && refunded === 0) return { status: 'settled' }
  const { data } = await stripe.disputes.list({ payment_intent: paymentIntent, limit: 100 })
  const disputes = z.array(Dispute).parse(data)
  const moved = amounts(disputes)
  const gone = refunded - sumOf(moved)
  if (gone <= 0) return { status: moved.some(amount => amount < 0) ? 'reinstated' : 'settled' }
  const code = disputes[0]?.reason ?? 'refunded'
  const message = disputes[0] ? 'The payer’s bank has taken the money back.' : 'Refunded at Stripe.'
  return { status: 'reversed', amountCents: cents(gone), reason: { code, message } }
}

export async function listReturns(stripe: Stripe, since: Date): Promise<readonly ChargeReturn[]> {
  const created = { gte: Math.floor(since.getTime() / 1_000) }
  const returns: ChargeReturn[] = []
  const expand = ['data.payment_intent']
  for await (const one of stripe.disputes.list({ created, limit: 100, expand })) {
    const dispute = Dispute.parse(one)
    const { payment_intent: intent } = dispute
    const reference = typeof intent === 'object' ? intent?.metadata[FUNDING_ID] : undefined
    const moved = amounts([dispute])
    if (reference === undefined || moved.every(amount => amount >= 0)) continue
    returns.push({ reference, status: sumOf(moved) < 0 ? 'reversed' : 'reinstated' })
  }
  return returns
}
