import { type Dispute, isUndecided } from './dispute.ts'

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
function mustWithdraw({ status, words, processorDisputeId, toldWithdrawnAt }: Dispute): boolean {
  if (processorDisputeId === null || toldWithdrawnAt !== null) return false
  const isPaidByMerchant = status === 'won' && !words.some(({ says }) => says === 'won')
  return status === 'withdrawn' || isPaidByMerchant
}

/** The earliest of all that is due: deadline, process and test clock share it. */
export function schedule(dispute: Dispute): void {
  const { callDueAt, creditDueAt, evidenceDueAt, remindAt } = dispute
  const due = [callDueAt, creditDueAt, evidenceDueAt, remindAt].flatMap(at => at?.getTime() ?? [])
  dispute.dueAt = due.length > 0 ? new Date(Math.min(...due)) : null
}
