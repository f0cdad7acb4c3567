import type { z } from 'zod'
import { SpendLocks } from '../../control/intents/index.ts'
import type { Tenant, TenantNow } from '../../kernel/contract/actor.ts'
import { type Reaction, reactionToAll } from '../../kernel/contract/area.ts'
import type { SqlContext, WriteContext } from '../../kernel/contract/context.ts'
import type { Sql } from '../../kernel/contract/sql.ts'
import type { BookAccounts, LockedBook } from '../../money/ledger/index.ts'
import {
  loadRefundBook,
  type RefundBook,
  type RefundFailure,
  type RefundRow,
  refundArrivedEvents,
  refundStatusEvents,
  refundsById,
  refundsOfTransfers,
} from '../../money/refunds/index.ts'
import { lockTransactions, type TransactionRow, updateTransactions } from '../../money/transactions/index.ts'
import { addCents, minOf, remainderOf, subtractCents } from '../../values/money.ts'
import {
  type LockedPaymentRequest,
  lockPaymentRequests,
  paymentRequestMachine,
  type RequestPaymentRow,
  requestPaymentsById,
  totalReceivedCents,
  writePaymentRequests,
} from '../payment-requests/index.ts'
import { collectProcess } from '../payment-requests/process.ts'
import { TransferEvent } from '../transfers/index.ts'
import { requestRefundEvent, requestRefundEvents } from './api.ts'

export interface LockedRefunds {
  readonly book: LockedBook
  readonly refunds: RefundBook
  readonly transactions: ReadonlyMap<string, TransactionRow>
  /** Empty for refunds that are of no payment request. */
  readonly requests: ReadonlyMap<string, LockedPaymentRequest>
  readonly payments: ReadonlyMap<string, RequestPaymentRow>
}

interface RefundsToLock extends Pick<Parameters<typeof loadRefundBook>[2], 'sources'> {
  readonly ids: readonly string[]
  /** A payment of a request that may not have a refund yet. */
  readonly payment?: Pick<RequestPaymentRow, 'id' | 'requestId' | 'transactionId'>
  readonly accounts?: Partial<BookAccounts>
}

/**
 * Locks the agents of these refunds, accounts, and their requests and payments, which never change, and then reads what they
 * guard. A caller that changes transfers has locked them.
 */
export async function lockRefunds(
  { ids, sources, payment, accounts = {} }: RefundsToLock,
  { sql, tenant, now }: SqlContext & TenantNow,
): Promise<LockedRefunds> {
  const known = [...(await refundsById(sql, tenant, ids)).values()]
  const named = payment ? [...known, { ...payment, paymentId: payment.id }] : known
  // Card payments change under the lock of their agent; those of a request under that of the request.
  const agentIds = known.flatMap(({ requestId, agentId }) => (requestId === null && agentId ? [agentId] : []))
  const requestIds = named.flatMap(({ requestId }) => requestId ?? [])
  const transactionIds = named.flatMap(({ transactionId }) => transactionId ?? [])
  const paymentIds = named.flatMap(({ paymentId }) => paymentId ?? [])
  const locks = new SpendLocks(sql, { tenant, now })
  const [, { book }, requests, transactions, payments, refunds] = await Promise.all([
    locks.agents(agentIds),
    locks.take(accounts),
    lockPaymentRequests(sql, tenant, requestIds),
    lockTransactions(sql, tenant, transactionIds),
    requestPaymentsById(sql, tenant, paymentIds),
    loadRefundBook(sql, { tenant, now }, { ids, sources }),
  ])
  return { book, refunds, transactions, requests, payments }
}

function refundedOf({ id, requestId, paymentId }: RefundRow, { requests, payments }: LockedRefunds) {
  const { request } = requests.get(requestId ?? '') ?? {}
  const payment = payments.get(paymentId ?? '')
  if (!request || !payment) throw new Error(`${id}: a refund without its request or payment`)
  return { request, payment }
}

/** Counts a refund of a request that begins: this amount of the payment is no longer refundable. */
export function countRequestRefund(refund: RefundRow, locked: LockedRefunds, { now }: TenantNow): void {
  const { request, payment } = refundedOf(refund, locked)
  const refundingCents = addCents(request.refundingCents, refund.amountCents)
  const refundedCents = addCents(payment.refundedCents, refund.amountCents)
  Object.assign(request, { refundingCents, updatedAt: now })
  Object.assign(payment, { refundedCents, updatedAt: now })
}

const emitted = { ...requestRefundEvents, ...refundStatusEvents, ...refundArrivedEvents }
export type RequestRefundContext = WriteContext<typeof emitted>

/**
 * Counts a failed refund again, which the payer has got all the same. If the payment has been refunded again meanwhile, only
 * what is left of it counts: the payer has the rest twice.
 */
function reopenRequestRefund(refund: RefundRow, locked: LockedRefunds, context: TenantNow): void {
  const { amountCents, refundedCents } = refundedOf(refund, locked).payment
  const part = minOf(refund.amountCents, remainderOf(amountCents, refundedCents))
  if (part > 0n && locked.refunds.reopen(refund, part)) countRequestRefund(refund, locked, context)
}

/**
 * Ends a refund of a request: the payer has the money, or it never left the wallet, or the payer's bank returned it. A
 * failed amount becomes refundable again. Does nothing if the refund has already ended.
 */
export function endRequestRefund(
  refund: RefundRow,
  ending: 'completed' | RefundFailure,
  locked: LockedRefunds,
  { now, emit, wake }: RequestRefundContext,
): void {
  const { refunds, transactions } = locked
  const { amountCents, status: before } = refund
  const { request, payment } = refundedOf(refund, locked)
  const transaction = transactions.get(refund.transactionId ?? '')
  if (ending === 'completed') {
    if (!refunds.complete(refund, transaction, null, emit)) return
    request.refundedCents = addCents(request.refundedCents, amountCents)
    if (request.refundedCents === totalReceivedCents(request)) paymentRequestMachine.move(request, 'refunded')
  } else {
    if (!refunds.reverse(refund, transaction, ending, emit)) return
    payment.refundedCents = subtractCents(payment.refundedCents, amountCents)
    if (before === 'completed') {
      request.refundedCents = subtractCents(request.refundedCents, amountCents)
      paymentRequestMachine.move(request, 'paid')
    }
  }
  if (before === 'pending') request.refundingCents = subtractCents(request.refundingCents, amountCents)
  for (const record of [request, payment]) record.updatedAt = now
  const event = ending === 'completed' ? 'claim.request.refunded' : 'claim.request.refund_failed'
  emit(event, requestRefundEvent(request, refund))
  wake(collectProcess, request)
}

export async function writeRefunds(
  sql: Sql,
  tenant: Tenant,
  { refunds, transactions, requests, payments }: LockedRefunds,
): Promise<void> {
  for (const payment of payments.values()) requests.get(payment.requestId)?.changed.push(payment)
  await Promise.all([
    writePaymentRequests(sql, tenant, [...requests.values()]),
    updateTransactions(sql, tenant, [...transactions.values()]),
    refunds.write(sql),
  ])
}

/** A refund by SEPA ends as the transfer does that returns the money. */
async function endWithTransfers(
  events: readonly z.output<typeof TransferEvent>[],
  context: RequestRefundContext,
): Promise<void> {
  const { sql, tenant, queueStatement } = context
  const transfers = new Map(events.map(event => [event.transferId, event]))
  const known = await refundsOfTransfers(sql, tenant, [...transfers.keys()])
  if (known.length === 0) return
  const locked = await lockRefunds({ ids: known.map(({ id }) => id) }, context)
  for (const { id, transferId } of known) {
    const refund = locked.refunds.find(id)
    const { status, reason } = transfers.get(transferId ?? '') ?? {}
    if (!refund || !status) continue
    if (status === 'completed') reopenRequestRefund(refund, locked, context)
    const failure = { code: status, message: reason ?? `The transfer was ${status}.` }
    endRequestRefund(refund, status === 'completed' ? status : failure, locked, context)
  }
  queueStatement(writeRefunds(sql, tenant, locked))
}

const followTransfer: Reaction = {
  ...reactionToAll(TransferEvent, emitted, endWithTransfers),
  // Only a refund to its sender lacks a wallet and a beneficiary, so all other transfers cost nothing here.
  concerns: ({ toWalletId, beneficiaryId }) => toWalletId === null && beneficiaryId === null,
}

export const requestRefundReactions = {
  'transfer.completed': followTransfer,
  'transfer.failed': followTransfer,
  'transfer.returned': followTransfer,
}
