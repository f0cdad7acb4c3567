import type { TenantNow } from '../../kernel/contract/actor.ts'
import { addDays, atBankTime, bankDateOf, bankDayOnOrAfter } from '../../values/bank-calendar.ts'
import { type Dispute, isCovered, isUndecided } from './dispute.ts'

/** What the processor is to be asked for next. */
export const calls = ['open', 'document', 'file', 'withdraw', 'inquire'] as const
export type ProcessorCallKind = (typeof calls)[number]

/** The next call of the processor; null where it need not be called. */
export function pendingCall(dispute: Dispute): ProcessorCallKind | null {
  const { status, processorDisputeId, documentedAt, filedAt } = dispute
  if (!isUndecided(dispute)) return mustWithdraw(dispute) ? 'withdraw' : null
  if (processorDisputeId === null) return 'open'
  if (status === 'open') return null
  if (documentedAt === null) return 'document'
  return filedAt === null ? 'file' : 'inquire'
}

/** The network is told that nothing is wanted of it any more: the owner has withdrawn, or the merchant has paid. */
function mustWithdraw({ status, facts, processorDisputeId, toldWithdrawnAt }: Dispute): boolean {
  if (processorDisputeId === null || toldWithdrawnAt !== null) return false
  const isPaidByMerchant = status === 'won' && !facts.some(({ says }) => says === 'won')
  return status === 'withdrawn' || isPaidByMerchant
}

/** The earliest of all that is due: deadline, process and test clock share it. */
export function schedule(dispute: Dispute): void {
  const { callDueAt, creditDueAt, evidenceDueAt, remindAt } = dispute
  const due = [callDueAt, creditDueAt, evidenceDueAt, remindAt].flatMap(at => at?.getTime() ?? [])
  dispute.dueAt = due.length > 0 ? new Date(Math.min(...due)) : null
}

/** By then the money is back, in Frankfurt's time: before the business day ends, so that a failure can be tried again. */
const CREDIT_TIME = '16:00'

/** The next business day after the payment was said to be unauthorized (Directive (EU) 2015/2366, Article 73). */
export const creditDueAfter = (now: Date): Date =>
  atBankTime(bankDayOnOrAfter(addDays(bankDateOf(now))), CREDIT_TIME)

/**
 * Plans the provisional credit of the owner: in test mode at once. None is due once the payment is not said to be unauthorized
 * any more; what was credited before stays as the state says.
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
