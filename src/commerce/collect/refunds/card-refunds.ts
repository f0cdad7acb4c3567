import type { Mode } from '../../../kernel/contract/actor.ts'
import type { Context } from '../../../kernel/contract/context.ts'
import type { ContextOf } from '../../../kernel/contract/operation.ts'
import { accountsToCollect, refundCharge } from '../../../money/incoming/index.ts'
import { openBook } from '../../../money/ledger/index.ts'
import { type WalletRow, walletsById } from '../../../money/wallets/index.ts'
import type { ChargeOutcome } from '../../../ports/acquirer.ts'
import { after } from '../../../values/clock.ts'
import type { AcquirerCharge } from '../request-payment.ts'
import type { PaymentRow } from '../request-rows.ts'
import type { refundsApi } from './api.ts'
import { completeRefund, failRefund, openRefunding, type Refunding, writeRefunding } from './move-refund.ts'
import { causeOf, nextCheckAfter, RequestRefund } from './request-refund.ts'

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
  { id, amountEuros }: RequestRefund,
  { walletId, charge }: Pick<PaymentRow, 'walletId' | 'charge'>,
): CardRefund {
  if (!charge) throw new Error(`${id}: a payment by card without its charge`)
  return { refundId: id, walletId, cents: String(amountEuros), charge }
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
  const { records, sql, tenant, sendAlong } = context
  const ids = asked.map(({ refundId }) => refundId)
  const walletIds = asked.map(({ walletId }) => walletId)
  // Which payments they are of never changes.
  const known = await records.find(RequestRefund, { id: { $in: ids } })
  const [first = ''] = walletIds
  const accounts = { ...accountsToCollect(first), wallets: walletIds, holds: known.map(causeOf) }
  const [book, wallets, moving, refunds] = await Promise.all([
    openBook(sql, context, accounts),
    walletsById(sql, tenant, walletIds),
    openRefunding(requestId, known, context),
    records.find(RequestRefund, { id: { $in: ids } }, { orderBy: { id: 'asc' }, lock: true }),
  ])
  const answers = new Map(outcomes.map(({ refundId, outcome }) => [refundId, outcome]))
  for (const refund of refunds) {
    const answer = answers.get(refund.id)
    const walletId = moving.payments.get(refund.paymentId)?.walletId ?? ''
    const wallet = wallets.get(walletId)
    if (answer && wallet && refund.status === 'pending')
      settle(refund, answer, { book, wallet, moving }, context)
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
  refund: RequestRefund,
  answer: ChargeOutcome,
  { book, wallet, moving }: Place,
  context: Settling,
): void {
  const cause = causeOf(refund)
  if (answer.outcome === 'approved') {
    book.release(cause)
    refundCharge(wallet, { amountEuros: refund.amountEuros, cause }, book, context)
    completeRefund(refund, moving, context)
  } else if (answer.outcome === 'declined') {
    book.release(cause)
    failRefund(refund, { code: answer.code, message: answer.reason }, moving, context)
  } else waitForAnswer(refund, context)
}

/** The outcome is open: the acquirer is asked again under the same reference. */
function waitForAnswer(refund: RequestRefund, { now }: Pick<Context, 'now'>): void {
  refund.attempts++
  refund.dueAt = after(now, nextCheckAfter(refund.attempts))
}
