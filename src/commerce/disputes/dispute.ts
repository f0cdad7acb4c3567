import { defineEntity, p } from '@mikro-orm/core'
import type { TenantNow } from '../../kernel/contract/actor.ts'
import {
  booleanColumn,
  centsColumn,
  nullable,
  recordColumns,
  tenantTable,
  textArrayColumn,
  zeroCentsColumn,
} from '../../kernel/database/entity.ts'
import { personal, plain } from '../../kernel/database/personal.ts'
import type { Transaction } from '../../money/transactions/index.ts'
import { type DisputeReason, disputeReasons } from '../../ports/card-disputes.ts'
import { addCalendarDays, atBankTime, bankDateOf, bankDayOnOrAfter } from '../../values/bank-calendar.ts'
import { days, minutes } from '../../values/clock.ts'
import { type Cents, subtractCents } from '../../values/money.ts'
import {
  addDisputeFact,
  type DisputeAmounts,
  type DisputeClaimState,
  type DisputeFact,
  disputeMachine,
  type StoredDisputeFact,
} from './state.ts'

const UNDECIDED = "status in ('open', 'submitted')"
export const isDisputeUndecided = ({ status }: Pick<Dispute, 'status'>): boolean =>
  status === 'open' || status === 'submitted'

/** SQL condition: the dispute's process waits for an event. */
export const DISPUTE_NEEDS_RUN_SQL = `(${UNDECIDED} or call_due_at is not null)`

/** For these reasons the platform bears the loss (Directive (EU) 2015/2366, Articles 71 to 74). */
const UNAUTHORIZED: ReadonlySet<DisputeReason> = new Set(['unauthorized', 'fraud'])
export const isUnauthorizedReason = (reason: DisputeReason): boolean => UNAUTHORIZED.has(reason)

export function disputeDeadline(debitedAt: Date, reason: DisputeReason): Date {
  if (!isUnauthorizedReason(reason)) return new Date(debitedAt.getTime() + days(120))
  const until = new Date(debitedAt)
  until.setUTCMonth(until.getUTCMonth() + 13)
  // In a month without that day, setUTCMonth has moved into the next month.
  if (until.getUTCDate() !== debitedAt.getUTCDate()) until.setUTCDate(0)
  return until
}

export function transactionDebitedAt({
  witnesses,
  createdAt,
}: Pick<Transaction, 'witnesses' | 'createdAt'>): Date {
  const clearings = witnesses.filter(({ type }) => type === 'card_clearing').map(({ at }) => Date.parse(at))
  return clearings.length > 0 ? new Date(Math.min(...clearings)) : createdAt
}

export const EVIDENCE_PERIOD_MS = days(7)
export const EVIDENCE_REMINDER_MS = days(1)
export const DISPUTE_INQUIRY_INTERVAL_MS = days(1)

/** In minutes, between two failed calls of the processor. The last pause repeats. */
const PAUSES = [1, 2, 5, 10, 20, 30, 60]
export const disputeRetryDelay = (attempts: number): number =>
  minutes(PAUSES[Math.min(attempts, PAUSES.length) - 1] ?? 1)

export const MAX_DISPUTE_EVIDENCE = 50

export const liabilityFindings = ['authorized', 'fraud', 'gross_negligence'] as const

interface Finding {
  readonly finding: (typeof liabilityFindings)[number]
  readonly reasons: string
  readonly at: string
}

const schema = defineEntity({
  ...tenantTable('Dispute', 'disputes', 'agentId', 'delegationId'),
  properties: {
    ...recordColumns('dispute'),
    agentId: nullable.string(),
    delegationId: nullable.string(),
    transactionId: p.text(),
    cardId: nullable.string(),
    walletId: p.text(),
    merchant: personal(p.text(), 'payment', 'claims', 'word'),
    reason: plain(p.enum(disputeReasons)),
    description: personal(p.text(), 'words', 'claims', 'word'),
    status: p.enum(disputeMachine.states).onCreate(() => disputeMachine.initial),
    amountCents: centsColumn('amount_cents'),
    /**
     * Amounts refunded before the dispute, except requested refunds, which were never disputed. Only later
     * refunds reduce the dispute.
     */
    refundedBeforeCents: centsColumn('refunded_before_cents'),
    refundedCents: zeroCentsColumn('refunded_cents'),
    creditedCents: zeroCentsColumn('credited_cents'),
    recoveredCents: zeroCentsColumn('recovered_cents'),
    lostCents: zeroCentsColumn('lost_cents'),
    /** The part of the payment that the dispute claims. It cannot be refunded as well. */
    countedCents: zeroCentsColumn('counted_cents'),
    creditedWalletId: plain(nullable.string()),
    postings: p.integer().onCreate(() => 0),
    facts: personal(
      p
        .json<readonly StoredDisputeFact[]>()
        .name('words')
        .onCreate(() => []),
      'words',
      'claims',
      'empty',
    ),
    finding: personal(nullable.json<Finding>(), 'words', 'claims', 'null'),
    evidenceIds: plain(textArrayColumn()),
    cardFrozen: booleanColumn(),
    resolution: plain(nullable.string()),
    resolvedAt: nullable.instant(),
    creditDueAt: nullable.instant(),
    creditedAt: nullable.instant(),
    evidenceDueAt: nullable.instant(),
    remindAt: nullable.instant(),
    submittedAt: nullable.instant(),
    processor: plain(p.text()),
    processorDisputeId: plain(nullable.string()),
    documentedAt: nullable.instant(),
    filedAt: nullable.instant(),
    toldWithdrawnAt: nullable.instant(),
    processorProblem: plain(nullable.string()),
    attempts: p.integer().onCreate(() => 0),
    callDueAt: nullable.instant(),
    /** Since when the pending call of an undecided dispute has no answer; null before it is made. */
    unansweredSince: nullable.instant(),
    dueAt: nullable.instant(),
    workflowId: p.text(),
  },
})

export class Dispute extends schema.class {}
schema.setClass(Dispute)

interface NewFact extends Pick<DisputeFact, 'id' | 'type'> {
  readonly at: Date
  readonly amountCents?: Cents | null
}

export function recordDisputeFact(dispute: Dispute, { id, type, at, amountCents = null }: NewFact): void {
  const fact = { id, type, at: at.toISOString(), cents: amountCents?.toString() ?? null }
  dispute.facts = addDisputeFact(dispute.facts, fact)
}

export const remainingDisputedCents = ({ amountCents, refundedCents }: Dispute): Cents =>
  subtractCents(amountCents, refundedCents)

/**
 * Whether the platform bears what the network does not pay. It does until the operator finds that the payment
 * was authorized.
 */
export const isCoveredByPlatform = ({ reason, finding }: Pick<Dispute, 'reason' | 'finding'>): boolean =>
  isUnauthorizedReason(reason) && finding === null

export const disputeClaim = (dispute: Dispute): DisputeClaimState => ({
  isSubmitted: dispute.submittedAt !== null,
  leftCents: remainingDisputedCents(dispute),
  isCovered: isCoveredByPlatform(dispute),
  isCreditDue: dispute.creditedAt !== null,
})

export const bookedDisputeAmounts = ({
  creditedCents,
  recoveredCents,
  lostCents,
}: Dispute): DisputeAmounts => ({
  creditedCents,
  recoveredCents,
  lostCents,
})

export type DisputeProcessorCall = 'open' | 'document' | 'file' | 'withdraw' | 'inquire'

export function pendingDisputeCall(dispute: Dispute): DisputeProcessorCall | null {
  const { status, processorDisputeId, documentedAt, filedAt } = dispute
  if (!isDisputeUndecided(dispute)) return mustWithdraw(dispute) ? 'withdraw' : null
  if (processorDisputeId === null) return 'open'
  if (status === 'open') return null
  if (documentedAt === null) return 'document'
  return filedAt === null ? 'file' : 'inquire'
}

/** Whether to drop the claim at the network: the owner has withdrawn it, or the merchant has paid. */
function mustWithdraw({ status, facts, processorDisputeId, toldWithdrawnAt }: Dispute): boolean {
  if (processorDisputeId === null || toldWithdrawnAt !== null) return false
  const isPaidByMerchant = status === 'won' && !facts.some(({ says }) => says === 'won')
  return status === 'withdrawn' || isPaidByMerchant
}

export function scheduleDisputeDeadline(dispute: Dispute): void {
  const { callDueAt, creditDueAt, evidenceDueAt, remindAt } = dispute
  const due = [callDueAt, creditDueAt, evidenceDueAt, remindAt].flatMap(at => at?.getTime() ?? [])
  dispute.dueAt = due.length > 0 ? new Date(Math.min(...due)) : null
}

/** In Frankfurt's time, before the business day ends, so that a failed credit can be retried. */
const CREDIT_TIME = '16:00'

/** The next business day after the payment was reported as unauthorized (Directive (EU) 2015/2366, Article 73). */
export const provisionalCreditDueAt = (now: Date): Date =>
  atBankTime(bankDayOnOrAfter(addCalendarDays(bankDateOf(now))), CREDIT_TIME)

/**
 * Schedules the provisional credit; in test mode at once. None is due if the payment is no longer claimed to
 * be unauthorized, but an earlier credit stays.
 */
export function scheduleProvisionalCredit(dispute: Dispute, { tenant, now }: TenantNow): void {
  if (!isCoveredByPlatform(dispute)) {
    Object.assign(dispute, { creditDueAt: null, creditedAt: null })
    return
  }
  if (dispute.creditedAt !== null || dispute.creditDueAt !== null) return
  if (tenant.mode === 'test') dispute.creditedAt = now
  else dispute.creditDueAt = provisionalCreditDueAt(now)
}
