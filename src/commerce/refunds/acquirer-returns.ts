import type { Context } from '../../kernel/contract/context.ts'
import {
  chargeBackAcquirerCharge,
  chargebackAccounts,
  creditAcquirerCharge,
} from '../../money/incoming/index.ts'
import type { PostingCause } from '../../money/ledger/index.ts'
import type { RefundRow } from '../../money/refunds/index.ts'
import { type WalletRow, walletsById } from '../../money/wallets/index.ts'
import type { Chargeback, ChargeReturns } from '../../ports/acquirer.ts'
import { type Cents, minOf, remainderOf, subtractCents, sumOf } from '../../values/money.ts'
import { type PaymentRequestRow, RequestPayment, type RequestPaymentRow } from '../payment-requests/index.ts'
import { refundIdOf, requestRefundCause, type requestRefundingEvents } from './api.ts'
import { acquirerAnswer, endAcquirerRefund } from './ask.ts'
import {
  countRequestRefund,
  endRequestRefund,
  type LockedRefunds,
  lockRefunds,
  writeRefunds,
} from './locked-refunds.ts'

type ReturnsContext = Context<never, typeof requestRefundingEvents>

interface LockedCharge extends LockedRefunds {
  readonly wallet: WalletRow
  readonly request: PaymentRequestRow
  readonly payment: RequestPaymentRow
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
  const { em, sql, tenant, queueStatement } = context
  const known = await em.findOne(RequestPayment, { sourceId: settlementId })
  if (known?.status !== 'received') return
  const { id: paymentId, requestId, walletId } = known
  const ids = refunds.map(({ refundReference }) => refundIdOf(refundReference))
  const sources = { type: CHARGEBACK, ids: chargebacks.flatMap(({ id }) => [id, restOf(id)]) }
  const accounts = { ...chargebackAccounts(walletId), holds: ids.map(requestRefundCause) }
  const [wallets, locked] = await Promise.all([
    walletsById(sql, tenant, [walletId]),
    lockRefunds({ ids, sources, payment: known, accounts }, context),
  ])
  const wallet = wallets.get(walletId)
  const payment = locked.payments.get(paymentId)
  const { request } = locked.requests.get(requestId) ?? {}
  if (!wallet || !payment || !request) throw new Error(`${paymentId}: its wallet or request is gone`)
  const charge = { ...locked, wallet, request, payment }
  for (const { refundReference, outcome } of refunds) {
    const refund = locked.refunds.find(refundIdOf(refundReference))
    const ending = acquirerAnswer(outcome)
    if (refund?.paymentId === paymentId && ending) endLater(refund, ending, charge, context)
  }
  for (const chargeback of chargebacks) bookChargeback(chargeback, charge, context)
  for (const chargeback of chargebacks) countAbove(chargeback, charge, context)
  queueStatement(writeRefunds(sql, tenant, locked))
  queueStatement(locked.book.post(sql))
}

function endLater(
  refund: RefundRow,
  ending: NonNullable<ReturnType<typeof acquirerAnswer>>,
  charge: LockedCharge,
  context: ReturnsContext,
): void {
  if (refund.status === 'pending')
    endAcquirerRefund({ refund, wallet: charge.wallet }, ending, charge, context)
  else if (refund.status === 'completed' && ending !== 'completed') {
    const cause = { ...requestRefundCause(refund.id), type: BACK.refund }
    creditBack(charge, { amountCents: refund.amountCents, cause }, context)
    endRequestRefund(refund, ending, charge, context)
  }
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
    else endRequestRefund(row, CAME_BACK[kind], charge, context)
  if (rest > 0n) recordChargeback({ id: restOf(id), kind, reason }, rest, charge, context)
}

/** What was above the payment belongs to it once a refund has failed: it is recorded anew, and no money moves. */
function countAbove(chargeback: Chargeback, charge: LockedCharge, context: ReturnsContext): void {
  const { refunds, payment } = charge
  const rest = { ...chargeback, id: restOf(chargeback.id) }
  const rows = [chargeback, rest].flatMap(({ id }) => refunds.ofSource({ type: CHARGEBACK, id }))
  for (const row of rows.filter(({ paymentId, status }) => paymentId === null && status === 'completed')) {
    if (remainderOf(payment.amountCents, payment.refundedCents) === 0n) return
    refunds.reverse(row, undefined, COUNTED_ANEW, context.emit)
    recordChargeback(rest, row.amountCents, charge, context)
  }
}

const COUNTED_ANEW = {
  code: 'counted_anew',
  message: 'A refund of the payment has failed, so this is recorded anew as a part of the payment.',
}

const CAME_BACK = {
  chargeback: {
    code: 'chargeback_won',
    message: 'The chargeback was won: the money is in the wallet again.',
  },
  refund: { code: 'failed', message: 'The refund failed: the money is in the wallet again.' },
} as const

const creditBack = (
  { wallet, book, request: { reference } }: LockedCharge,
  credit: { readonly amountCents: Cents; readonly cause: PostingCause },
  context: ReturnsContext,
): void => creditAcquirerCharge(wallet, { ...credit, reference }, book, context)

/** A part above what is left of the payment belongs to no payment: the payer has been refunded already. */
function recordChargeback(
  { id: sourceId, kind, reason }: Pick<Chargeback, 'id' | 'kind' | 'reason'>,
  amountCents: Cents,
  charge: LockedCharge,
  context: ReturnsContext,
): void {
  const { refunds, request, payment } = charge
  const part = minOf(amountCents, remainderOf(payment.amountCents, payment.refundedCents))
  const above = subtractCents(amountCents, part)
  const what =
    kind === 'chargeback' ? 'Chargeback by the payer’s bank' : 'Refunded at the acquirer, not by this service'
  const source = { sourceType: CHARGEBACK, sourceId }
  const members = { way: 'card', agentId: request.agentId, note: `${what}: ${reason}.`, ...source } as const
  if (above > 0n) {
    const row = refunds.chargeBack({ ...members, amountCents: above })
    refunds.complete(row, undefined, null, context.emit)
  }
  if (part === 0n) return
  const { id: paymentId, requestId, transactionId } = payment
  const row = refunds.chargeBack({ ...members, amountCents: part, requestId, paymentId, transactionId })
  countRequestRefund(row, charge, context)
  endRequestRefund(row, 'completed', charge, context)
}
