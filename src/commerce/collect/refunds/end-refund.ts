import type { z } from 'zod'
import type { Tenant } from '../../../kernel/contract/actor.ts'
import { type Reaction, reactionToAll } from '../../../kernel/contract/area.ts'
import type { Context } from '../../../kernel/contract/context.ts'
import type { Sql } from '../../../kernel/contract/sql.ts'
import {
  openRefunds,
  type RefundFailure,
  type RefundRow,
  type Refunds,
  refundsOfTransfers,
} from '../../../money/refunds/index.ts'
import {
  type TransactionRow,
  transactionsById,
  updateTransactions,
} from '../../../money/transactions/index.ts'
import { minus, plus } from '../../../values/money.ts'
import { TransferEvent } from '../../transfers/index.ts'
import { type LockedRequest, lockRequest, writeRequests } from '../payments.ts'
import { collectProcess } from '../process.ts'
import { type PaymentRow, paymentsById, receivedCents, requestMachine } from '../request.ts'
import { recordedEvents, refundEvent, refundEvents } from './api.ts'

export interface Refunding {
  readonly locked: LockedRequest
  readonly payments: ReadonlyMap<string, PaymentRow>
  readonly transactions: ReadonlyMap<string, TransactionRow>
  readonly refunds: Refunds
}

const emitted = { ...refundEvents, ...recordedEvents }
export type RefundContext = Context<never, typeof emitted>

/** Locks the request of these refunds. The caller has locked accounts and transfers. */
export async function openRefunding(
  requestId: string,
  refundIds: readonly string[],
  { sql, tenant, now }: Pick<Context, 'sql' | 'tenant' | 'now'>,
): Promise<Refunding> {
  const locked = await lockRequest(requestId, { sql, tenant })
  if (!locked) throw new Error(`${requestId}: a refund without its request`)
  const refunds = await openRefunds(sql, { tenant, now }, { ids: refundIds })
  const rows = refundIds.flatMap(id => refunds.find(id) ?? [])
  const paymentIds = rows.flatMap(({ paymentId }) => paymentId ?? [])
  const transactionIds = rows.flatMap(({ transactionId }) => transactionId ?? [])
  const [payments, transactions] = await Promise.all([
    paymentsById(sql, tenant, paymentIds),
    transactionsById(sql, tenant, transactionIds),
  ])
  return { locked, payments, transactions, refunds }
}

/**
 * Ends a refund: the payer has the money, or it never left the wallet, or the payer's bank returned it. A
 * failed amount becomes refundable again. Does nothing if the refund has already ended.
 */
export function endRefund(
  refund: RefundRow,
  ending: 'completed' | RefundFailure,
  { locked: { request }, payments, transactions, refunds }: Refunding,
  { now, emit, wake }: Pick<RefundContext, 'now' | 'emit' | 'wake'>,
): void {
  const { amountCents, status: before } = refund
  const payment = payments.get(refund.paymentId ?? '')
  const transaction = transactions.get(refund.transactionId ?? '')
  if (ending === 'completed') {
    if (!refunds.complete(refund, transaction, null, emit)) return
    request.refundedCents = plus(request.refundedCents, amountCents)
    if (request.refundedCents === receivedCents(request)) requestMachine.move(request, 'refunded')
  } else {
    const hasFailed = refunds.fail(refund, ending, emit) || refunds.reverse(refund, transaction, ending, emit)
    if (!hasFailed) return
    if (payment) payment.refundedCents = minus(payment.refundedCents, amountCents)
    if (before === 'completed') {
      request.refundedCents = minus(request.refundedCents, amountCents)
      requestMachine.move(request, 'paid')
    }
  }
  if (before === 'pending') request.refundingCents = minus(request.refundingCents, amountCents)
  request.updatedAt = now
  if (payment) payment.updatedAt = now
  const event = ending === 'completed' ? 'claim.request.refunded' : 'claim.request.refund_failed'
  emit(event, refundEvent(request, refund))
  wake(collectProcess, request)
}

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

async function follow(
  events: readonly z.output<typeof TransferEvent>[],
  context: RefundContext,
): Promise<void> {
  const { sql, tenant, queueStatement } = context
  const transfers = new Map(events.map(event => [event.transferId, event]))
  for (const known of await refundsOfTransfers(sql, tenant, [...transfers.keys()])) {
    const { status, reason } = transfers.get(known.transferId ?? '') ?? {}
    const refunding = await openRefunding(known.requestId ?? '', [known.id], context)
    const refund = refunding.refunds.find(known.id)
    if (!refund || !status) continue
    const failure = { code: status, message: reason ?? `The transfer was ${status}.` }
    endRefund(refund, status === 'completed' ? status : failure, refunding, context)
    queueStatement(writeRefunding(sql, tenant, refunding))
  }
}

const followTransfer: Reaction = {
  ...reactionToAll(TransferEvent, emitted, follow),
  // Only a refund to its sender lacks a wallet and a beneficiary, so all other transfers cost nothing here.
  concerns: ({ toWalletId, beneficiaryId }) => toWalletId === null && beneficiaryId === null,
}

export const refundReactions = {
  'transfer.completed': followTransfer,
  'transfer.failed': followTransfer,
  'transfer.returned': followTransfer,
}
