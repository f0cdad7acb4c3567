import type { Cause } from '../../money/ledger/index.ts'
import { type Cents, minus, NO_CENTS, restOf } from '../../values/money.ts'
import { spentOf, type Usage, usageOf } from './diff.ts'
import {
  type CountedIntent,
  coveringIntent,
  type Payment,
  type PaymentView,
  type PostedBatch,
} from './payment.ts'
import {
  incrementReference,
  intentCoveredReference,
  intentReference,
  overClearingReference,
  unauthorizedClearingReference,
} from './references.ts'
import type { PaymentState } from './state.ts'

export type CountingBatch = Pick<PostedBatch, 'payments' | 'counters' | 'agents'>

export function countUsage<P extends Payment>(
  payment: P,
  state: PaymentState,
  { limitsOf }: Pick<PaymentView<P, never>, 'limitsOf'>,
  batch: CountingBatch,
): void {
  const intent = coveringIntent(payment, batch)
  if (intent) countForIntent(intent, state, batch)
  const subjects = limitsOf(payment, intent !== undefined)
  // A card that the intent names was counted when the intent was approved.
  if (subjects.length === 0 || intent?.cardId) return
  for (const usage of usageOf(state, intent !== undefined)) {
    const reference = referenceOf(usage, payment)
    countOne(intent ? intentCoveredReference(reference) : reference, subjects, usage, payment, batch)
  }
}

function referenceOf({ of }: Usage, { id }: Payment): Cause {
  if (of === 'excess') return overClearingReference(id)
  return of === 'unauthorized' ? unauthorizedClearingReference(id) : incrementReference(id, of)
}

/**
 * Captured money is no longer reserved, even if it was returned before it was counted, so that the
 * reservation does not depend on the order of facts.
 */
function countForIntent(intent: CountedIntent, state: PaymentState, batch: CountingBatch): void {
  const { counters } = batch
  const reference = intentReference(intent.id)
  const { capturedCents } = state
  setSpent(reference, { capturedCents, spentCents: spentOf(state) }, intent.merchant, batch)
  const left = restOf(intent.holdCents ?? intent.amountCents, capturedCents)
  releaseAbove(reference, left, counters)
}

function countOne(
  reference: Cause,
  subjects: readonly string[],
  usage: Usage,
  payment: Payment,
  batch: CountingBatch,
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

function releaseAbove(reference: Cause, kept: Cents, counters: PostedBatch['counters']): void {
  const reserved = counters.reservationOf(reference)?.reserved ?? NO_CENTS
  if (reserved > kept) counters.releasePart(reference, minus(reserved, kept))
}

/** A refunded payment stays a use, in any order of its facts. */
function setSpent(
  reference: Cause,
  { spentCents, capturedCents }: Pick<Usage, 'spentCents' | 'capturedCents'>,
  merchant: string,
  { counters }: CountingBatch,
): void {
  const before = counters.reservationOf(reference)?.spent ?? NO_CENTS
  if (spentCents > before) counters.spend(reference, minus(spentCents, before), merchant)
  if (spentCents < before) counters.giveBack(reference, minus(before, spentCents))
  if (counters.reservationOf(reference)) counters.noteUse(reference, capturedCents > 0n)
}
