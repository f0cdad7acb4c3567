import type { Context } from '../../../kernel/contract/context.ts'
import {
  chargeBackAcquirerCharge,
  chargebackAccounts,
  creditAcquirerCharge,
} from '../../../money/incoming/index.ts'
import { type LockedBook, lockBook, type PostingCause } from '../../../money/ledger/index.ts'
import type { RefundRow } from '../../../money/refunds/index.ts'
import { type WalletRow, walletsById } from '../../../money/wallets/index.ts'
import type { Chargeback, ChargeReturns } from '../../../ports/acquirer.ts'
import { addCents, type Cents, minOf, remainderOf, subtractCents, sumOf } from '../../../values/money.ts'
import { collectProcess } from '../process.ts'
import { paymentRequestMachine, RequestPayment, totalReceivedCents } from '../request.ts'
import { refundIdOf, requestRefundCause, requestRefundEvent, type requestRefundingEvents } from './api.ts'
import {
  type LockedRequestRefunds,
  lockRequestRefunds,
  recordRequestRefundEnd,
  writeRequestRefunds,
} from './end-refund.ts'
import { endCardRefund } from './refund.ts'

type ReturnsContext = Context<never, typeof requestRefundingEvents>

interface LockedCharge extends LockedRequestRefunds {
  readonly book: LockedBook
  readonly wallet: WalletRow
  readonly paymentId: string
}

export const CHARGEBACK = 'chargeback'

/** Money that comes back is booked for a cause of its own: what it repays would meet the postings of its withdrawal. */
const BACK = { refund: 'request_refund_return', chargeback: 'chargeback_reinstatement' } as const

/**
 * Books what the acquirer has returned of a charge: refunds that ended later, or that failed after they had ended, and
 * chargebacks. All of it is booked once, in any order, as what the acquirer states only grows.
 */
export async function recordChargeReturns(
  settlementId: string,
  { refunds, chargebacks }: ChargeReturns,
  context: ReturnsContext,
): Promise<void> {
  const { records, sql, tenant, now, queueStatement } = context
  const payment = await records.findOne(RequestPayment, { sourceId: settlementId })
  if (payment?.status !== 'received') return
  const { id: paymentId, requestId, walletId } = payment
  const ids = refunds.map(({ refundReference }) => refundIdOf(refundReference))
  const sources = chargebacks.flatMap(({ id }) => [id, restOf(id)])
  const [book, wallets, refunding] = await Promise.all([
    lockBook(sql, { tenant, now }, { ...chargebackAccounts(walletId), holds: ids.map(requestRefundCause) }),
    walletsById(sql, tenant, [walletId]),
    lockRequestRefunds(requestId, { ids, sources: { type: CHARGEBACK, ids: sources }, payment }, context),
  ])
  const wallet = wallets.get(walletId)
  if (!wallet) throw new Error(`${paymentId}: its wallet is gone`)
  const charge = { ...refunding, book, wallet, paymentId }
  for (const { refundReference, outcome } of refunds) {
    const refund = refunding.refunds.find(refundIdOf(refundReference))
    if (refund?.paymentId !== paymentId) continue
    if (refund.status === 'pending') endCardRefund({ refund, wallet }, outcome, charge, context)
    else if (refund.status === 'completed' && outcome.outcome === 'declined') {
      const cause = { ...requestRefundCause(refund.id), type: BACK.refund }
      creditBack(charge, { amountCents: refund.amountCents, cause }, context)
      recordRequestRefundEnd(refund, { code: outcome.code, message: outcome.reason }, charge, context)
    }
  }
  for (const chargeback of chargebacks) bookChargeback(chargeback, charge, context)
  queueStatement(writeRequestRefunds(sql, tenant, refunding))
  queueStatement(book.post(sql))
}

export const restOf = (chargebackId: string): string => `${chargebackId}/rest`

const amountOf = (rows: readonly RefundRow[]): Cents => sumOf(rows.map(({ amountCents }) => amountCents))

/** A posting has a cause of its own: the first is named by the chargeback, a later one also by the sum so far. */
const causeOf = (type: string, id: string, before: Cents, sum: Cents): PostingCause => ({
  type,
  id: before === 0n ? id : `${id}/${sum}`,
})

/**
 * Books what has been withdrawn and reinstated since the last answer; both may happen more than once. What is
 * reinstated in part is recorded anew, for the rest: the rows of rests say what is left, and all others what was taken.
 */
function bookChargeback(
  { id, kind, reason, withdrawnCents, reinstatedCents }: Chargeback,
  charge: LockedCharge,
  context: ReturnsContext,
): void {
  const { refunds, book, wallet } = charge
  const ofChargeback = () => refunds.ofSource({ type: CHARGEBACK, id })
  const ofRests = () => refunds.ofSource({ type: CHARGEBACK, id: restOf(id) })
  const withdrawn = amountOf(ofChargeback())
  const more = subtractCents(withdrawnCents, withdrawn)
  if (more > 0n) {
    const cause = causeOf(CHARGEBACK, id, withdrawn, withdrawnCents)
    chargeBackAcquirerCharge(wallet, { amountCents: more, cause }, book, context)
    recordChargeback({ id, kind, reason }, more, charge, context)
  }
  const rows = [...ofChargeback(), ...ofRests()]
  const failed = amountOf(rows.filter(({ status }) => status === 'failed'))
  const reinstated = subtractCents(failed, amountOf(ofRests()))
  const sum = minOf(reinstatedCents, amountOf(ofChargeback()))
  const back = subtractCents(sum, reinstated)
  if (back <= 0n) return
  const cause = causeOf(BACK.chargeback, id, reinstated, sum)
  creditBack(charge, { amountCents: back, cause }, context)
  const taken = rows.filter(({ status }) => status === 'completed')
  const rest = subtractCents(amountOf(taken), back)
  for (const row of taken)
    if (row.paymentId === null) refunds.reverse(row, undefined, CAME_BACK[kind], context.emit)
    else recordRequestRefundEnd(row, CAME_BACK[kind], charge, context)
  if (rest > 0n) recordChargeback({ id: restOf(id), kind, reason }, rest, charge, context)
}

const CAME_BACK = {
  chargeback: {
    code: 'chargeback_won',
    message: 'The chargeback was won: the money is in the wallet again.',
  },
  refund: { code: 'failed', message: 'The refund failed: the money is in the wallet again.' },
} as const

function creditBack(
  { wallet, book, locked: { request } }: LockedCharge,
  { amountCents, cause }: { readonly amountCents: Cents; readonly cause: PostingCause },
  context: ReturnsContext,
): void {
  creditAcquirerCharge(wallet, { amountCents, cause, reference: request.reference }, book, context)
}

/** A part above what is left of the payment belongs to no payment: the payer has been refunded already. */
function recordChargeback(
  { id, kind, reason }: Pick<Chargeback, 'id' | 'kind' | 'reason'>,
  amountCents: Cents,
  { locked: { request }, payments, transactions, refunds, paymentId, wallet }: LockedCharge,
  { now, emit, wake }: ReturnsContext,
): void {
  const payment = payments.get(paymentId)
  if (!payment) throw new Error(`${paymentId}: the payment is gone`)
  const part = minOf(amountCents, remainderOf(payment.amountCents, payment.refundedCents))
  const { agentId } = request
  const note =
    kind === 'chargeback'
      ? `Chargeback by the payer’s bank: ${reason}.`
      : `Refunded at the acquirer, not by this service: ${reason}.`
  const members = {
    way: 'card',
    agentId,
    walletId: wallet.id,
    note,
    sourceType: CHARGEBACK,
    sourceId: id,
  } as const
  const above = subtractCents(amountCents, part)
  if (above > 0n) refunds.chargeBack(undefined, { ...members, amountCents: above }, emit)
  if (part === 0n) return
  const of = { ...members, amountCents: part, requestId: request.id, paymentId }
  const row = refunds.chargeBack(transactions.get(payment.transactionId ?? ''), of, emit)
  Object.assign(payment, { refundedCents: addCents(payment.refundedCents, part), updatedAt: now })
  Object.assign(request, { refundedCents: addCents(request.refundedCents, part), updatedAt: now })
  if (request.refundedCents === totalReceivedCents(request)) paymentRequestMachine.move(request, 'refunded')
  emit('claim.request.refunded', requestRefundEvent(request, row))
  wake(collectProcess, request)
}
