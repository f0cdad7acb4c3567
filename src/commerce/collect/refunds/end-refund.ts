import type { z } from 'zod'
import type { Tenant } from '../../../kernel/contract/actor.ts'
import { type Reaction, reactionToAll } from '../../../kernel/contract/area.ts'
import type { ReadContext, WriteContext } from '../../../kernel/contract/context.ts'
import type { Sql } from '../../../kernel/contract/sql.ts'
import {
  loadRefundBook,
  type RefundBook,
  type RefundFailure,
  type RefundRow,
  refundsOfTransfers,
} from '../../../money/refunds/index.ts'
import {
  type TransactionRow,
  transactionsById,
  updateTransactions,
} from '../../../money/transactions/index.ts'
import { addCents, subtractCents } from '../../../values/money.ts'
import { TransferEvent } from '../../transfers/index.ts'
import { type LockedPaymentRequest, lockPaymentRequest, writePaymentRequests } from '../payments.ts'
import { collectProcess } from '../process.ts'
import {
  paymentRequestMachine,
  type RequestPaymentRow,
  requestPaymentsById,
  totalReceivedCents,
} from '../request.ts'
import { refundRecordedEvents, requestRefundEvent, requestRefundEvents } from './api.ts'

export interface LockedRequestRefunds {
  readonly locked: LockedPaymentRequest
  readonly payments: ReadonlyMap<string, RequestPaymentRow>
  readonly transactions: ReadonlyMap<string, TransactionRow>
  readonly refunds: RefundBook
}

const emitted = { ...requestRefundEvents, ...refundRecordedEvents }
export type RequestRefundContext = WriteContext<typeof emitted>

interface NamedRefunds extends Pick<Parameters<typeof loadRefundBook>[2], 'ids' | 'sources'> {
  /** A payment that may not have a refund yet. */
  readonly payment?: Pick<RequestPaymentRow, 'id' | 'transactionId'>
}

/** Locks the request of these refunds. The caller has locked accounts and transfers. */
export async function lockRequestRefunds(
  requestId: string,
  { payment, ...named }: NamedRefunds,
  { sql, tenant, now }: ReadContext,
): Promise<LockedRequestRefunds> {
  const locked = await lockPaymentRequest(requestId, { sql, tenant })
  if (!locked) throw new Error(`${requestId}: a refund without its request`)
  const refunds = await loadRefundBook(sql, { tenant, now }, named)
  const rows = (named.ids ?? []).flatMap(id => refunds.find(id) ?? [])
  const paymentIds = [payment?.id, ...rows.map(({ paymentId }) => paymentId)].flatMap(id => id ?? [])
  const of = [payment, ...rows]
  const transactionIds = of.flatMap(one => one?.transactionId ?? [])
  const [payments, transactions] = await Promise.all([
    requestPaymentsById(sql, tenant, paymentIds),
    transactionsById(sql, tenant, transactionIds),
  ])
  return { locked, payments, transactions, refunds }
}

/**
 * Ends a refund: the payer has the money, or it never left the wallet, or the payer's bank returned it. A
 * failed amount becomes refundable again. Does nothing if the refund has already ended.
 */
export function recordRequestRefundEnd(
  refund: RefundRow,
  ending: 'completed' | RefundFailure,
  { locked: { request }, payments, transactions, refunds }: LockedRequestRefunds,
  { now, emit, wake }: RequestRefundContext,
): void {
  const { amountCents, status: before } = refund
  const payment = payments.get(refund.paymentId ?? '')
  const transaction = transactions.get(refund.transactionId ?? '')
  if (ending === 'completed') {
    if (!refunds.complete(refund, transaction, null, emit)) return
    request.refundedCents = addCents(request.refundedCents, amountCents)
    if (request.refundedCents === totalReceivedCents(request)) paymentRequestMachine.move(request, 'refunded')
  } else {
    const hasFailed = refunds.fail(refund, ending, emit) || refunds.reverse(refund, transaction, ending, emit)
    if (!hasFailed) return
    if (payment) payment.refundedCents = subtractCents(payment.refundedCents, amountCents)
    if (before === 'completed') {
      request.refundedCents = subtractCents(request.refundedCents, amountCents)
      paymentRequestMachine.move(request, 'paid')
    }
  }
  if (before === 'pending') request.refundingCents = subtractCents(request.refundingCents, amountCents)
  request.updatedAt = now
  if (payment) payment.updatedAt = now
  const event = ending === 'completed' ? 'claim.request.refunded' : 'claim.request.refund_failed'
  emit(event, requestRefundEvent(request, refund))
  wake(collectProcess, request)
}

export const writeRequestRefunds = async (
  sql: Sql,
  tenant: Tenant,
  { locked, payments, transactions, refunds }: LockedRequestRefunds,
): Promise<void> => {
  locked.changed.push(...payments.values())
  await Promise.all([
    writePaymentRequests(sql, tenant, [locked]),
    updateTransactions(sql, tenant, [...transactions.values()]),
    refunds.write(sql),
  ])
}

async function follow(
  events: readonly z.output<typeof TransferEvent>[],
  context: RequestRefundContext,
): Promise<void> {
  const { sql, tenant, queueStatement } = context
  const transfers = new Map(events.map(event => [event.transferId, event]))
  for (const known of await refundsOfTransfers(sql, tenant, [...transfers.keys()])) {
    const { status, reason } = transfers.get(known.transferId ?? '') ?? {}
    const refunding = await lockRequestRefunds(known.requestId ?? '', { ids: [known.id] }, context)
    const refund = refunding.refunds.find(known.id)
    if (!refund || !status) continue
    const failure = { code: status, message: reason ?? `The transfer was ${status}.` }
    recordRequestRefundEnd(refund, status === 'completed' ? status : failure, refunding, context)
    queueStatement(writeRequestRefunds(sql, tenant, refunding))
  }
}

const followTransfer: Reaction = {
  ...reactionToAll(TransferEvent, emitted, follow),
  // Only a refund to its sender lacks a wallet and a beneficiary, so all other transfers cost nothing here.
  concerns: ({ toWalletId, beneficiaryId }) => toWalletId === null && beneficiaryId === null,
}

export const requestRefundReactions = {
  'transfer.completed': followTransfer,
  'transfer.failed': followTransfer,
  'transfer.returned': followTransfer,
}
