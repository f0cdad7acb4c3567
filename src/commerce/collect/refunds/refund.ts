import type { Mode } from '../../../kernel/contract/actor.ts'
import type { CallerContext, WriteContext } from '../../../kernel/contract/context.ts'
import { AnswerNow } from '../../../kernel/contract/handlers.ts'
import { type ContextOf, externalCall } from '../../../kernel/contract/operation.ts'
import { Refusal } from '../../../kernel/contract/problem.ts'
import { inRange, oneOf } from '../../../kernel/contract/records.ts'
import { withMembers } from '../../../kernel/database/entity.ts'
import { acquirerCreditAccounts, refundAcquirerCharge } from '../../../money/incoming/index.ts'
import { type LockedBook, lockBook } from '../../../money/ledger/index.ts'
import { Refund, type RefundRow } from '../../../money/refunds/index.ts'
import { type WalletRow, walletsById } from '../../../money/wallets/index.ts'
import type { Acquirer, ChargeOutcome } from '../../../ports/acquirer.ts'
import { addMs } from '../../../values/clock.ts'
import { cents } from '../../../values/money.ts'
import { lockPaymentRequest } from '../payments.ts'
import {
  type AcquirerCharge,
  PaymentRequest,
  type PaymentRequestRow,
  paymentRequestResponse,
  type RequestPaymentRow,
  requestPaymentsById,
} from '../request.ts'
import {
  MAX_REFUND_PARTS,
  nextRefundCheckDelay,
  refundIdOf,
  requestRefundCause,
  requestRefundIdOf,
  type requestRefundingEvents,
  requestRefundResponse,
  requestRefundsApi,
} from './api.ts'
import { beginRefundParts, type RequestRefundTarget } from './begin-refund.ts'
import {
  type LockedRequestRefunds,
  lockRequestRefunds,
  type RequestRefundContext,
  recordRequestRefundEnd,
  writeRequestRefunds,
} from './end-refund.ts'

type RequestContext = ContextOf<typeof requestRefundsApi.refund>

/** Stored before the call, so its members must be JSON. */
interface CardRefund {
  readonly refundId: string
  readonly walletId: string
  readonly cents: string
  readonly charge: AcquirerCharge
}

export interface CardRefunds {
  readonly requestId: string
  readonly mode: Mode
  readonly now: string
  /** The id of the HTTP request that asks the acquirer, or of the one that made the run ask. */
  readonly askedBy: string
  readonly refunds: readonly CardRefund[]
}

export interface RequestRefundOutcome {
  readonly refundId: string
  readonly outcome: ChargeOutcome
}

/** The steps after the commit. They are JSON, since they must survive a crash. */
export interface PendingRefundSteps {
  readonly cards: CardRefunds
  readonly refundIds: readonly string[]
}

export async function beginRequestRefund(target: RequestRefundTarget, context: RequestContext) {
  const begun = await beginRefundParts(target, context)
  if (begun instanceof Refusal) return begun
  const { request, refunds, payments } = begun
  const refundIds = refunds.map(({ id }) => requestRefundIdOf(id))
  return {
    request,
    refunds,
    steps: { cards: cardRefundsOf(request.id, refunds, payments, context), refundIds },
  }
}

/**
 * Holds the money, then asks the acquirer. A crash in between loses nothing, since the process or the sweep
 * asks under the same references.
 */
export const refundPaymentRequest = externalCall(requestRefundsApi.refund, {
  async reserve({ params, body: { amountCents, reason: note, webauthnAssertion } }, context) {
    const begun = await beginRequestRefund(
      { requestId: params.id, amountCents, reason: 'other', note, webauthnAssertion },
      context,
    )
    if (begun instanceof Refusal) return begun
    const { request, refunds, steps } = begun
    return steps.cards.refunds.length > 0 ? steps : new AnswerNow(answerOf(request, refunds, context))
  },

  call: ({ cards }, { systems }) => sendCardRefunds(cards, systems.acquirer(cards.mode)),

  async record(outcomes, steps, context) {
    await recordCardRefunds(outcomes, steps.cards, context)
    return currentRefunds(steps, context)
  },

  recover: currentRefunds,
})

const answerOf = (
  request: PaymentRequest | PaymentRequestRow,
  refunds: readonly (Refund | RefundRow)[],
  context: RequestContext,
) => withMembers(paymentRequestResponse(request, context), { refunds: refunds.map(requestRefundResponse) })

async function currentRefunds({ cards, refundIds }: PendingRefundSteps, context: RequestContext) {
  const { records } = context
  const [request, refunds] = await Promise.all([
    records.findOneOrFail(PaymentRequest, { id: cards.requestId }),
    records.find(Refund, { id: oneOf(refundIds.map(refundIdOf)) }, { orderBy: { id: 'asc' } }),
  ])
  return answerOf(request, refunds, context)
}

function cardRefundsOf(
  requestId: string,
  refunds: readonly Pick<RefundRow, 'id' | 'way' | 'paymentId' | 'amountCents'>[],
  payments: ReadonlyMap<string, RequestPaymentRow>,
  { tenant, now, requestId: askedBy }: CallerContext,
): CardRefunds {
  const ofCards = refunds.flatMap(({ id, way, paymentId, amountCents }) => {
    if (way !== 'card') return []
    const { charge, walletId } = payments.get(paymentId ?? '') ?? {}
    if (!charge || !walletId) throw new Error(`${id}: a payment by card without its charge`)
    return [{ refundId: requestRefundIdOf(id), walletId, cents: String(amountCents), charge }]
  })
  return { requestId, mode: tenant.mode, now: now.toISOString(), askedBy, refunds: ofCards }
}

/** Each refund has its own reference, under which the acquirer refunds once. */
export async function sendCardRefunds(
  { now, askedBy: requestId, refunds }: CardRefunds,
  acquirer: Acquirer,
): Promise<RequestRefundOutcome[]> {
  const outcomes: RequestRefundOutcome[] = []
  for (const { refundId, cents: amount, charge } of refunds) {
    const asked = { ...charge, amountCents: cents(amount), refundReference: refundId }
    const outcome = await acquirer.refund(asked, { requestId, now: new Date(now) })
    outcomes.push({ refundId, outcome })
  }
  return outcomes
}

export async function recordCardRefunds(
  outcomes: readonly RequestRefundOutcome[],
  { requestId, refunds: asked }: CardRefunds,
  context: WriteContext<typeof requestRefundingEvents>,
): Promise<void> {
  const { sql, tenant, now, queueStatement } = context
  const walletIds = asked.map(({ walletId }) => walletId)
  const ids = asked.map(({ refundId }) => refundIdOf(refundId))
  const [first = ''] = walletIds
  const accounts = {
    ...acquirerCreditAccounts(first),
    wallets: walletIds,
    holds: ids.map(requestRefundCause),
  }
  const [book, wallets, refunding] = await Promise.all([
    lockBook(sql, context, accounts),
    walletsById(sql, tenant, walletIds),
    lockRequestRefunds(requestId, { ids }, context),
  ])
  for (const { refundId, outcome } of outcomes) {
    const refund = refunding.refunds.find(refundIdOf(refundId))
    const wallet = wallets.get(refunding.payments.get(refund?.paymentId ?? '')?.walletId ?? '')
    if (refund?.status !== 'pending' || !wallet) continue
    if (endCardRefund({ refund, wallet }, outcome, { ...refunding, book }, context)) continue
    // The outcome is unknown, so the acquirer is asked again under the same reference.
    const attempts = refund.attempts + 1
    refunding.refunds.askAgain(refund, attempts, addMs(now, nextRefundCheckDelay(attempts)))
  }
  queueStatement(writeRequestRefunds(sql, tenant, refunding))
  queueStatement(book.post(sql))
}

interface RefundOfWallet {
  readonly refund: RefundRow
  readonly wallet: WalletRow
}

/** Ends a pending refund by what the acquirer says. False if that is not known yet. */
export function endCardRefund(
  { refund, wallet }: RefundOfWallet,
  outcome: ChargeOutcome,
  locked: LockedRequestRefunds & { readonly book: LockedBook },
  context: RequestRefundContext,
): boolean {
  if (outcome.outcome !== 'approved' && outcome.outcome !== 'declined') return false
  const { book } = locked
  const cause = requestRefundCause(refund.id)
  book.release(cause)
  if (outcome.outcome === 'declined') {
    recordRequestRefundEnd(refund, { code: outcome.code, message: outcome.reason }, locked, context)
    return true
  }
  refundAcquirerCharge(wallet, { amountCents: refund.amountCents, cause }, book, context)
  recordRequestRefundEnd(refund, 'completed', locked, context)
  return true
}

/**
 * The refunds of a request about which the acquirer is to be asked; undefined where none is due. Moves their due time, so that
 * two calls never run at once.
 */
export async function reserveCardRefunds(
  requestId: string,
  context: WriteContext,
): Promise<CardRefunds | undefined> {
  const { records, sql, tenant, now } = context
  await lockPaymentRequest(requestId, context)
  const due = await records.find(
    Refund,
    { requestId, status: 'pending', way: 'card', askDueAt: inRange({ lte: now }) },
    { orderBy: { id: 'asc' }, limit: MAX_REFUND_PARTS, lock: true },
  )
  if (due.length === 0) return undefined
  for (const refund of due) refund.askDueAt = addMs(now, nextRefundCheckDelay(refund.attempts))
  const paymentIds = due.flatMap(({ paymentId }) => paymentId ?? [])
  return cardRefundsOf(requestId, due, await requestPaymentsById(sql, tenant, paymentIds), context)
}
