import type { Tenant } from '../../../kernel/contract/actor.ts'
import type { Context } from '../../../kernel/contract/context.ts'
import type { Sql } from '../../../kernel/contract/sql.ts'
import {
  type cardPaymentEvents,
  refundTransaction,
  type TransactionRow,
  transactionsById,
  updateTransactions,
} from '../../../money/transactions/index.ts'
import { type LockedRequest, lockRequest, writeRequests } from '../payments.ts'
import { collectProcess } from '../process.ts'
import { receivedEuros, requestMachine } from '../request.ts'
import { type PaymentRow, paymentsById } from '../request-rows.ts'
import { refundEvent, type refundEvents } from './events.ts'
import { type RefundFailure, type RequestRefund, refundMachine } from './request-refund.ts'

/** A locked request with the payments of refunds that change, and the transactions of those payments. */
export interface Refunding {
  readonly locked: LockedRequest
  readonly payments: ReadonlyMap<string, PaymentRow>
  readonly transactions: ReadonlyMap<string, TransactionRow>
}

export type RefundContext = Pick<
  Context<never, typeof refundEvents & typeof cardPaymentEvents>,
  'tenant' | 'now' | 'emit' | 'wake'
>

/** Locks the request of these refunds; accounts and transfers are locked before. */
export async function openRefunding(
  requestId: string,
  refunds: readonly Pick<RequestRefund, 'paymentId'>[],
  { sql, tenant }: { readonly sql: Sql; readonly tenant: Tenant },
): Promise<Refunding> {
  const locked = await lockRequest(requestId, { sql, tenant })
  if (!locked) throw new Error(`${requestId}: a refund without its request`)
  const payments = await paymentsById(
    sql,
    tenant,
    refunds.map(({ paymentId }) => paymentId),
  )
  const transactionIds = [...payments.values()].flatMap(({ transactionId }) => transactionId ?? [])
  return { locked, payments, transactions: await transactionsById(sql, tenant, transactionIds) }
}

/** The money is back with who had paid. */
export function completeRefund(refund: RequestRefund, refunding: Refunding, context: RefundContext): void {
  if (!refundMachine.move(refund, 'completed')) return
  const { request } = refunding.locked
  Object.assign(refund, { completedAt: context.now, dueAt: null })
  request.refundingEuros -= refund.amountEuros
  request.refundedEuros += refund.amountEuros
  if (request.refundedEuros === receivedEuros(request)) requestMachine.move(request, 'refunded')
  changeTransaction(refund, refund.amountEuros, refunding, context)
  tell('claim.request.refunded', refund, refunding, context)
}

/** Nothing has left: it can be tried again. */
export function failRefund(
  refund: RequestRefund,
  failure: RefundFailure,
  refunding: Refunding,
  context: RefundContext,
): void {
  if (!refundMachine.move(refund, 'failed')) return
  Object.assign(refund, { failure, dueAt: null })
  refunding.locked.request.refundingEuros -= refund.amountEuros
  giveBack(refund, refunding)
  tell('claim.request.refund_failed', refund, refunding, context)
}

/** The payer’s bank has sent back what had arrived: it is in the wallet again, and the request is paid again. */
export function returnRefund(
  refund: RequestRefund,
  failure: RefundFailure,
  refunding: Refunding,
  context: RefundContext,
): void {
  if (!refundMachine.move(refund, 'returned')) return
  const { request } = refunding.locked
  refund.failure = failure
  request.refundedEuros -= refund.amountEuros
  requestMachine.move(request, 'paid')
  giveBack(refund, refunding)
  changeTransaction(refund, -refund.amountEuros, refunding, context)
  tell('claim.request.refund_failed', refund, refunding, context)
}

/** Writes request, payments and transactions. The refunds are records, which write themselves. */
export const writeRefunding = async (
  sql: Sql,
  tenant: Tenant,
  { locked, payments, transactions }: Refunding,
): Promise<void> => {
  locked.changed.push(...payments.values())
  await Promise.all([
    writeRequests(sql, tenant, [locked]),
    updateTransactions(sql, tenant, [...transactions.values()]),
  ])
}

/** What has not gone back can go back once more. */
function giveBack({ paymentId, amountEuros }: RequestRefund, { payments }: Refunding): void {
  const payment = payments.get(paymentId)
  if (payment) payment.refundedEuros -= amountEuros
}

function changeTransaction(
  { paymentId }: RequestRefund,
  amountEuros: bigint,
  { payments, transactions }: Refunding,
  { now, emit }: RefundContext,
): void {
  const transaction = transactions.get(payments.get(paymentId)?.transactionId ?? '')
  if (transaction) refundTransaction(transaction, amountEuros, now, emit)
}

function tell(
  event: 'claim.request.refunded' | 'claim.request.refund_failed',
  refund: RequestRefund,
  { locked: { request }, payments }: Refunding,
  { now, emit, wake }: RefundContext,
): void {
  request.updatedAt = now
  const payment = payments.get(refund.paymentId)
  if (payment) payment.updatedAt = now
  emit(event, refundEvent(request, refund))
  wake(collectProcess, request)
}
