import type { Mode, Tenant } from '../../kernel/contract/actor.ts'
import { inRange } from '../../kernel/contract/conditions.ts'
import type { CallerContext, WriteContext } from '../../kernel/contract/context.ts'
import type { Systems } from '../../kernel/contract/ports.ts'
import { ifConfigured } from '../../kernel/contract/problem.ts'
import type { Row, Sql } from '../../kernel/contract/sql.ts'
import { acquirerCreditAccounts, refundAcquirerCharge } from '../../money/incoming/index.ts'
import { Refund, type RefundFailure, type RefundRow } from '../../money/refunds/index.ts'
import { type WalletRow, walletsById } from '../../money/wallets/index.ts'
import type { Acquirer, ChargeOutcome } from '../../ports/acquirer.ts'
import type { CardProcessor } from '../../ports/card-processor.ts'
import { days, minutes } from '../../values/clock.ts'
import { cents } from '../../values/money.ts'
import type { AcquirerCharge, RequestPaymentRow } from '../payment-requests/index.ts'
import {
  MAX_REFUND_PARTS,
  type refundSteps,
  requestRefundCause,
  requestRefundIdOf,
  type requestRefundingEvents,
} from './api.ts'
import { endRequestRefund, type LockedRefunds, lockRefunds, writeRefunds } from './locked-refunds.ts'
import { refundProcess } from './process.ts'

/** The longest time until the processor, or the acquirer, is asked again. */
export const ASK_MERCHANT_WITHIN_MS = minutes(60)
export const ASK_ACQUIRER_WITHIN_MS = days(1)

/** A payment by card as the processor names it, which asks its merchant. */
export interface MerchantPayment extends Row {
  readonly transactionId: string
  readonly processorRef: string
  readonly processorCardId: string
  readonly descriptor: string
  readonly mcc: string | null
  readonly country: string | null
}

interface PaidCharge {
  readonly charge: AcquirerCharge
  readonly walletId: string
}

/** Asks a merchant or the acquirer for a refund that is pending already. Plain JSON, since it must survive a crash. */
export type RefundCall = (PaidCharge | { readonly payment: MerchantPayment }) & {
  readonly refundId: string
  readonly mode: Mode
  readonly cents: string
  readonly since: string
  readonly now: string
  /** The HTTP request that asks, or the one that made the run ask. */
  readonly requestId: string
}

/** Refunds that a request has begun: it is answered with them, once the calls are made. */
export interface BegunRefunds {
  readonly refundIds: readonly string[]
  readonly calls: readonly RefundCall[]
}

export const refundCall = (
  paid: PaidCharge | { readonly payment: MerchantPayment },
  { id: refundId, amountCents, createdAt }: RefundRow,
  { tenant: { mode }, now, requestId }: CallerContext,
): RefundCall => ({
  ...paid,
  ...{ refundId, mode, cents: String(amountCents), requestId },
  ...{ since: createdAt.toISOString(), now: now.toISOString() },
})

export function chargeOfPayment({ id, charge, walletId }: RequestPaymentRow): PaidCharge {
  if (!charge) throw new Error(`${id}: a payment by card without its charge`)
  return { charge, walletId }
}

const PAYMENTS = `
select a.transaction_id as "transactionId", a.processor_ref as "processorRef", a.descriptor, a.mcc, a.country,
  n.processor_card_id as "processorCardId"
from card_authorizations a
join lateral (
  select one.processor_card_id from card_numbers one
  where (one.owner_id, one.mode, one.card_id) = ($1, $2, a.card_id) order by one.id desc limit 1) n on true
where a.owner_id = $1 and a.mode = $2 and a.transaction_id = any($3::text[]) and a.processor_ref is not null`

/** The payments whose merchants the processor can ask. */
export async function merchantPayments(
  sql: Sql,
  tenant: Tenant,
  transactionIds: readonly string[],
  systems: Systems,
): Promise<ReadonlyMap<string, MerchantPayment>> {
  if (transactionIds.length === 0) return new Map()
  if (!ifConfigured(() => systems.cardProcessor(tenant.mode))?.pushRefund) return new Map()
  const rows = await sql<MerchantPayment>(PAYMENTS, [tenant.ownerId, tenant.mode, transactionIds])
  return new Map(rows.map(row => [row.transactionId, row]))
}

/**
 * The calls for refunds that are due: of one payment request, or one refund of a card payment. Moves their due time, so that
 * two calls never run at once. Without a processor that can ask, a refund only waits for the money.
 */
export async function reserveRefundCalls(
  of: { readonly requestId: string } | { readonly id: string; readonly requestId: null },
  context: WriteContext,
): Promise<RefundCall[]> {
  const { em, sql, tenant, now, systems, queueStatement } = context
  const due = await em.find(
    Refund,
    { ...of, status: 'pending', askDueAt: inRange({ lte: now }) },
    { orderBy: { id: 'asc' }, limit: MAX_REFUND_PARTS },
  )
  if (due.length === 0) return []
  const { refunds, payments } = await lockRefunds({ ids: due.map(({ id }) => id) }, context)
  const ofCards = of.requestId === null ? due.flatMap(({ transactionId }) => transactionId ?? []) : []
  const merchants = await merchantPayments(sql, tenant, ofCards, systems)
  const calls = due.flatMap(({ id }) => {
    const row = refunds.find(id)
    if (row?.status !== 'pending' || row.askDueAt === null || row.askDueAt > now) return []
    const payment = payments.get(row.paymentId ?? '')
    const merchant = merchants.get(row.transactionId ?? '')
    if (payment) refunds.ask(row, ASK_ACQUIRER_WITHIN_MS)
    else if (merchant) refunds.ask(row, ASK_MERCHANT_WITHIN_MS)
    else refunds.endAsking(row, false)
    if (payment) return [refundCall(chargeOfPayment(payment), row, context)]
    return merchant ? [refundCall({ payment: merchant }, row, context)] : []
  })
  queueStatement(refunds.write(sql))
  return calls
}

/** `asked`: the money comes by the card network. `cannot`: only the owner can ask. Undefined: it is asked again. */
type Answer = 'completed' | 'asked' | 'cannot' | RefundFailure | undefined

const isEnding = (answer: Answer): answer is 'completed' | RefundFailure =>
  answer === 'completed' || typeof answer === 'object'

/** Every repetition has the same reference, so the next call reveals the outcome of a lost answer. */
export async function sendRefundCalls(
  calls: readonly RefundCall[],
  systems: Systems,
): Promise<{ readonly refundId: string; readonly answer: Answer }[]> {
  const answers = []
  for (const call of calls) {
    const { refundId, mode } = call
    const answer =
      'charge' in call
        ? await askAcquirer(call, systems.acquirer(mode))
        : await askMerchant(call, systems.cardProcessor(mode))
    answers.push({ refundId, answer })
  }
  return answers
}

export type RefundAnswers = Awaited<ReturnType<typeof sendRefundCalls>>

async function askMerchant(
  {
    refundId,
    cents: amount,
    since,
    now,
    requestId,
    payment,
  }: RefundCall & { readonly payment: MerchantPayment },
  { pushRefund }: CardProcessor,
): Promise<Answer> {
  const { processorCardId, processorRef: authorizationId, descriptor, mcc, country } = payment
  const merchant = { descriptor, mcc, city: null, country, url: null, networkTokenId: null }
  const asked = { processorCardId, authorizationId, merchant, amountCents: cents(amount) }
  const call = { reference: `${refundId}/push`, requestId, now: new Date(now) }
  const outcome = await pushRefund?.({ ...asked, requestedAt: new Date(since) }, call)
  if (!outcome) return 'cannot'
  if ('failure' in outcome) return outcome.failure === 'refused' ? 'cannot' : undefined
  if (outcome.status === 'asked') return 'asked'
  const message = `The merchant declined: ${outcome.message} Dispute the payment: POST /disputes.`
  return { code: 'declined', message }
}

async function askAcquirer(
  { refundId, cents: amount, charge, now, requestId }: RefundCall & PaidCharge,
  acquirer: Acquirer,
): Promise<Answer> {
  const asked = { ...charge, amountCents: cents(amount), refundReference: requestRefundIdOf(refundId) }
  return acquirerAnswer(await acquirer.refund(asked, { requestId, now: new Date(now) }))
}

export function acquirerAnswer(outcome: ChargeOutcome): 'completed' | RefundFailure | undefined {
  if (outcome.outcome === 'approved') return 'completed'
  return outcome.outcome === 'declined' ? { code: outcome.code, message: outcome.reason } : undefined
}

/** A declined refund fails. If the processor cannot ask, only the owner can request the money from the merchant. */
export async function recordMerchantAnswers(
  answers: RefundAnswers,
  context: WriteContext<(typeof refundSteps.ask)['emits']>,
): Promise<void> {
  const { sql, emit, wake, queueStatement } = context
  const { refunds } = await lockRefunds({ ids: answers.map(({ refundId }) => refundId) }, context)
  for (const { refundId, answer } of answers) {
    const row = refunds.find(refundId)
    if (row?.status !== 'pending' || answer === undefined) continue
    if (typeof answer === 'object') refunds.fail(row, answer, emit)
    else refunds.endAsking(row, answer === 'asked')
    wake(refundProcess, row)
  }
  queueStatement(refunds.write(sql))
}

/** The money stays held until the acquirer says how the refund has ended. */
export async function recordAcquirerAnswers(
  answers: RefundAnswers,
  calls: readonly RefundCall[],
  context: WriteContext<typeof requestRefundingEvents>,
): Promise<void> {
  const { sql, tenant, queueStatement } = context
  const ids = calls.map(({ refundId }) => refundId)
  const walletIds = calls.flatMap(call => ('charge' in call ? call.walletId : []))
  const accounts = { ...acquirerCreditAccounts(...walletIds), holds: ids.map(requestRefundCause) }
  const [wallets, locked] = await Promise.all([
    walletsById(sql, tenant, walletIds),
    lockRefunds({ ids, accounts }, context),
  ])
  for (const { refundId, answer } of answers) {
    const refund = locked.refunds.find(refundId)
    const wallet = wallets.get(locked.payments.get(refund?.paymentId ?? '')?.walletId ?? '')
    if (refund?.status !== 'pending' || !wallet || !isEnding(answer)) continue
    endAcquirerRefund({ refund, wallet }, answer, locked, context)
  }
  queueStatement(writeRefunds(sql, tenant, locked))
  queueStatement(locked.book.post(sql))
}

export const recordRefundAnswers = (
  answers: RefundAnswers,
  calls: readonly RefundCall[],
  context: WriteContext<typeof requestRefundingEvents>,
): Promise<void> =>
  calls.some(call => 'charge' in call)
    ? recordAcquirerAnswers(answers, calls, context)
    : recordMerchantAnswers(answers, context)

/** Ends a pending refund, whose money is held, as the acquirer says. */
export function endAcquirerRefund(
  { refund, wallet }: { readonly refund: RefundRow; readonly wallet: WalletRow },
  ending: 'completed' | RefundFailure,
  locked: LockedRefunds,
  context: WriteContext<typeof requestRefundingEvents>,
): void {
  const cause = requestRefundCause(refund.id)
  locked.book.release(cause)
  if (ending === 'completed')
    refundAcquirerCharge(wallet, { amountCents: refund.amountCents, cause }, locked.book, context)
  endRequestRefund(refund, ending, locked, context)
}
