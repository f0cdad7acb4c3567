import type { Tenant, TenantNow } from '../../../kernel/contract/actor.ts'
import type { Context } from '../../../kernel/contract/context.ts'
import type { Sql } from '../../../kernel/contract/sql.ts'
import { openRefunds, type RefundRow, type Refunds } from '../../../money/refunds/index.ts'
import {
  type TransactionRow,
  transactionsById,
  updateTransactions,
} from '../../../money/transactions/index.ts'
import { type LockedRequest, lockRequest, writeRequests } from '../payments.ts'
import { collectProcess } from '../process.ts'
import { receivedEuros, requestMachine } from '../request.ts'
import { type PaymentRow, paymentsById } from '../request-rows.ts'
import { type recordedEvents, refundEvent, type refundEvents } from './events.ts'
import {
  REFUND_SOURCE,
  type RefundFailure,
  type RequestRefund,
  recordIdOf,
  refundMachine,
} from './request-refund.ts'

/** A locked request with the payments of refunds that change, and the transactions of those payments. */
export interface Refunding {
  readonly locked: LockedRequest
  readonly payments: ReadonlyMap<string, PaymentRow>
  readonly transactions: ReadonlyMap<string, TransactionRow>
  /** What has gone back of those transactions, and what is to: a record for each refund, as of every payment. */
  readonly refunds: Refunds
}

export type RefundContext = Pick<
  Context<never, typeof refundEvents & typeof recordedEvents>,
  'tenant' | 'now' | 'emit' | 'wake'
>

/** Locks the request of these refunds; accounts and transfers are locked before. */
export async function openRefunding(
  requestId: string,
  refunds: readonly Pick<RequestRefund, 'id' | 'paymentId'>[],
  context: TenantNow & { readonly sql: Sql },
): Promise<Refunding> {
  const { sql, tenant } = context
  const locked = await lockRequest(requestId, { sql, tenant })
  if (!locked) throw new Error(`${requestId}: a refund without its request`)
  const payments = await paymentsById(
    sql,
    tenant,
    refunds.map(({ paymentId }) => paymentId),
  )
  return { locked, payments, ...(await openRecords(payments, refunds, context)) }
}

/** The transactions of these payments, and the records of these refunds. */
export async function openRecords(
  payments: ReadonlyMap<string, PaymentRow>,
  refunds: readonly Pick<RequestRefund, 'id'>[],
  { sql, tenant, now }: TenantNow & { readonly sql: Sql },
): Promise<Pick<Refunding, 'transactions' | 'refunds'>> {
  const transactionIds = [...payments.values()].flatMap(({ transactionId }) => transactionId ?? [])
  const sources = { type: REFUND_SOURCE, ids: refunds.map(({ id }) => id) }
  const [transactions, opened] = await Promise.all([
    transactionsById(sql, tenant, transactionIds),
    openRefunds(sql, { tenant, now }, { sources }),
  ])
  return { transactions, refunds: opened }
}

/** The money is back with who had paid. */
export function completeRefund(refund: RequestRefund, refunding: Refunding, context: RefundContext): void {
  if (!refundMachine.move(refund, 'completed')) return
  const { request } = refunding.locked
  Object.assign(refund, { completedAt: context.now, dueAt: null })
  request.refundingEuros -= refund.amountEuros
  request.refundedEuros += refund.amountEuros
  if (request.refundedEuros === receivedEuros(request)) requestMachine.move(request, 'refunded')
  const [record, transaction] = recordOf(refund, refunding)
  if (record && transaction) refunding.refunds.settle(record, transaction, null, context.emit)
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
  const [record] = recordOf(refund, refunding)
  if (record) refunding.refunds.fail(record, failure, context.emit)
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
  const [record, transaction] = recordOf(refund, refunding)
  if (record && transaction) refunding.refunds.returned(record, transaction, failure, context.emit)
  tell('claim.request.refund_failed', refund, refunding, context)
}

/** Writes request, payments, transactions and the records of what goes back. The refunds are records, which write themselves. */
export const writeRefunding = async (
  sql: Sql,
  tenant: Tenant,
  { locked, payments, transactions, refunds }: Refunding,
): Promise<void> => {
  locked.changed.push(...payments.values())
  await Promise.all([
    writeRequests(sql, tenant, [locked]),
    updateTransactions(sql, tenant, [...transactions.values()]),
    refunds.write(sql),
  ])
}

/** What has not gone back can go back once more. */
function giveBack({ paymentId, amountEuros }: RequestRefund, { payments }: Refunding): void {
  const payment = payments.get(paymentId)
  if (payment) payment.refundedEuros -= amountEuros
}

const recordOf = (
  refund: RequestRefund,
  { payments, transactions, refunds }: Refunding,
): readonly [RefundRow | undefined, TransactionRow | undefined] => [
  refunds.find(recordIdOf(refund)),
  transactions.get(payments.get(refund.paymentId)?.transactionId ?? ''),
]

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
