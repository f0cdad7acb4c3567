import type { Euros } from '../../../values/money.ts'
import type { PaymentRow } from '../request-rows.ts'

/** How much of a payment goes back. */
export interface RefundPart {
  readonly payment: PaymentRow
  readonly amountEuros: Euros
}

const leftOf = ({ amountEuros, refundedEuros }: PaymentRow): Euros => amountEuros - refundedEuros

/** What can still go back of these payments. */
export const refundableOf = (payments: readonly PaymentRow[]): Euros =>
  payments.reduce((sum, payment) => sum + leftOf(payment), 0n)

/**
 * Divides a refund over the payments, given newest first: what came last goes back first, as the surplus is in it. The
 * amount is no more than is left of all of them.
 */
export function refundParts(payments: readonly PaymentRow[], amountEuros: Euros): RefundPart[] {
  const parts: RefundPart[] = []
  let rest = amountEuros
  for (const payment of payments) {
    const left = leftOf(payment)
    const part = left < rest ? left : rest
    if (part > 0n) parts.push({ payment, amountEuros: part })
    rest -= part
  }
  return parts
}
