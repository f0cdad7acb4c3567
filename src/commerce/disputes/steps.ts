import type { ReadContext } from '../../kernel/contract/context.ts'
import { formatMinute } from '../../values/minute.ts'
import { formatMoney } from '../../values/money.ts'
import { markDisputeSubmitted } from './change.ts'
import {
  Dispute,
  isCoveredByPlatform,
  isDisputeUndecided,
  pendingDisputeCall,
  recordDisputeFact,
} from './dispute.ts'
import {
  type DisputeReconcileContext,
  type LockedDispute,
  lockDispute,
  reconcileDispute,
} from './reconcile-dispute.ts'

const isDue = (at: Date | null, now: Date): boolean => at !== null && at <= now

/** The provisional credit, the reminder, and the end of the time for evidence: each at its time, by the tenant's clock. */
export async function followDisputeDeadlines(id: string, context: DisputeReconcileContext): Promise<void> {
  const { now } = context
  const locked = await lockDispute(id, context)
  if (!locked) return
  const { dispute } = locked
  const { creditDueAt, remindAt, evidenceDueAt } = dispute
  if (isDue(creditDueAt, now)) {
    Object.assign(dispute, { creditDueAt: null, creditedAt: now })
    reconcileDispute(locked, context)
  }
  if (isDue(evidenceDueAt, now)) endEvidence(locked, context)
  else if (isDue(remindAt, now)) {
    dispute.remindAt = null
    reconcileDispute(locked, context, { change: 'reminder', reason: REMINDER })
  }
}

const REMINDER = 'Evidence can be added for one more day. Then the dispute is submitted as it is.'

function endEvidence(locked: LockedDispute, context: DisputeReconcileContext): void {
  const { dispute } = locked
  if (hasEvidence(dispute)) markDisputeSubmitted(locked, context)
  else {
    recordDisputeFact(dispute, { id: 'lapse', type: 'lapsed', at: context.now })
    reconcileDispute(locked, context)
  }
}

const hasEvidence = (dispute: Dispute): boolean =>
  dispute.evidenceIds.length > 0 || isCoveredByPlatform(dispute)

/** Temporal stores this summary of the run, so it contains no names. */
const summaryOf = ({ mode, amountCents, reason, status, creditedCents }: Dispute): string =>
  `Dispute of ${formatMoney(amountCents)} in ${mode} mode (${reason}): ${status}, ${formatMoney(creditedCents)} credited`

/** What the run of a dispute reads. */
export async function disputeStatus(id: string, { em, now }: ReadContext) {
  const dispute = await em.findOne(Dispute, { id })
  if (!dispute) return undefined
  const { status, dueAt, callDueAt, evidenceDueAt, unansweredSince } = dispute
  const pendingCall = pendingDisputeCall(dispute)
  const deadline = pendingCall === null ? evidenceDueAt : callDueAt
  const closed = !isDisputeUndecided(dispute) && callDueAt === null
  return {
    status,
    summary: summaryOf(dispute),
    closed,
    /** What the processor is to do; null while the dispute waits for evidence. */
    pendingCall,
    /** Whether nothing is due before the call, as a provisional credit may be. */
    isCallNext: callDueAt !== null && callDueAt.getTime() === dueAt?.getTime(),
    doubtfulSince: unansweredSince?.toISOString() ?? null,
    dueInMs: closed || !dueAt ? null : dueAt.getTime() - now.getTime(),
    deadline: deadline && formatMinute(deadline),
    signals: [],
  }
}
