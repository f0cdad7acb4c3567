import type Stripe from 'stripe'
import { z } from 'zod'
import type { ChargeReturn, ChargeState, ReturnedSums } from '../../../ports/funding-rail.ts'
import { addCents, cents, NO_CENTS, negateCents, sumOf } from '../../../values/money.ts'
import { refundSums } from '../issuing/refund-sums.ts'

/** In the metadata of payment intents: which funding it is. */
export const FUNDING_ID = 'funding_id'

const ofIntent = {
  payment_intent: z.union([z.string(), z.object({ metadata: z.record(z.string(), z.string()) })]).nullish(),
}

const Dispute = z.object({
  reason: z.string(),
  balance_transactions: z.array(z.object({ amount: z.int().transform(cents) })),
  ...ofIntent,
})

const Refund = z.object({
  amount: z.int().transform(cents),
  status: z.string().nullable(),
  failure_balance_transaction: z.string().nullish(),
  ...ofIntent,
})

/** What disputes have moved on Stripe's balance. A returned SEPA direct debit is a dispute, too. An inquiry moves nothing. */
function sumsOfDispute({ balance_transactions }: z.output<typeof Dispute>): ReturnedSums {
  const amounts = balance_transactions.map(({ amount }) => amount)
  return {
    takenCents: negateCents(sumOf(amounts.filter(amount => amount < NO_CENTS))),
    givenCents: sumOf(amounts.filter(amount => amount > NO_CENTS)),
  }
}

const totalOf = (list: readonly ReturnedSums[]): ReturnedSums => ({
  takenCents: sumOf(list.map(({ takenCents }) => takenCents)),
  givenCents: sumOf(list.map(({ givenCents }) => givenCents)),
})

const PAGE = 100

export async function returnOf(stripe: Stripe, payment_intent: string): Promise<ChargeState> {
  const query = { payment_intent, limit: PAGE }
  const [disputed, refunded] = await Promise.all([stripe.disputes.list(query), stripe.refunds.list(query)])
  const disputes = z.array(Dispute).parse(disputed.data)
  const refunds = z.array(Refund).parse(refunded.data)
  const sums = totalOf([...disputes.map(sumsOfDispute), ...refunds.map(refundSums)])
  if (sums.takenCents === 0n) return { status: 'settled' }
  const code = disputes[0]?.reason ?? 'refunded'
  const message = disputes[0] ? 'The payer’s bank has taken the money back.' : 'Refunded at Stripe.'
  return { status: 'returned', ...sums, reason: { code, message } }
}

/** What was disputed or refunded since then, by funding. */
export async function listReturns(stripe: Stripe, since: Date): Promise<readonly ChargeReturn[]> {
  const query = {
    created: { gte: Math.floor(since.getTime() / 1_000) },
    limit: PAGE,
    expand: ['data.payment_intent'],
  }
  const returns = new Map<string, ReturnedSums>()
  const add = (
    { payment_intent: intent }: Pick<z.output<typeof Refund>, 'payment_intent'>,
    sums: ReturnedSums,
  ) => {
    const reference = typeof intent === 'object' ? intent?.metadata[FUNDING_ID] : undefined
    if (reference === undefined || sums.takenCents === 0n) return
    const before = returns.get(reference) ?? { takenCents: NO_CENTS, givenCents: NO_CENTS }
    returns.set(reference, {
      takenCents: addCents(before.takenCents, sums.takenCents),
      givenCents: addCents(before.givenCents, sums.givenCents),
    })
  }
  for await (const one of stripe.disputes.list(query)) {
    const dispute = Dispute.parse(one)
    add(dispute, sumsOfDispute(dispute))
  }
  for await (const one of stripe.refunds.list(query)) {
    const refund = Refund.parse(one)
    add(refund, refundSums(refund))
  }
  return [...returns].map(([reference, sums]) => ({ reference, ...sums }))
}
