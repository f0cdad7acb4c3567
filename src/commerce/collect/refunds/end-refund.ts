import type { z } from 'zod'
import type { Tenant, TenantNow } from '../../../kernel/contract/actor.ts'
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
import { TransferEvent } from '../../transfers/index.ts'
import { type LockedRequest, lockRequest, writeRequests } from '../payments.ts'
import { collectProcess } from '../process.ts'
import { receivedEuros, requestMachine } from '../request.ts'
import { type PaymentRow, paymentsById } from '../request-rows.ts'
import { recordedEvents, refundEvent, refundEvents } from './api.ts'

/** A locked request with the payments of refunds that change, and the transactions of those payments. */
export interface Refunding {
  readonly locked: LockedRequest
  readonly payments: ReadonlyMap<string, PaymentRow>
  readonly transactions: ReadonlyMap<string, TransactionRow>
  readonly refunds: Refunds
}

export type RefundContext = Pick<
  Context<never, typeof refundEvents & typeof recordedEvents>,
  'tenant' | 'now' | 'emit' | 'wake'
>

/** Locks the request of these refunds; accounts and transfers are locked before. */
export async function openRefunding(
  requestId: string,
  refundIds: readonly string[],
  context: TenantNow & { readonly sql: Sql },
): Promise<Refunding> {
  const { sql, tenant, now } = context
  const locked = await lockRequest(requestId, { sql, tenant })
  if (!locked) throw new Error(`${requestId}: a refund without its request`)
  const refunds = await openRefunds(sql, { tenant, now }, { ids: refundIds })
  const rows = refundIds.flatMap(id => refunds.find(id) ?? [])
  const [payments, transactions] = await Promise.all([
    paymentsById(
      sql,
      tenant,
      rows.flatMap(({ paymentId }) => paymentId ?? []),
    ),
    transactionsById(
      sql,
      tenant,
      rows.flatMap(({ transactionId }) => transactionId ?? []),
    ),
  ])
  return { locked, payments, transactions, refunds }
}

/** The money is back with who had paid. */
export function completeRefund(refund: RefundRow, refunding: Refunding, context: RefundContext): void {
  const { locked, refunds } = refunding
  if (!refunds.complete(refund, transactionOf(refund, refunding), null, context.emit)) return
  const { request } = locked
  request.refundingEuros -= refund.amountEuros
  request.refundedEuros += refund.amountEuros
  if (request.refundedEuros === receivedEuros(request)) requestMachine.move(request, 'refunded')
  tell('claim.request.refunded', refund, refunding, context)
}

/** Nothing has left: it can be tried again. */
export function failRefund(
  refund: RefundRow,
  failure: RefundFailure,
  refunding: Refunding,
  context: RefundContext,
): void {
  if (!refunding.refunds.fail(refund, failure, context.emit)) return
  refunding.locked.request.refundingEuros -= refund.amountEuros
  giveBack(refund, refunding)
  tell('claim.request.refund_failed', refund, refunding, context)
}

/** The payer’s bank has sent back what had arrived: it is in the wallet again, and the request is paid again. */
function reverseRefund(
  refund: RefundRow,
  failure: RefundFailure,
  refunding: Refunding,
  context: RefundContext,
): void {
  const { locked, refunds } = refunding
  if (!refunds.reverse(refund, transactionOf(refund, refunding), failure, context.emit)) return
  const { request } = locked
  request.refundedEuros -= refund.amountEuros
  requestMachine.move(request, 'paid')
  giveBack(refund, refunding)
  tell('claim.request.refund_failed', refund, refunding, context)
}

/** Writes the request, its payments, their transactions and refunds. */
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

/** Makes the failed amount refundable again. */
function giveBack({ paymentId, amountEuros }: RefundRow, { payments }: Refunding): void {
  const payment = payments.get(paymentId ?? '')
  if (payment) payment.refundedEuros -= amountEuros
}

const transactionOf = (
  { transactionId }: RefundRow,
  { transactions }: Refunding,
): TransactionRow | undefined => transactions.get(transactionId ?? '')

function tell(
  event: 'claim.request.refunded' | 'claim.request.refund_failed',
  refund: RefundRow,
  { locked: { request }, payments }: Refunding,
  { now, emit, wake }: RefundContext,
): void {
  request.updatedAt = now
  const payment = payments.get(refund.paymentId ?? '')
  if (payment) payment.updatedAt = now
  emit(event, refundEvent(request, refund))
  wake(collectProcess, request)
}

type Transferred = z.output<typeof TransferEvent>
type Reacting = Context<never, typeof refundEvents & typeof recordedEvents>
type Move = typeof failRefund

/** Only money that goes back to its sender has no payee of the owner's: all other transfers cost nothing here. */
const goesBack = ({ toWalletId, beneficiaryId }: Readonly<Record<string, unknown>>): boolean =>
  toWalletId === null && beneficiaryId === null

/** The refund follows the transfer that takes it back. */
async function follow(events: readonly Transferred[], move: Move, context: Reacting): Promise<void> {
  const { sql, tenant, sendAlong } = context
  const transfers = new Map(events.map(event => [event.transferId, event]))
  for (const known of await refundsOfTransfers(sql, tenant, [...transfers.keys()])) {
    const { status, reason } = transfers.get(known.transferId ?? '') ?? {}
    const refunding = await openRefunding(known.requestId ?? '', [known.id], context)
    const refund = refunding.refunds.find(known.id)
    if (!refund || !status) continue
    move(refund, { code: status, message: reason ?? `The transfer was ${status}.` }, refunding, context)
    sendAlong(writeRefunding(sql, tenant, refunding))
  }
}

const followed = (move: Move): Reaction => ({
  ...reactionToAll(TransferEvent, { ...refundEvents, ...recordedEvents }, (events, context) =>
    follow(events, move, context),
  ),
  concerns: goesBack,
})

export const refundReactions = {
  'transfer.completed': followed((refund, _failure, ...rest) => completeRefund(refund, ...rest)),
  'transfer.failed': followed(failRefund),
  'transfer.returned': followed(reverseRefund),
}
