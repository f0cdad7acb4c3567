import type { Tenant } from '../../kernel/contract/actor.ts'
import type { Context, EmitContext } from '../../kernel/contract/context.ts'
import type { Refusal } from '../../kernel/contract/problem.ts'
import type { Row, Sql } from '../../kernel/contract/sql.ts'
import { selectColumnList } from '../../kernel/database/bulk-sql.ts'
import {
  insertTransactions,
  newCompletedTransaction,
  type TransactionRow,
  type transactionEvents,
} from '../../money/transactions/index.ts'
import { newId } from '../../values/ids.ts'
import { addCents, type Cents, NO_CENTS, subtractCents } from '../../values/money.ts'
import {
  type AcquirerCharge,
  amountDueCents,
  insertRequestPayments,
  type PaymentRequest,
  type PaymentRequestRow,
  type PaymentSurplusReason,
  type PaymentWay,
  paymentRequestMachine,
  paymentRequestTable,
  type RequestPaymentRow,
  requestPaymentMachine,
  requestPaymentTable,
  updatePaymentRequests,
  updateRequestPayments,
} from './payment-request.ts'
import { collectProcess } from './process.ts'
import {
  paymentRequestEvent,
  type requestNotOpenRefusals,
  type requestPaidEvents,
  requestPaymentEvent,
} from './schemas.ts'

export interface LockedPaymentRequest {
  readonly request: PaymentRequestRow
  /** The payment with an unknown outcome. Until it ends, no other payment may pay or end the request. */
  pendingPayment: RequestPaymentRow | undefined
  readonly added: RequestPaymentRow[]
  readonly changed: RequestPaymentRow[]
  readonly transactions: TransactionRow[]
}

interface ReportedPayment {
  readonly way: PaymentWay
  readonly amountCents: Cents
  readonly sourceId: string
  readonly walletId?: string
  readonly charge?: AcquirerCharge
}

type PayingContext = EmitContext<typeof requestPaidEvents & typeof transactionEvents>

const LOCK = `
select ${selectColumnList(paymentRequestTable, 'r')} from payment_requests r
where r.owner_id = $1 and r.mode = $2 and r.id = any($3::text[])
order by r.id for no key update`

const UNDER_WAY = `
select ${selectColumnList(requestPaymentTable, 'p')} from unnest($3::text[]) as w (id)
cross join lateral (
  select * from request_payments one
  where (one.owner_id, one.mode, one.request_id) = ($1, $2, w.id) and one.status = 'under_way' limit 1) p`

/**
 * Locks requests in the order of their ids, then reads their pending payments. The caller has locked the
 * accounts. The caller's credential does not limit this: a payer need not have access to the request.
 */
export async function lockPaymentRequests(
  sql: Sql,
  { ownerId, mode }: Tenant,
  requestIds: readonly string[],
): Promise<ReadonlyMap<string, LockedPaymentRequest>> {
  const ids = [...new Set(requestIds)]
  if (ids.length === 0) return new Map()
  const [requests, pending] = await Promise.all([
    sql<PaymentRequestRow & Row>(LOCK, [ownerId, mode, ids]),
    sql<RequestPaymentRow & Row>(UNDER_WAY, [ownerId, mode, ids]),
  ])
  const paying = new Map(pending.map(payment => [payment.requestId, payment]))
  return new Map(
    requests.map(request => [
      request.id,
      { request, pendingPayment: paying.get(request.id), added: [], changed: [], transactions: [] },
    ]),
  )
}

export const lockPaymentRequest = async (
  id: string,
  { sql, tenant }: { readonly sql: Sql; readonly tenant: Tenant },
): Promise<LockedPaymentRequest | undefined> => (await lockPaymentRequests(sql, tenant, [id])).get(id)

/**
 * Records the beginning of a payment before anything is sent. From then on, the request can neither be
 * cancelled nor expire, and no other payment begins on it. `addRequestPayment` or `failRequestPayment` with the same source
 * ends it.
 */
export function beginRequestPayment(
  locked: LockedPaymentRequest,
  payment: ReportedPayment,
  context: PayingContext,
): void {
  if (locked.pendingPayment) throw new Error(`${locked.request.id}: a payment is under way already`)
  locked.pendingPayment = newPayment(locked.request, payment, context)
  locked.added.push(locked.pendingPayment)
  locked.request.dueAt = null
  locked.request.updatedAt = context.now
  context.wake(collectProcess, locked.request)
}

/**
 * Counts money that is in the wallet. Partial amounts add up; a surplus or a late payment stays in the wallet
 * and is marked. The caller has posted it to the ledger, and writes the request with `writePaymentRequests`.
 */
export function addRequestPayment(
  locked: LockedPaymentRequest,
  reported: ReportedPayment,
  context: PayingContext,
): RequestPaymentRow {
  const { request, pendingPayment } = locked
  const wasBegun = pendingPayment?.sourceId === reported.sourceId
  const payment = wasBegun ? pendingPayment : newPayment(request, reported, context)
  if (wasBegun) endPending(locked, payment)
  else locked.added.push(payment)
  const { amountCents, charge = null } = reported
  const share = shareOf(request, amountCents, context.now, wasBegun)
  requestPaymentMachine.move(payment, 'received')
  Object.assign(payment, { amountCents, charge, ...share, receivedAt: context.now, updatedAt: context.now })
  request.paidCents = addCents(request.paidCents, share.countedCents)
  request.surplusCents = addCents(request.surplusCents, subtractCents(amountCents, share.countedCents))
  request.updatedAt = context.now
  completeOrWait(locked, payment, context)
  const transaction = newCompletedTransaction(transactionOf(request, payment), context)
  locked.transactions.push(transaction)
  payment.transactionId = transaction.id
  return payment
}

/** Ends a failed payment. The request expires if its deadline has passed meanwhile. */
export function failRequestPayment(
  locked: LockedPaymentRequest,
  sourceId: string,
  context: PayingContext,
): void {
  const { pendingPayment } = locked
  if (pendingPayment?.sourceId !== sourceId) return
  endPending(locked, pendingPayment)
  requestPaymentMachine.move(pendingPayment, 'failed')
  pendingPayment.updatedAt = context.now
  locked.request.updatedAt = context.now
  scheduleRequestExpiry(locked, context)
}

export async function writePaymentRequests(
  sql: Sql,
  tenant: Tenant,
  locked: readonly LockedPaymentRequest[],
): Promise<void> {
  const { ownerId, mode } = tenant
  const transactions = locked.flatMap(one => one.transactions)
  const requests = locked.map(({ request }) => request)
  const added = locked.flatMap(one => one.added)
  const changed = locked.flatMap(one => one.changed)
  await Promise.all([
    insertTransactions(sql, transactions),
    updatePaymentRequests(sql, { ownerId, mode }, requests),
    insertRequestPayments(sql, added),
    updateRequestPayments(sql, { ownerId, mode }, changed),
  ])
}

const newPayment = (
  { id: requestId, walletId: own, ownerId, mode }: PaymentRequestRow,
  { way, amountCents, sourceId, walletId = own, charge }: ReportedPayment,
  { now }: PayingContext,
): RequestPaymentRow => ({
  id: newId('requestpayment'),
  ownerId,
  mode,
  createdAt: now,
  updatedAt: now,
  requestId,
  way,
  status: requestPaymentMachine.initial,
  amountCents,
  countedCents: NO_CENTS,
  surplusReason: null,
  refundedCents: NO_CENTS,
  walletId,
  sourceId,
  charge: charge ?? null,
  transactionId: null,
  receivedAt: null,
})

function endPending(locked: LockedPaymentRequest, payment: RequestPaymentRow): void {
  locked.pendingPayment = undefined
  if (!locked.added.includes(payment)) locked.changed.push(payment)
}

function completeOrWait(
  locked: LockedPaymentRequest,
  payment: RequestPaymentRow,
  context: PayingContext,
): void {
  const { request } = locked
  // Money for a refunded request pays nothing again.
  const isPaid = request.status === 'open' && request.paidCents === request.amountCents
  if (isPaid) {
    paymentRequestMachine.move(request, 'paid')
    Object.assign(request, { paidBy: payment.way, paidAt: context.now, dueAt: null })
    context.emit('claim.request.paid', paymentRequestEvent(request))
    context.wake(collectProcess, request)
  } else scheduleRequestExpiry(locked, context)
  emitShare(request, payment, isPaid, context)
}

/**
 * Schedules the deadline of an open request again, unless a payment is pending. A past deadline expires the
 * request.
 */
export function scheduleRequestExpiry(
  { request, pendingPayment }: LockedPaymentRequest,
  { now, emit, wake }: PayingContext,
): void {
  if (request.status !== 'open' || pendingPayment) return
  request.dueAt = request.expiresAt
  if (request.expiresAt <= now && paymentRequestMachine.move(request, 'expired')) {
    Object.assign(request, { dueAt: null, updatedAt: now })
    emit('claim.request.expired', paymentRequestEvent(request))
  }
  wake(collectProcess, request)
}

function emitShare(
  request: PaymentRequestRow,
  payment: RequestPaymentRow,
  isPaid: boolean,
  { emit }: PayingContext,
): void {
  const { amountCents, countedCents, surplusReason } = payment
  const data = requestPaymentEvent(request, payment)
  if (countedCents > 0n && !isPaid) emit('claim.request.partially_paid', data)
  if (surplusReason)
    emit('claim.request.surplus_received', {
      ...data,
      surplusCents: subtractCents(amountCents, countedCents),
      reason: surplusReason,
    })
}

const transactionOf = (
  { id, agentId, description }: PaymentRequestRow,
  { walletId, amountCents, sourceId, receivedAt }: RequestPaymentRow,
) => {
  const at = String(receivedAt?.toISOString())
  return {
    type: 'collect' as const,
    walletId,
    agentId,
    amountCents,
    merchant: description,
    witnesses: [
      { type: 'payment_request', id, at },
      { type: sourceId.split('_')[0] ?? '', id: sourceId, at },
    ],
  }
}

const surplusByStatus = {
  paid: 'already_paid',
  refunded: 'already_paid',
  expired: 'expired',
  cancelled: 'cancelled',
} as const satisfies Record<Exclude<PaymentRequest['status'], 'open'>, PaymentSurplusReason>

/**
 * The part of a payment that counts towards its request, and why the rest does not. A payment that began
 * before the deadline is in time, even if it ends later.
 */
function shareOf(
  request: PaymentRequestRow,
  amountCents: Cents,
  now: Date,
  wasInTime: boolean,
): Pick<RequestPaymentRow, 'countedCents' | 'surplusReason'> {
  const { status, expiresAt } = request
  if (status !== 'open')
    return { countedCents: NO_CENTS, surplusReason: surplusByStatus[status as keyof typeof surplusByStatus] }
  if (expiresAt <= now && !wasInTime) return { countedCents: NO_CENTS, surplusReason: 'expired' }
  const due = amountDueCents(request)
  return amountCents > due
    ? { countedCents: due, surplusReason: 'above_amount' }
    : { countedCents: amountCents, surplusReason: null }
}

type ExpireContext = Context<
  keyof typeof requestNotOpenRefusals,
  Pick<typeof requestPaidEvents, 'claim.request.expired'>
>

/** Checks that a request is open without a pending payment; undefined if it is. Expires an overdue request. */
export function requestNotOpenRefusal(
  locked: LockedPaymentRequest,
  context: ExpireContext,
): Refusal | undefined {
  const { sql, tenant, queueStatement, refuse } = context
  if (locked.pendingPayment) return refuse('payment_under_way')
  scheduleRequestExpiry(locked, context)
  if (locked.request.status === 'open') return undefined
  queueStatement(writePaymentRequests(sql, tenant, [locked]))
  return refuse('request_not_open', `The request is already ${locked.request.status}.`)
}
