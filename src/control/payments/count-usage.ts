import type { PostingCause } from '../../money/ledger/index.ts'
import { type Cents, NO_CENTS, remainderOf, subtractCents } from '../../values/money.ts'
import { type LimitUsageChange, limitUsageOf, netSpentCents } from './diff.ts'
import {
  coveringIntent,
  type PayingIntent,
  type Payment,
  type PaymentRecordView,
  type PostedPaymentBatch,
} from './payment.ts'
import {
  incrementPostingReference,
  intentCoveredPostingReference,
  intentHoldReference,
  overClearingPostingReference,
  unauthorizedClearingPostingRef,
} from './references.ts'
import type { PaymentState } from './state.ts'

export type UsageCountingBatch = Pick<PostedPaymentBatch, 'payments' | 'counters' | 'agents'>

export function countLimitUsage<P extends Payment>(
  payment: P,
  state: PaymentState,
  { limitsOf }: Pick<PaymentRecordView<P, never>, 'limitsOf'>,
  batch: UsageCountingBatch,
): void {
  const intent = coveringIntent(payment, batch)
  if (intent) countForIntent(intent, state, batch)
  const subjects = limitsOf(payment, intent !== undefined)
  // A card that the intent names was counted when the intent was approved.
  if (subjects.length === 0 || intent?.cardId) return
  for (const usage of limitUsageOf(state, intent !== undefined)) {
    const reference = referenceOf(usage, payment)
    countOne(intent ? intentCoveredPostingReference(reference) : reference, subjects, usage, payment, batch)
  }
}

function referenceOf({ of }: LimitUsageChange, { id }: Payment): PostingCause {
  if (of === 'excess') return overClearingPostingReference(id)
  return of === 'unauthorized' ? unauthorizedClearingPostingRef(id) : incrementPostingReference(id, of)
}

/**
 * Captured money is no longer reserved, even if it was returned before it was counted, so that the
 * reservation does not depend on the order of facts.
 */
function countForIntent(intent: PayingIntent, state: PaymentState, batch: UsageCountingBatch): void {
  const { counters } = batch
  const reference = intentHoldReference(intent.id)
  const { capturedCents } = state
  setSpent(reference, { capturedCents, spentCents: netSpentCents(state) }, intent.merchant, batch)
  const left = remainderOf(intent.holdCents ?? intent.amountCents, capturedCents)
  releaseAbove(reference, left, counters)
}

function countOne(
  reference: PostingCause,
  subjects: readonly string[],
  usage: LimitUsageChange,
  payment: Payment,
  batch: UsageCountingBatch,
): void {
  const { counters, agents } = batch
  const { amountCents, heldCents, isUse } = usage
  if (!counters.reservationOf(reference)) {
    if (amountCents === 0n) return
    const term = agents.get(payment.agentId ?? '')?.term ?? null
    counters.reserve(reference, subjects, amountCents, term, { isUse })
  }
  setSpent(reference, usage, payment.merchant, batch)
  releaseAbove(reference, heldCents, counters)
}

function releaseAbove(reference: PostingCause, kept: Cents, counters: PostedPaymentBatch['counters']): void {
  const reserved = counters.reservationOf(reference)?.reserved ?? NO_CENTS
  if (reserved > kept) counters.releasePart(reference, subtractCents(reserved, kept))
}

/** A refunded payment stays a use, in any order of its facts. */
function setSpent(
  reference: PostingCause,
  { spentCents, capturedCents }: Pick<LimitUsageChange, 'spentCents' | 'capturedCents'>,
  merchant: string,
  { counters }: UsageCountingBatch,
): void {
  const before = counters.reservationOf(reference)?.spent ?? NO_CENTS
  if (spentCents > before) counters.spend(reference, subtractCents(spentCents, before), merchant)
  if (spentCents < before) counters.giveBack(reference, subtractCents(before, spentCents))
  if (counters.reservationOf(reference)) counters.noteUse(reference, capturedCents > 0n)
}
