import { CallExternal, type Item, type Verdict } from '../../kernel/contract/handlers.ts'
import type { ContextOf, InputOf } from '../../kernel/contract/operation.ts'
import { Problem } from '../../kernel/contract/problem.ts'
import { workflowIdOf } from '../../kernel/contract/process.ts'
import { shortfallText } from '../../money/ledger/index.ts'
import { leftToRefund, type RefundRow } from '../../money/refunds/index.ts'
import type { TransactionRow } from '../../money/transactions/index.ts'
import type { WalletRow } from '../../money/wallets/index.ts'
import { after, days } from '../../values/clock.ts'
import { newId } from '../../values/ids.ts'
import { type Euros, formatEuros } from '../../values/money.ts'
import { type refundsApi, WAIT_DAYS } from './api.ts'
import type { AskedOfRequest } from './of-request.ts'
import { intentCause, type PaidBy, type RefundBatch } from './open-batch.ts'
import { refundProcess } from './process.ts'
import { askAgainAt, pushOf } from './push.ts'
import { refundResponse } from './schemas.ts'

type Creates = typeof refundsApi.create
export type CreateItem = Item<InputOf<Creates>>
export type CreateCode = Parameters<ContextOf<Creates>['refuse']>[0]
export type CreateVerdict = Verdict<CreateCode, Creates['emits']>

/** One refund that is asked for, of a payment that is there. */
interface Asked {
  readonly item: CreateItem
  readonly transaction: TransactionRow
  readonly paid: PaidBy
  readonly amountEuros: Euros
}

/** Decides one after another: each sees what those before it have taken of the payment. */
export function decide(item: CreateItem, batch: RefundBatch, verdict: CreateVerdict) {
  const { transactionId, amountEuros } = item.input.body
  const paid = batch.paidBy.get(transactionId)
  const transaction = batch.transactions.get(transactionId)
  if (!paid || !transaction) return verdict.refuse('transaction_not_found')
  const problem = whyNotRefundable(transaction, paid)
  if (problem) return verdict.refuse(...problem)
  if (transaction.type === 'collect') return ofRequest(item, transaction, verdict)
  const left = leftToRefund(transaction, batch.refunds.awaitedEuros(transactionId))
  const amount = amountEuros ?? left
  if (left === 0n) return verdict.refuse('nothing_to_refund')
  if (amount > left) return verdict.refuse('refund_above_payment', aboveText(transaction, left))
  const asked = { item, transaction, paid, amountEuros: amount }
  return transaction.type === 'transfer'
    ? giveBack(asked, batch, verdict)
    : askMerchant(asked, batch, verdict)
}

type Blocker = readonly [
  code: 'transaction_not_completed' | 'not_refundable' | 'recall_it' | 'payee_refunds' | 'nothing_to_refund',
  message?: string,
]

/** Why nothing can be asked back of a payment, whatever the amount; undefined if something can. */
function whyNotRefundable(
  { type, status }: TransactionRow,
  { kind, creditId, transferId }: PaidBy,
): Blocker | undefined {
  if (type === 'fee' || type === 'refund')
    return ['not_refundable', `transactionId: this is a ${type}, which is not refunded.`]
  if (kind === 'sepa')
    return [
      'recall_it',
      `transactionId: it was paid by SEPA. Ask for it back by POST /transfers/${transferId}/recall.`,
    ]
  if (creditId !== null) return ['payee_refunds']
  if (status === 'refunded') return ['nothing_to_refund']
  return status === 'completed'
    ? undefined
    : [
        'transaction_not_completed',
        `transactionId: the payment is in ${status}, not completed: nothing of it can come back.`,
      ]
}

/** What is left, and where the rest of the payment is. */
function aboveText({ amountEuros, refundedEuros, disputedEuros }: TransactionRow, left: Euros): string {
  const awaited = amountEuros - refundedEuros - disputedEuros - left
  const parts = [
    [refundedEuros, 'is back'],
    [awaited, 'is awaited'],
    [disputedEuros, 'is disputed'],
  ] as const
  const words = parts.flatMap(([euros, what]) => (euros > 0n ? [`${formatEuros(euros)} ${what}`] : []))
  const rest = words.length > 0 ? ` (${words.join(', ')})` : ''
  return `amountEuros: ${formatEuros(left)} of the payment of ${formatEuros(amountEuros)} can come back at most${rest}.`
}

/** What was paid to a request goes back with the locks of that request: by its own steps. */
function ofRequest(item: CreateItem, { id, witnesses }: TransactionRow, { refuse }: CreateVerdict) {
  const { amountEuros, reason, note } = item.input.body
  const [request, source] = witnesses
  if (request?.type !== 'payment_request' || !source)
    return refuse(
      'payee_refunds',
      'transactionId: it came by a payment token. Pay it back by POST /transfers.',
    )
  const cents = amountEuros === undefined ? null : String(amountEuros)
  const asked: AskedOfRequest = {
    transactionId: id,
    requestId: request.id,
    sourceId: source.id,
    cents,
    reason,
    note,
  }
  return new CallExternal({ asked })
}

/** Between two wallets of the owner the money is back at once. */
function giveBack(
  { item, transaction, paid, amountEuros }: Asked,
  batch: RefundBatch,
  verdict: CreateVerdict,
) {
  const { emit, refuse } = verdict
  const { book, wallets, refunds, counters, changed } = batch
  const payee = wallets.get(paid.toWalletId ?? '')
  if (!payee || payee.status === 'closed')
    return refuse(
      'wallet_closed',
      'The wallet that was paid is closed. Pay it back from another one by POST /transfers.',
    )
  if (payee.status === 'frozen')
    return refuse('wallet_frozen', 'The wallet that was paid is frozen: nothing leaves it.')
  if (!book.canPay(payee.id, amountEuros))
    return refuse('insufficient_funds', shortfallText(amountEuros, book.available(payee.id)))
  const id = newId('refund')
  const { reason, note } = item.input.body
  const row = refunds.ask(transaction, { id, way: 'wallet', amountEuros, reason, note }, emit)
  const walletId = placeFor(transaction.walletId, batch)
  moveBack(payee, walletId, row, batch)
  refunds.settle(row, transaction, walletId, emit)
  if (transaction.intentId) counters?.giveBack(intentCause(transaction.intentId), amountEuros)
  changed.add(transaction)
  return refundResponse(row)
}

/** The wallet that had paid, or the owner's where that is closed; null where there is none. */
function placeFor(
  walletId: string,
  { wallets, ownersWalletId, isAnyPayerClosed }: RefundBatch,
): string | null {
  const isOpen = (id: string | undefined): id is string =>
    id !== undefined && (wallets.get(id)?.status ?? 'closed') !== 'closed'
  const place = [walletId, ownersWalletId].find(isOpen) ?? null
  // It was closed between the reading and the lock: where its money goes is known at the next try.
  if (place === null && !isAnyPayerClosed) throw new Problem('busy')
  return place
}

/** Where the owner's wallet has been paid, and the one that had paid is closed, the money is at its place already. */
function moveBack(
  { id: from }: WalletRow,
  to: string | null,
  { id, amountEuros }: RefundRow,
  { book }: RefundBatch,
): void {
  const cause = { type: 'refund', id }
  if (to === null) book.move('transfer_refund_unmatched', from, 'suspense', amountEuros, cause)
  else if (to !== from) book.move('transfer_refund', from, to, amountEuros, cause)
}

/** Only the merchant can send the money: it is waited for, and the processor asks for it where it can. */
function askMerchant(
  { item, transaction, amountEuros }: Asked,
  { refunds, pushable }: RefundBatch,
  verdict: CreateVerdict,
) {
  const { reason, note } = item.input.body
  const id = newId('refund')
  const payment = pushable.get(transaction.id)
  const waiting = {
    dueAt: after(item.now, days(WAIT_DAYS)),
    ...(payment ? { attempts: 1, askDueAt: askAgainAt(item.now, 1) } : {}),
    workflowId: workflowIdOf(refundProcess, id),
  }
  const row = refunds.ask(
    transaction,
    { id, way: 'card', amountEuros, reason, note, ...waiting },
    verdict.emit,
  )
  verdict.wake(refundProcess, row)
  if (!payment) return refundResponse(row)
  const now = item.now.toISOString()
  const call = { refundId: id, mode: item.tenant.mode, now, since: now, cents: String(amountEuros) }
  return new CallExternal({ push: pushOf(payment, call) })
}
