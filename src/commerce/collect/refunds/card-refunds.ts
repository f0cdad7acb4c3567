import type { Mode } from '../../../kernel/contract/actor.ts'
import type { Context } from '../../../kernel/contract/context.ts'
import type { ContextOf, HandlerOf } from '../../../kernel/contract/operation.ts'
import { accountsToCollect, refundCharge } from '../../../money/incoming/index.ts'
import { openBook } from '../../../money/ledger/index.ts'
import { Refund, type RefundRow } from '../../../money/refunds/index.ts'
import { type WalletRow, walletsById } from '../../../money/wallets/index.ts'
import type { ChargeOutcome } from '../../../ports/acquirer.ts'
import { after } from '../../../values/clock.ts'
import { lockRequest } from '../payments.ts'
import type { AcquirerCharge } from '../request-payment.ts'
import { type PaymentRow, paymentsById } from '../request-rows.ts'
import { MOST_PARTS, type refundsApi } from './api.ts'
import { completeRefund, failRefund, openRefunding, type Refunding, writeRefunding } from './end-refund.ts'
import { causeOf, nextCheckAfter, refundIdOf, requestRefundIdOf } from './request-refund.ts'

/** A refund as the acquirer is asked for it. Stored before the call, so it must be JSON. */
export interface CardRefund {
  readonly refundId: string
  readonly walletId: string
  readonly cents: string
  readonly charge: AcquirerCharge
}

/** The refunds of a request that the acquirer is asked for together. */
export interface CardRefunds {
  readonly requestId: string
  readonly mode: Mode
  readonly now: string
  readonly refunds: readonly CardRefund[]
}

export interface CardRefundOutcome {
  readonly refundId: string
  readonly outcome: ChargeOutcome
}

export function cardRefundOf(
  { id, amountEuros }: Pick<RefundRow, 'id' | 'amountEuros'>,
  { walletId, charge }: Pick<PaymentRow, 'walletId' | 'charge'>,
): CardRefund {
  if (!charge) throw new Error(`${id}: a payment by card without its charge`)
  return { refundId: requestRefundIdOf(id), walletId, cents: String(amountEuros), charge }
}

/** Asks the acquirer for each refund, under a reference of its own: it gives back once, however often it is asked. */
export async function askAcquirer(
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

type Settling = ContextOf<typeof refundsApi.refund> | ContextOf<typeof refundsApi.followRefunds>

/** Records what the acquirer has answered; does nothing for what has ended meanwhile. */
export async function settleCardRefunds(
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
    moving.refunds.tryToAsk(refund, attempts, after(context.now, nextCheckAfter(attempts)))
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
