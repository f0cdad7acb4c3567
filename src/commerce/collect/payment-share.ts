import type { Euros } from '../../values/money.ts'
import { dueEuros, type PaymentRequest } from './request.ts'
import type { SurplusReason } from './request-payment.ts'

type Paying = Pick<PaymentRequest, 'status' | 'amountEuros' | 'paidEuros' | 'expiresAt'>

/** The part of a payment that counts towards its request, and why the rest does not. */
export interface Share {
  readonly countedEuros: Euros
  readonly surplusReason: SurplusReason | null
}

const NO_MORE = {
  paid: 'already_paid',
  refunded: 'already_paid',
  expired: 'expired',
  cancelled: 'cancelled',
} as const satisfies Record<Exclude<PaymentRequest['status'], 'open'>, SurplusReason>

/** The share of a payment. One that was under way before the deadline is in time, whenever it ends. */
export function shareOf(request: Paying, amountEuros: Euros, now: Date, wasInTime: boolean): Share {
  const { status, expiresAt } = request
  if (status !== 'open') return { countedEuros: 0n, surplusReason: NO_MORE[status as keyof typeof NO_MORE] }
  if (expiresAt <= now && !wasInTime) return { countedEuros: 0n, surplusReason: 'expired' }
  const due = dueEuros(request)
  return amountEuros > due
    ? { countedEuros: due, surplusReason: 'above_amount' }
    : { countedEuros: amountEuros, surplusReason: null }
}
