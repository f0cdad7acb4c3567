import type { Mode } from '../../../kernel/contract/actor.ts'
import type { Context } from '../../../kernel/contract/context.ts'
import { AnswerNow } from '../../../kernel/contract/handlers.ts'
import type { ContextOf, HandlerOf } from '../../../kernel/contract/operation.ts'
import type { Refusal } from '../../../kernel/contract/problem.ts'
import { withMembers } from '../../../kernel/database/entity.ts'
import { accountsToCollect, refundCharge } from '../../../money/incoming/index.ts'
import { openBook } from '../../../money/ledger/index.ts'
import { Refund, type RefundRow } from '../../../money/refunds/index.ts'
import { type WalletRow, walletsById } from '../../../money/wallets/index.ts'
import type { ChargeOutcome } from '../../../ports/acquirer.ts'
import { after } from '../../../values/clock.ts'
import type { Euros } from '../../../values/money.ts'
import { lockRequest } from '../payments.ts'
import { type AcquirerCharge, PaymentRequest } from '../request.ts'
import { type PaymentRow, paymentsById, type RequestRow, requestResponse } from '../request-rows.ts'
import {
  causeOf,
  MOST_PARTS,
  nextCheckAfter,
  refundIdOf,
  type refundsApi,
  requestRefundIdOf,
  requestRefundResponse,
} from './api.ts'
import { beginRefunds, isBlocked, openRefund, type RefundWords } from './begin-refund.ts'
import { completeRefund, failRefund, openRefunding, type Refunding, writeRefunding } from './end-refund.ts'

type RequestContext = ContextOf<typeof refundsApi.refund>

/** What is to go back: of all payments of a request, or of the one that came by this source. */
interface RefundTarget extends RefundWords {
  readonly requestId: string
  readonly sourceId?: string | undefined
  /** All that is left, where no amount is given. */
  readonly amountEuros?: Euros | undefined
}

/** What is left to do once the refunds are committed: JSON, as it outlives a crash. */
export interface OpenSteps {
  readonly cards: CardRefunds
  /** Their ids as the request shows them. */
  readonly refundIds: readonly string[]
}

interface BegunRefund {
  readonly request: PaymentRequest | RequestRow
  readonly refunds: readonly RefundRow[]
  readonly steps: OpenSteps
  /** Whether nothing is left to do. */
  readonly isDone: boolean
}

export type StepAnswers = readonly CardRefundOutcome[]

/** Holds what goes back, or says why nothing can. */
export async function beginRequestRefund(
  { requestId, sourceId, amountEuros, ...why }: RefundTarget,
  context: RequestContext,
): Promise<BegunRefund | { readonly refusal: Refusal }> {
  const { tenant, now, refuse } = context
  const opened = await openRefund({ id: requestId, sourceId }, amountEuros, context)
  if (isBlocked(opened)) return { refusal: refuse(...opened) }
  const refunds = await beginRefunds(opened, why, context)
  const payments = new Map(opened.parts.map(({ payment }) => [payment.id, payment]))
  const cards = refunds.flatMap(refund => {
    const payment = payments.get(refund.paymentId ?? '')
    return payment?.way === 'card' ? [cardRefundOf(refund, payment)] : []
  })
  const steps = {
    cards: { requestId, mode: tenant.mode, now: now.toISOString(), refunds: cards },
    refundIds: refunds.map(({ id }) => requestRefundIdOf(id)),
  }
  return { request: opened.locked.request, refunds, steps, isDone: cards.length === 0 }
}

/** Asks the acquirer, with no transaction open. */
export const carryOutRefund = (
  { cards }: OpenSteps,
  outside: Pick<Context, 'ports' | 'requestId'>,
): Promise<StepAnswers> => askAcquirer(cards, outside)

/** Records what came of it. */
export async function recordRefund(
  outcomes: StepAnswers,
  { cards }: OpenSteps,
  context: RequestContext,
): Promise<void> {
  if (outcomes.length > 0) await settleCardRefunds(cards, outcomes, context)
}

/**
 * Holds what goes back, then asks the acquirer. A crash in between loses nothing: the process, or the sweep, asks under the
 * same references.
 */
export const refund: HandlerOf<typeof refundsApi.refund> = {
  async reserve({ params, body }, context) {
    const why = { reason: 'other', note: body.reason } as const
    const target = { requestId: params.id, amountEuros: body.amountEuros, ...why }
    const begun = await beginRequestRefund(target, context)
    if ('refusal' in begun) return begun.refusal
    return begun.isDone ? new AnswerNow(answerOf(begun.request, begun.refunds, context)) : begun.steps
  },

  call: carryOutRefund,

  async record(answers: StepAnswers, steps: OpenSteps, context) {
    await recordRefund(answers, steps, context)
    return found(steps, context)
  },

  recover: found,
}

const answerOf = (
  request: PaymentRequest | RequestRow,
  refunds: readonly (Refund | RefundRow)[],
  context: RequestContext,
) => withMembers(requestResponse(request, context), { refunds: refunds.map(requestRefundResponse) })

/** The request and these refunds as they stand. */
async function found({ cards, refundIds }: OpenSteps, context: RequestContext) {
  const { records } = context
  const [request, refunds] = await Promise.all([
    records.findOneOrFail(PaymentRequest, { id: cards.requestId }),
    records.find(Refund, { id: { $in: refundIds.map(refundIdOf) } }, { orderBy: { id: 'asc' } }),
  ])
  return answerOf(request, refunds, context)
}

/** A refund as the acquirer is asked for it. Stored before the call, so it must be JSON. */
interface CardRefund {
  readonly refundId: string
  readonly walletId: string
  readonly cents: string
  readonly charge: AcquirerCharge
}

/** The refunds of a request that the acquirer is asked for together. */
interface CardRefunds {
  readonly requestId: string
  readonly mode: Mode
  readonly now: string
  readonly refunds: readonly CardRefund[]
}

interface CardRefundOutcome {
  readonly refundId: string
  readonly outcome: ChargeOutcome
}

function cardRefundOf(
  { id, amountEuros }: Pick<RefundRow, 'id' | 'amountEuros'>,
  { walletId, charge }: Pick<PaymentRow, 'walletId' | 'charge'>,
): CardRefund {
  if (!charge) throw new Error(`${id}: a payment by card without its charge`)
  return { refundId: requestRefundIdOf(id), walletId, cents: String(amountEuros), charge }
}

/** Asks the acquirer for each refund, under a reference of its own: it gives back once, however often it is asked. */
async function askAcquirer(
  { mode, now, refunds }: CardRefunds,
  { ports, requestId }: Pick<Context, 'ports' | 'requestId'>,
): Promise<CardRefundOutcome[]> {
  const outcomes: CardRefundOutcome[] = []
  for (const { refundId, cents, charge } of refunds) {
    const asked = { ...charge, amountEuros: BigInt(cents), refundReference: refundId }
    const outcome = await ports.acquirer(mode).refund(asked, { requestId, now: new Date(now) })
    outcomes.push({ refundId, outcome })
  }
  return outcomes
}

type Settling = RequestContext | ContextOf<typeof refundsApi.followRefunds>

/** Records what the acquirer has answered; does nothing for what has ended meanwhile. */
async function settleCardRefunds(
  { requestId, refunds: asked }: Pick<CardRefunds, 'requestId' | 'refunds'>,
  outcomes: readonly CardRefundOutcome[],
  context: Settling,
): Promise<void> {
  const { sql, tenant, sendAlong } = context
  const walletIds = asked.map(({ walletId }) => walletId)
  const ids = asked.map(({ refundId }) => refundIdOf(refundId))
  const [first = ''] = walletIds
  const accounts = { ...accountsToCollect(first), wallets: walletIds, holds: ids.map(causeOf) }
  const [book, wallets, moving] = await Promise.all([
    openBook(sql, context, accounts),
    walletsById(sql, tenant, walletIds),
    openRefunding(requestId, ids, context),
  ])
  for (const { refundId, outcome } of outcomes) {
    const refund = moving.refunds.find(refundIdOf(refundId))
    const wallet = wallets.get(moving.payments.get(refund?.paymentId ?? '')?.walletId ?? '')
    if (refund?.status === 'pending' && wallet) settle(refund, outcome, { book, wallet, moving }, context)
  }
  sendAlong(writeRefunding(sql, tenant, moving))
  sendAlong(book.post(sql))
}

interface Place {
  readonly book: Awaited<ReturnType<typeof openBook>>
  readonly wallet: WalletRow
  readonly moving: Refunding
}

function settle(
  refund: RefundRow,
  answer: ChargeOutcome,
  { book, wallet, moving }: Place,
  context: Settling,
): void {
  const cause = causeOf(refund.id)
  if (answer.outcome === 'approved') {
    book.release(cause)
    refundCharge(wallet, { amountEuros: refund.amountEuros, cause }, book, context)
    completeRefund(refund, moving, context)
  } else if (answer.outcome === 'declined') {
    book.release(cause)
    failRefund(refund, { code: answer.code, message: answer.reason }, moving, context)
  } else {
    // The outcome is open: the acquirer is asked again under the same reference.
    const attempts = refund.attempts + 1
    moving.refunds.askAgain(refund, attempts, after(context.now, nextCheckAfter(attempts)))
  }
}

const DONE = { done: true }

/** Asks the acquirer about what is due. The due time moves before the call, so that no two ask at once. */
export const followRefunds: HandlerOf<typeof refundsApi.followRefunds> = {
  async reserve({ params }, context): Promise<CardRefunds | ReturnType<typeof context.refuse>> {
    const { records, sql, tenant, now, refuse } = context
    const locked = await lockRequest(params.id, context)
    if (!locked) return refuse('request_not_found')
    const due = await records.find(
      Refund,
      { requestId: params.id, status: 'pending', way: 'card', askDueAt: { $lte: now } },
      { orderBy: { id: 'asc' }, limit: MOST_PARTS, lock: true },
    )
    const payments = await paymentsById(
      sql,
      tenant,
      due.flatMap(({ paymentId }) => paymentId ?? []),
    )
    const refunds = due.flatMap(refund => {
      refund.askDueAt = after(now, nextCheckAfter(refund.attempts))
      const payment = payments.get(refund.paymentId ?? '')
      return payment ? [cardRefundOf(refund, payment)] : []
    })
    return { requestId: params.id, mode: tenant.mode, now: now.toISOString(), refunds }
  },

  call: async (asked: CardRefunds, outside) => askAcquirer(asked, outside),

  async record(outcomes: CardRefundOutcome[], asked: CardRefunds, context) {
    if (outcomes.length > 0) await settleCardRefunds(asked, outcomes, context)
    return DONE
  },

  // Process or sweep asks again once it is due.
  recover: async () => DONE,
}
