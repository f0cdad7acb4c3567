import { type Cents, NO_CENTS } from '../../../values/money.ts'

interface Refund {
  readonly amount: Cents
  readonly status: string | null
  /** Stripe's name for what has brought the money back. */
  readonly failure_balance_transaction?: unknown
}

interface RefundSums {
  readonly takenCents: Cents
  readonly givenCents: Cents
}

const TAKEN = new Set<unknown>(['pending', 'succeeded'])

/**
 * What a refund has taken of Stripe's balance, and what of it is there again: it failed, or was cancelled after that.
 * Both only grow. One in another state has moved nothing.
 */
export function refundSums({ amount, status, failure_balance_transaction: back }: Refund): RefundSums {
  const isBack = status === 'failed' || (status === 'canceled' && typeof back === 'string')
  const givenCents = isBack ? amount : NO_CENTS
  return { takenCents: TAKEN.has(status) ? amount : givenCents, givenCents }
}
