import { defineEntity, p } from '@mikro-orm/core'
import type { TenantNow } from '../../kernel/contract/actor.ts'
import { flag, nullable, record, tenantTable, textArray, zeroCents } from '../../kernel/database/entity.ts'
import type { Transaction } from '../../money/transactions/index.ts'
import { type DisputeReason, disputeReasons } from '../../ports/card-disputes.ts'
import { addDays, atBankTime, bankDateOf, bankDayOnOrAfter } from '../../values/bank-calendar.ts'
import { days, minutes } from '../../values/clock.ts'
import { type Cents, cents, minus } from '../../values/money.ts'
import type { Personal } from '../../values/personal.ts'
import {
  addFact,
  type Claim,
  type DisputeAmounts,
  type DisputeFact,
  disputeMachine,
  type StoredDisputeFact,
} from './state.ts'

/** SQL condition, as the indexes have it. */
const UNDECIDED = "status in ('open', 'submitted')"
export const isUndecided = ({ status }: Pick<Dispute, 'status'>): boolean =>
  status === 'open' || status === 'submitted'

/** SQL condition: its process has something to wait for. */
export const NEEDS_RUN = `(${UNDECIDED} or call_due_at is not null)`

/** Payments that the owner has not authorized: the platform bears the loss (Directive (EU) 2015/2366, Articles 71 to 74). */
const UNAUTHORIZED: ReadonlySet<DisputeReason> = new Set(['unauthorized', 'fraud'])
export const isUnauthorized = (reason: DisputeReason): boolean => UNAUTHORIZED.has(reason)

/** Of a payment that nobody has authorized, 13 months after the debit; of any other, 120 days. */
export function disputableUntil(debitedAt: Date, reason: DisputeReason): Date {
  if (!isUnauthorized(reason)) return new Date(debitedAt.getTime() + days(120))
  const until = new Date(debitedAt)
  until.setUTCMonth(until.getUTCMonth() + 13)
  // A month without such a day: setUTCMonth has gone on into the next one.
  if (until.getUTCDate() !== debitedAt.getUTCDate()) until.setUTCDate(0)
  return until
}

/** The merchant has collected it with the first clearing, if the network has told of one. */
export function debitedAt({ witnesses, createdAt }: Pick<Transaction, 'witnesses' | 'createdAt'>): Date {
  const clearings = witnesses.filter(({ type }) => type === 'card_clearing').map(({ at }) => Date.parse(at))
  return clearings.length > 0 ? new Date(Math.min(...clearings)) : createdAt
}

/** How long evidence can be given where the processor does not say. */
export const EVIDENCE_MS = days(7)
export const REMINDER_MS = days(1)
/** How often the processor is asked how the network has decided. */
export const INQUIRY_MS = days(1)

/** Between two calls of the processor that have brought nothing, in minutes; the last one from then on. */
const PAUSES = [1, 2, 5, 10, 20, 30, 60]
export const pauseAfter = (attempts: number): number =>
  minutes(PAUSES[Math.min(attempts, PAUSES.length) - 1] ?? 1)

/** The most evidence that one dispute can have. */
export const MOST_EVIDENCE = 50

export const findings = ['authorized', 'fraud', 'gross_negligence'] as const

/** What the operator has found out about a payment that is said to be unauthorized. */
interface Finding {
  readonly finding: (typeof findings)[number]
  readonly reasons: string
  readonly at: string
}

const schema = defineEntity({
  ...tenantTable('Dispute', 'disputes', 'agentId', 'delegationId'),
  properties: {
    ...record('dispute'),
    agentId: nullable.string(),
    /** Under which it was paid: its token sees the dispute, and no other's does. */
    delegationId: nullable.string(),
    transactionId: p.text(),
    cardId: nullable.string(),
    /** The wallet that has paid. */
    walletId: p.text(),
    merchant: p.text(),
    reason: p.enum(disputeReasons),
    description: p.text(),
    status: p.enum(disputeMachine.states).onCreate(() => disputeMachine.initial),
    /** What is disputed, as it was asked for. */
    amountCents: p.bigint().name('amount_cents'),
    /**
     * What had come back of the payment before, save for refunds that were asked for: what those bring was never disputed.
     * Only what comes later makes the dispute smaller.
     */
    refundedBeforeCents: p.bigint().name('refunded_before_cents'),
    /** What the merchant has refunded of it since. */
    refundedCents: zeroCents('refunded_cents'),
    /** What the owner has of it just now. */
    creditedCents: zeroCents('credited_cents'),
    /** What the card network has paid. */
    recoveredCents: zeroCents('recovered_cents'),
    /** What the platform has lost. */
    lostCents: zeroCents('lost_cents'),
    /** What it takes up of the payment: it cannot be refunded as well. */
    countedCents: zeroCents('counted_cents'),
    /** The wallet that what is given back went into; null while nothing is, or where it is in suspense. */
    creditedWalletId: nullable.string(),
    /** Names the postings. */
    postings: p.integer().onCreate(() => 0),
    facts: p
      .json<readonly StoredDisputeFact[]>()
      .name('words')
      .onCreate(() => []),
    finding: nullable.json<Finding>(),
    evidenceIds: textArray(),
    cardFrozen: flag(),
    resolution: nullable.string(),
    resolvedAt: nullable.instant(),
    /** When the owner is given the money back provisionally; `creditedAt` once that is due. */
    creditDueAt: nullable.instant(),
    creditedAt: nullable.instant(),
    evidenceDueAt: nullable.instant(),
    remindAt: nullable.instant(),
    submittedAt: nullable.instant(),
    processor: p.text(),
    processorDisputeId: nullable.string(),
    /** When the processor has got the evidence, and has submitted it. */
    documentedAt: nullable.instant(),
    filedAt: nullable.instant(),
    toldWithdrawnAt: nullable.instant(),
    processorProblem: nullable.string(),
    attempts: p.integer().onCreate(() => 0),
    /** When the processor is called next; null where it need not be called. */
    callDueAt: nullable.instant(),
    /** The earliest of all that is due. */
    dueAt: nullable.instant(),
    workflowId: p.text(),
  },
})

/** A payment by card that the owner does not accept, and how the card network decides. */
export class Dispute extends schema.class {}
schema.setClass(Dispute)

interface NewFact extends Pick<DisputeFact, 'id' | 'type'> {
  readonly at: Date
  readonly amountCents?: Cents | null
}

/** Appends a fact; one that is known changes nothing. */
export function recordFact(dispute: Dispute, { id, type, at, amountCents = null }: NewFact): void {
  const fact = { id, type, at: at.toISOString(), cents: amountCents?.toString() ?? null }
  dispute.facts = addFact(dispute.facts, fact)
}

/** What is disputed and the merchant has not refunded. */
export const leftOf = ({ amountCents, refundedCents }: Dispute): Cents =>
  minus(cents(amountCents), cents(refundedCents))

/** Whether the platform bears what the network does not pay: until the operator has found that it was authorized. */
export const isCovered = ({ reason, finding }: Pick<Dispute, 'reason' | 'finding'>): boolean =>
  isUnauthorized(reason) && finding === null

export const claimOf = (dispute: Dispute): Claim => ({
  isSubmitted: dispute.submittedAt !== null,
  leftCents: leftOf(dispute),
  isCovered: isCovered(dispute),
  isCreditDue: dispute.creditedAt !== null,
})

/** The amounts that the record states as booked. */
export const bookedBy = ({ creditedCents, recoveredCents, lostCents }: Dispute): DisputeAmounts => ({
  creditedCents: cents(creditedCents),
  recoveredCents: cents(recoveredCents),
  lostCents: cents(lostCents),
})

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

export const disputesPersonal = {
  disputes: {
    personal: {
      merchant: { kind: 'payment', ground: 'claims', forget: 'word' },
      description: { kind: 'words', ground: 'claims', forget: 'word' },
      words: { kind: 'words', ground: 'claims', forget: 'empty' },
      finding: { kind: 'words', ground: 'claims', forget: 'null' },
    },
    plain: [
      'reason',
      'credited_wallet_id',
      'evidence_ids',
      'resolution',
      'processor',
      'processor_dispute_id',
      'processor_problem',
    ],
  },
} as const satisfies Personal
