import type { PostingCause } from '../../money/ledger/index.ts'
import { type Cents, NO_CENTS, remainderOf, subtractCents } from '../../values/money.ts'
import { coveringIntent, isPaymentOf, type LimitBatch, type PayingIntent } from './channel.ts'
import {
  intentCoveredReference,
  intentHoldReference,
  type LimitUsage,
  limitUsageReference,
  type Payment,
  type PaymentChange,
  type PaymentState,
} from './payment.ts'

/** Counts a changed payment towards the limits of its intent and of these subjects. */
export function countLimitUsage(
  payment: Payment,
  { after, limits }: PaymentChange,
  limitsOf: (hasIntent: boolean) => readonly string[],
  batch: LimitBatch,
): void {
  const intent = coveringIntent(payment, batch)
  // The intent's limits have the amounts of its one payment, even if an earlier one is reported again.
  if (intent && isPaymentOf(intent, payment)) countForIntent(intent, after, batch)
  // A card that the intent named was counted when the intent was approved, and one that was made for it later was not.
  const counted = intent && batch.counters.reservationOf(intentHoldReference(intent.id))?.subjects
  const subjects = limitsOf(intent !== undefined).filter(subject => !counted?.includes(subject))
  if (subjects.length === 0) return
  const term = batch.agents.get(payment.agentId ?? '')?.term ?? null
  for (const usage of limits) {
    const own = limitUsageReference(usage, payment)
    const reference = intent ? intentCoveredReference(own) : own
    if (!batch.counters.reservationOf(reference)) {
      if (usage.amountCents === 0n) continue
      const isUse = usage.isUse && !intent
      batch.counters.reserve(reference, subjects, usage.amountCents, term, { isUse })
    }
    setSpent(reference, usage, payment.merchant, batch)
    releaseAbove(reference, usage.heldCents, batch)
  }
}

/**
 * Captured money is no longer reserved, even if it was returned before it was counted, so that the
 * reservation does not depend on the order of facts.
 */
function countForIntent(intent: PayingIntent, state: PaymentState, batch: LimitBatch): void {
  const reference = intentHoldReference(intent.id)
  setSpent(reference, state, intent.merchant, batch)
  releaseAbove(reference, remainderOf(intent.holdCents ?? intent.amountCents, state.capturedCents), batch)
}

function releaseAbove(reference: PostingCause, kept: Cents, { counters }: LimitBatch): void {
  const reserved = counters.reservationOf(reference)?.reserved ?? NO_CENTS
  if (reserved > kept) counters.releasePart(reference, subtractCents(reserved, kept))
}

/** A refunded payment stays a use, in any order of its facts. */
function setSpent(
  reference: PostingCause,
  { spentCents, capturedCents }: Pick<LimitUsage, 'spentCents' | 'capturedCents'>,
  merchant: string,
  { counters }: LimitBatch,
): void {
  const before = counters.reservationOf(reference)?.spent ?? NO_CENTS
  if (spentCents > before) counters.spend(reference, subtractCents(spentCents, before), merchant)
  if (spentCents < before) counters.giveBack(reference, subtractCents(before, spentCents))
  if (counters.reservationOf(reference)) counters.noteUse(reference, capturedCents > 0n)
}
