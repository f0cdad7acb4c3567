import type Stripe from 'stripe'
import { z } from 'zod'
import type { Chargeback, ListedReturn } from '../../../ports/acquirer.ts'
import { cents, NO_CENTS, negateCents, sumOf } from '../../../values/money.ts'
import { refundSums } from '../issuing/refund-sums.ts'
import { STRIPE_PREVIEW_VERSION } from '../issuing/shared-tokens.ts'

export const StripeRefund = z.object({
  id: z.string().min(1),
  status: z.string().nullable(),
  failure_reason: z.string().max(200).nullish(),
  failure_balance_transaction: z.string().nullish(),
  amount: z.int().min(1).transform(cents),
  reason: z.string().max(200).nullish(),
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
  return disputes.map(chargebackOf)
}

function chargebackOf({
  id,
  reason,
  balance_transactions: moved,
}: z.output<typeof StripeDispute>): Chargeback {
  const amounts = moved.map(({ amount }) => amount)
  return {
    id,
    kind: 'chargeback',
    reason,
    withdrawnCents: negateCents(sumOf(amounts.filter(amount => amount < NO_CENTS))),
    reinstatedCents: sumOf(amounts.filter(amount => amount > NO_CENTS)),
  }
}

/** A refund that this service has not asked for. */
export function refundElsewhere(refund: StripeRefund): Chargeback[] {
  const { id, reason, metadata } = refund
  const { takenCents: withdrawnCents, givenCents: reinstatedCents } = refundSums(refund)
  if (metadata.refund !== undefined || withdrawnCents === NO_CENTS) return []
  return [{ id, kind: 'refund', reason: reason ?? 'no reason', withdrawnCents, reinstatedCents }]
}

/** What the charge was made with. Other payments of the same account have no such metadata. */
export const ChargeMetadata = z.object({
  reference: z.string().regex(/^[\w-]{1,100}$/),
  owner: z.string().regex(/^\w{1,100}$/),
  mode: z.enum(['test', 'live']),
})

const Listed = z.looseObject({
  id: z.string(),
  payment_intent: z.object({ metadata: z.record(z.string(), z.string()) }).nullish(),
})

/** The account may have payments of other software, which are left out before their form is checked. */
export async function listReturnsSince(stripe: Stripe, since: Date): Promise<ListedReturn[]> {
  const created = String(Math.floor(since.getTime() / 1_000))
  const query = { 'created[gte]': created, 'expand[0]': 'data.payment_intent' }
  const [disputes, refunds] = await Promise.all([
    pagesOf(stripe, 'disputes', Listed, query),
    pagesOf(stripe, 'refunds', Listed, query),
  ])
  return [
    ...disputes.flatMap(one => ofOurs(one, () => [{ chargeback: chargebackOf(StripeDispute.parse(one)) }])),
    ...refunds.flatMap(one => ofOurs(one, () => newsOfRefund(StripeRefund.parse(one)))),
  ]
}

type News =
  | { readonly chargeback: Chargeback }
  | { readonly refundReference: string; readonly outcome: 'approved' | 'declined' }

function newsOfRefund(refund: StripeRefund): News[] {
  const { status, metadata } = refund
  if (metadata.refund === undefined) return refundElsewhere(refund).map(chargeback => ({ chargeback }))
  if (status === 'succeeded') return [{ refundReference: metadata.refund, outcome: 'approved' }]
  const hasFailed = status === 'failed' || status === 'canceled'
  return hasFailed ? [{ refundReference: metadata.refund, outcome: 'declined' }] : []
}

function ofOurs(
  { payment_intent: intent }: z.output<typeof Listed>,
  read: () => readonly News[],
): ListedReturn[] {
  const ours = ChargeMetadata.safeParse(intent?.metadata).data
  if (!ours) return []
  const { reference, owner: ownerId, mode } = ours
  return read().map(news => ({ reference, ownerId, mode, ...news }))
}

const PAGE = 100

/** All of a payment: a missing one would be made once more. */
const listOf = <T extends { readonly id: string }>(
  stripe: Stripe,
  path: 'refunds' | 'disputes',
  form: z.ZodType<T>,
  intentId: string,
): Promise<T[]> => pagesOf(stripe, path, form, { payment_intent: intentId })

async function pagesOf<T extends { readonly id: string }>(
  stripe: Stripe,
  path: 'refunds' | 'disputes',
  form: z.ZodType<T>,
  of: Readonly<Record<string, string>>,
): Promise<T[]> {
  const List = z.object({ data: z.array(form), has_more: z.boolean() })
  const found: T[] = []
  for (;;) {
    const last = found.at(-1)
    const after = last ? { starting_after: last.id } : {}
    // The package takes parameters of a raw GET only in its path.
    const query = new URLSearchParams({ ...of, limit: String(PAGE), ...after })
    const page = await stripe.rawRequest('GET', `/v1/${path}?${query}`, undefined, {
      apiVersion: STRIPE_PREVIEW_VERSION,
    })
    const { data, has_more } = List.parse(page)
    found.push(...data)
    if (!has_more || data.length === 0) return found
  }
}
