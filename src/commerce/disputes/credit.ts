import type { TenantNow } from '../../kernel/contract/actor.ts'
import { addDays, atBankTime, bankDateOf, bankDayOnOrAfter } from '../../values/bank-calendar.ts'
import type { Dispute } from './dispute.ts'
import { isCovered } from './settle.ts'

/** By then the money is back, in Frankfurt's time: before the business day ends, so that a failure can be tried again. */
const CREDIT_TIME = '16:00'

/** The next business day after the payment was said to be unauthorized (Directive (EU) 2015/2366, Article 73). */
export const creditDueAfter = (now: Date): Date =>
  atBankTime(bankDayOnOrAfter(addDays(bankDateOf(now))), CREDIT_TIME)

/**
 * Plans when the owner is given the money provisionally: in test mode at once. What is not said to be unauthorized any more is
 * due no longer; what was given back stays as the standing says.
 */
export function planCredit(dispute: Dispute, { tenant, now }: TenantNow): void {
  if (!isCovered(dispute)) {
    Object.assign(dispute, { creditDueAt: null, creditedAt: null })
    return
  }
  if (dispute.creditedAt !== null || dispute.creditDueAt !== null) return
  if (tenant.mode === 'test') dispute.creditedAt = now
  else dispute.creditDueAt = creditDueAfter(now)
}
