import { SpendLocks } from '../../control/intents/index.ts'
import { intentHoldReference } from '../../control/payments/index.ts'
import type { TenantNow } from '../../kernel/contract/actor.ts'
import type { DecideContext, SqlContext } from '../../kernel/contract/context.ts'
import { type BatchedStep, type BatchItem, HotCall, type NonEmpty } from '../../kernel/contract/handlers.ts'
import type { ContextOf, HandlerOf, InputOf } from '../../kernel/contract/operation.ts'
import type { Ports } from '../../kernel/contract/ports.ts'
import { Problem, Refusal } from '../../kernel/contract/problem.ts'
import { workflowIdOf } from '../../kernel/contract/process.ts'
import type { Row, Sql } from '../../kernel/contract/sql.ts'
import { type LockedBook, shortfallMessage } from '../../money/ledger/index.ts'
import { loadRefundBook, type RefundRow, refundsById } from '../../money/refunds/index.ts'
import {
  lockTransactions,
  type TransactionRow,
  updateRefundedTransactions,
} from '../../money/transactions/index.ts'
import { findMainWalletId, firstOpenWallet, type WalletRow, walletsById } from '../../money/wallets/index.ts'
import { addMs, days } from '../../values/clock.ts'
import { newId } from '../../values/ids.ts'
import { type Cents, formatMoney, subtractCents, sumOf } from '../../values/money.ts'
import { refundTransfer, transferRefundBatch } from '../transfers/index.ts'
import { MAX_REFUND_WAIT_DAYS, refundResponse, type refundsApi } from './api.ts'
import {
  ASK_MERCHANT_WITHIN_MS,
  type BegunRefunds,
  type MerchantPayment,
  merchantPayments,
  type RefundAnswers,
  recordRefundAnswers,
  refundCall,
  sendRefundCalls,
} from './ask.ts'
import { refundProcess } from './process.ts'
import { beginRequestRefunds, type RequestRefundTarget } from './request-refund.ts'

type Creates = typeof refundsApi.create
type CreateItem = BatchItem<InputOf<Creates>>
type CreateCode = Parameters<ContextOf<Creates>['refuse']>[0]

/** Facts of a payment that never change, except whether the paying wallet is closed. */
interface PaidBy extends Row {
  readonly id: string
  readonly type: TransactionRow['type']
  readonly agentId: string | null
  readonly intentId: string | null
  readonly walletId: string
  readonly transferId: string | null
  readonly kind: 'internal' | 'sepa' | 'split' | null
  readonly toWalletId: string | null
  /** The credit by which the holder of a request or a token was paid. */
  readonly creditId: string | null
  readonly isPayerClosed: boolean
}

const PAID_BY = `
select t.id, t.type, t.agent_id as "agentId", t.intent_id as "intentId", t.wallet_id as "walletId",
  t.transfer_id as "transferId", x.kind, x.to_wallet_id as "toWalletId", x.credit_id as "creditId",
  coalesce(w.status = 'closed', false) as "isPayerClosed"
from transactions t
left join lateral (
  select * from transfers one where (one.owner_id, one.mode, one.id) = ($1, $2, t.transfer_id) limit 1) x on true
left join lateral (
  select one.status from wallets one where (one.owner_id, one.mode, one.id) = ($1, $2, t.wallet_id) limit 1) w on true
where t.owner_id = $1 and t.mode = $2 and t.id = any($3::text[])`

interface RefundBatch extends TenantNow {
  readonly paidBy: ReadonlyMap<string, PaidBy>
  readonly refunding: ReturnType<typeof transferRefundBatch>
  readonly book: LockedBook
  readonly wallets: ReadonlyMap<string, WalletRow>
  /** Receives the money of closed wallets. Undefined if no wallet is closed, or the owner has none. */
  readonly ownersWalletId: string | undefined
  readonly isAnyPayerClosed: boolean
  readonly merchants: ReadonlyMap<string, MerchantPayment>
}

const isBetweenWallets = ({ kind, creditId }: PaidBy): boolean => kind === 'internal' && creditId === null

/**
 * Locks in the global order, in one round trip: agents, counters, accounts, payments. Locks the owner's
 * wallet and suspense only if a wallet is closed, so that refunds of one owner do not wait for each other.
 */
async function openBatch(
  items: NonEmpty<CreateItem>,
  sql: Sql,
  { systems }: Pick<Ports, 'systems'>,
): Promise<RefundBatch> {
  const { tenant, now } = items[0]
  const ids = [...new Set(items.map(({ input }) => input.body.transactionId))]
  const paid = await sql<PaidBy>(PAID_BY, [tenant.ownerId, tenant.mode, ids])
  const transfers = paid.filter(isBetweenWallets)
  const isAnyPayerClosed = transfers.some(({ isPayerClosed }) => isPayerClosed)
  const ownersWalletId = isAnyPayerClosed ? await findMainWalletId(sql, tenant) : undefined
  const byCard = paid.filter(({ type }) => type === 'card' || type === 'mpp')
  const cardPaymentIds = byCard.map(({ id }) => id)
  const causes = transfers.flatMap(({ intentId }) => (intentId ? [intentHoldReference(intentId)] : []))
  const between = transfers.flatMap(({ walletId, toWalletId }) => [walletId, toWalletId ?? []].flat())
  const wallets = [...new Set([...between, ownersWalletId ?? []].flat())]
  const locks = new SpendLocks(sql, { tenant, now })
  const [, { counters, book }, rows, transactions, refunds, merchants] = await Promise.all([
    // Only card payments change under the lock of their agent. Others change under that of their counters.
    locks.agents(agentsOf(byCard)),
    locks.take({
      ...{ reservations: causes, reservationAgents: agentsOf(transfers) },
      ...{ wallets, others: isAnyPayerClosed ? ['suspense'] : [] },
    }),
    walletsById(sql, tenant, wallets),
    lockTransactions(sql, tenant, ids),
    loadRefundBook(sql, { tenant, now }, { transactionIds: ids }),
    merchantPayments(sql, tenant, cardPaymentIds, systems),
  ])
  return {
    ...{ tenant, now, book, ownersWalletId, isAnyPayerClosed, merchants },
    paidBy: new Map(paid.map(one => [one.id, one])),
    refunding: transferRefundBatch({ tenant, now }, { counters, refunds, transactions }),
    wallets: rows,
  }
}

const agentsOf = (payments: readonly PaidBy[]): string[] => payments.flatMap(({ agentId }) => agentId ?? [])

async function writeBatch({ tenant, refunding, book }: RefundBatch, sql: Sql): Promise<void> {
  const { changed, counters, refunds } = refunding
  await Promise.all([
    updateRefundedTransactions(sql, tenant, [...changed.transactions]),
    refunds.write(sql),
    counters.write(sql),
    book.post(sql),
  ])
}

interface PaymentRefund {
  readonly item: CreateItem
  readonly transaction: TransactionRow
  readonly paid: PaidBy
  readonly amountCents: Cents
}

/** Decides one refund after another, since each must see what earlier ones have taken of the payment. */
function decide(item: CreateItem, batch: RefundBatch, verdict: DecideContext<CreateCode, Creates['emits']>) {
  const { transactionId } = item.input.body
  const paid = batch.paidBy.get(transactionId)
  const { transactions, refunds } = batch.refunding
  const transaction = transactions.get(transactionId)
  if (!paid || !transaction) return verdict.refuse('transaction_not_found')
  const refusal = refusalOf(transaction, paid, verdict)
  if (refusal) return refusal
  if (transaction.type === 'collect') return ofRequest(item, transaction, verdict)
  const left = refunds.refundableCents(transaction)
  const { amountCents = left } = item.input.body
  if (left === 0n) return verdict.refuse('nothing_to_refund')
  if (amountCents > left) return verdict.refuse('refund_above_payment', excessText(transaction, left))
  const asked = { item, transaction, paid, amountCents }
  return transaction.type === 'transfer'
    ? giveBack(asked, batch, verdict)
    : requestFromMerchant(asked, batch, verdict)
}

/** Undefined if at least a part of the payment can be refunded. */
function refusalOf(
  { type, status }: TransactionRow,
  { kind, creditId, transferId }: PaidBy,
  { refuse }: DecideContext<CreateCode, Creates['emits']>,
): Refusal | undefined {
  if (type === 'fee' || type === 'refund')
    return refuse('not_refundable', `transactionId: this is a ${type}, which cannot be refunded.`)
  const recall = `transactionId: it was paid by SEPA. Recall it with POST /transfers/${transferId}/recall.`
  if (kind === 'sepa') return refuse('recall_it', recall)
  if (creditId !== null) return refuse('payee_refunds')
  if (status === 'refunded') return refuse('nothing_to_refund')
  if (status === 'completed') return undefined
  const message = `transactionId: the payment is in ${status}, not completed, so nothing can be refunded.`
  return refuse('transaction_not_completed', message)
}

function excessText({ amountCents, refundedCents, disputedCents }: TransactionRow, left: Cents): string {
  const awaited = subtractCents(amountCents, sumOf([refundedCents, disputedCents, left]))
  const parts = [
    [refundedCents, 'is refunded'],
    [awaited, 'is pending'],
    [disputedCents, 'is disputed'],
  ] as const
  const words = parts.flatMap(([amount, what]) => (amount > 0n ? [`${formatMoney(amount)} ${what}`] : []))
  const rest = words.length > 0 ? ` (${words.join(', ')})` : ''
  return `amountEuros: at most ${formatMoney(left)} of the payment of ${formatMoney(amountCents)} can be refunded${rest}.`
}

/** Payments of a request are refunded under its lock, by its own steps. */
function ofRequest(
  { input: { body } }: CreateItem,
  { witnesses }: TransactionRow,
  { refuse }: DecideContext<CreateCode, Creates['emits']>,
) {
  const { amountCents, reason, note, webauthnAssertion = null } = body
  const [request, source] = witnesses
  if (request?.type !== 'payment_request' || !source)
    return refuse(
      'payee_refunds',
      'transactionId: the money came by a payment token. Pay it back with POST /transfers.',
    )
  const amount = amountCents === undefined ? null : String(amountCents)
  const paid = { requestId: request.id, sourceId: source.id, cents: amount }
  return callFor({ target: { ...paid, reason, note, webauthnAssertion } })
}

function giveBack(
  { item, transaction, paid, amountCents }: PaymentRefund,
  batch: RefundBatch,
  verdict: DecideContext<CreateCode, Creates['emits']>,
) {
  const { emit, refuse } = verdict
  const { book, wallets, refunding } = batch
  const payee = wallets.get(paid.toWalletId ?? '')
  if (!payee || payee.status === 'closed')
    return refuse(
      'wallet_closed',
      'The wallet that was paid is closed. Pay it back from another one with POST /transfers.',
    )
  if (payee.status === 'frozen')
    return refuse('wallet_frozen', 'The wallet that was paid is frozen. Unfreeze it first.')
  if (!book.canPay(payee.id, amountCents))
    return refuse('insufficient_funds', shortfallMessage(amountCents, book.available(payee.id)))
  const id = newId('refund')
  const { reason, note } = item.input.body
  const row = refunding.refunds.request(transaction, { id, way: 'wallet', amountCents, reason, note }, emit)
  const walletId = refundWallet(transaction.walletId, batch)
  moveMoney(payee, walletId, row, batch)
  refundTransfer(transaction, { id, amountCents, walletId, source: null }, refunding, verdict)
  return refundResponse(row)
}

function refundWallet(
  walletId: string,
  { wallets, ownersWalletId, isAnyPayerClosed }: RefundBatch,
): string | null {
  const place = firstOpenWallet([walletId, ownersWalletId], wallets)
  // The wallet was closed between the read and the lock. The next attempt knows where its money goes.
  if (place === null && !isAnyPayerClosed) throw new Problem('busy')
  return place
}

/** If the owner's wallet was paid and the paying wallet is closed, the money is already in the right place. */
function moveMoney(
  { id: from }: WalletRow,
  to: string | null,
  { id, amountCents }: RefundRow,
  { book }: RefundBatch,
): void {
  const cause = { type: 'refund', id }
  if (to === null) book.move('transfer_refund_unmatched', from, 'suspense', amountCents, cause)
  else if (to !== from) book.move('transfer_refund', from, to, amountCents, cause)
}

/** Only the merchant can send the money. The processor requests it where possible. */
function requestFromMerchant(
  { item, transaction, amountCents }: PaymentRefund,
  { refunding: { refunds }, merchants }: RefundBatch,
  verdict: DecideContext<CreateCode, Creates['emits']>,
) {
  const { reason, note } = item.input.body
  const id = newId('refund')
  const waiting = {
    dueAt: addMs(item.now, days(MAX_REFUND_WAIT_DAYS)),
    workflowId: workflowIdOf(refundProcess, id),
  }
  const row = refunds.request(
    transaction,
    { id, way: 'card', amountCents, reason, note, ...waiting },
    verdict.emit,
  )
  verdict.wake(refundProcess, row)
  const payment = merchants.get(transaction.id)
  if (!payment) return refundResponse(row)
  refunds.ask(row, ASK_MERCHANT_WITHIN_MS)
  return callFor({ refundIds: [id], calls: [refundCall({ payment }, row, item)] })
}

/** Plain JSON, since it must survive a crash: the refund of a request that is to begin, or refunds that have begun. */
type Reservation = { readonly target: RequestRefundTarget } | BegunRefunds

type Creating = ContextOf<Creates>

const callFor = <V extends Reservation>(reservation: V): HotCall<V, RefundAnswers> =>
  new HotCall(reservation, async ({ systems }) =>
    'calls' in reservation ? sendRefundCalls(reservation.calls, systems) : [],
  )

/** Begins the refund as the request's own operation does. An external call follows if needed. */
async function begin(target: RequestRefundTarget, context: Creating) {
  const refunding = await beginRequestRefunds(target, context)
  if (refunding instanceof Refusal) return refunding
  const { begun } = refunding
  return begun.calls.length > 0 ? callFor(begun) : currentRefund(begun, context)
}

async function currentRefund({ refundIds: [id = ''] }: BegunRefunds, { sql, tenant }: SqlContext) {
  const row = (await refundsById(sql, tenant, [id])).get(id)
  if (!row) throw new Error(`${id}: a refund that was asked for is gone`)
  return refundResponse(row)
}

/** Decides concurrent refunds of one payment together, under its lock. */
type Decided = Exclude<ReturnType<typeof decide>, Refusal>
const reserve: BatchedStep<InputOf<Creates>, Decided, CreateCode, Creates['emits'], RefundBatch> = {
  name: 'refund',
  lanes: null,
  load: openBatch,
  decide,
  write: writeBatch,
}

/** Refunds between wallets at once, requests the refund from a merchant, or takes the steps of the paid request. */
export const createRefund: HandlerOf<typeof refundsApi.create, Reservation, RefundAnswers> = {
  begin: { by: 'writing', step: reserve },

  async record(answers, reservation, context) {
    if ('target' in reservation) return begin(reservation.target, context)
    await recordRefundAnswers(answers, reservation.calls, context)
    return currentRefund(reservation, context)
  },

  /**
   * Begins a refund that has not begun. A refund that has is followed by the request's process, or waits for
   * its merchant.
   */
  async recover(reservation, context) {
    if ('calls' in reservation) return currentRefund(reservation, context)
    const begun = await begin(reservation.target, context)
    return begun instanceof HotCall ? currentRefund(begun.reservation, context) : begun
  },
}
