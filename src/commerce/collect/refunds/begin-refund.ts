import { findCustomer } from '../../../identity/customers/index.ts'
import type { ContextOf } from '../../../kernel/contract/operation.ts'
import {
  creditsFor,
  type IncomingCredit,
  lockCredit,
  payersOf,
  refundOwner,
} from '../../../money/incoming/index.ts'
import { BETWEEN_OWNERS, type Book, openBook, shortfallText } from '../../../money/ledger/index.ts'
import { openRefunds, type RefundRow, type refundReasons } from '../../../money/refunds/index.ts'
import { transactionsById } from '../../../money/transactions/index.ts'
import { type WalletRow, walletsById } from '../../../money/wallets/index.ts'
import { after } from '../../../values/clock.ts'
import { newId } from '../../../values/ids.ts'
import { type Euros, formatEuros } from '../../../values/money.ts'
import { lockTakeBacks, openPayBacks, type PayBacks } from '../../transfers/index.ts'
import { type LockedRequest, lockRequest } from '../payments.ts'
import { collectProcess } from '../process.ts'
import { PaymentRequest } from '../request.ts'
import { type PaymentRow, refundablePayments } from '../request-rows.ts'
import { causeOf, FIRST_CHECK_AFTER, MOST_PARTS, refundEvent, type refundsApi } from './api.ts'
import { completeRefund, type Refunding, writeRefunding } from './end-refund.ts'

type RequestContext = ContextOf<typeof refundsApi.refund>

/** All that a refund moves, locked in the global order: accounts, the day's limit, the request, its credits. */
export interface OpenRefund {
  readonly locked: LockedRequest
  readonly parts: readonly RefundPart[]
  readonly book: Book
  readonly wallets: ReadonlyMap<string, WalletRow>
  readonly payBacks: PayBacks
  /** The credits of the parts that came by SEPA or from a wallet. */
  readonly credits: ReadonlyMap<string, IncomingCredit>
}

type Blocker = readonly [code: Parameters<RequestContext['refuse']>[0], message?: string]

/** The accounts of the wallets that were paid, and of those that have paid, whose owners' limits are locked before. */
async function accountsOf(
  { id, walletId }: PaymentRequest,
  payments: readonly PaymentRow[],
  context: RequestContext,
) {
  const isByWallet = payments.some(({ way }) => way === 'wallet')
  const credits = isByWallet ? await creditsFor({ type: 'request', id }, context) : []
  const payers = await payersOf(credits, context)
  const { ownerId, mode } = context.tenant
  const own = payers.filter(payer => payer.ownerId === ownerId).flatMap(({ walletIds }) => walletIds)
  const beside = payers.filter(payer => payer.ownerId !== ownerId)
  for (const payerId of [...new Set(beside.map(payer => payer.ownerId))].sort())
    await lockTakeBacks({ ownerId: payerId, mode }, paidBy(credits, payerId), context)
  const wallets = [walletId, ...payments.map(payment => payment.walletId), ...own]
  return { wallets, ...BETWEEN_OWNERS, beside }
}

const paidBy = (credits: readonly IncomingCredit[], ownerId: string): string[] =>
  credits.flatMap(({ id, fromOwnerId }) => (fromOwnerId === ownerId ? [id] : []))

/** A request, and where only one of its payments is meant, the source by which that came. */
interface Target {
  readonly id: string
  readonly sourceId?: string | undefined
}

/** Opens a refund of this amount, of all where none is given; else says why there can be none. */
export async function openRefund(
  { id, sourceId }: Target,
  asked: Euros | undefined,
  context: RequestContext,
): Promise<OpenRefund | Blocker> {
  const { records, sql, tenant } = context
  const [request, known] = await Promise.all([
    records.findOne(PaymentRequest, { id }),
    refundablePayments(sql, tenant, { id, sourceId }, MOST_PARTS),
  ])
  if (!request) return ['request_not_found']
  const accounts = await accountsOf(request, known, context)
  const [book, wallets, payBacks, locked, refundable] = await Promise.all([
    openBook(sql, context, accounts),
    walletsById(sql, tenant, accounts.wallets),
    openPayBacks(sql, context),
    lockRequest(id, context),
    refundablePayments(sql, tenant, { id, sourceId }, MOST_PARTS),
  ])
  if (!locked) throw new Error(`${id}: a request that has gone`)
  if (locked.request.status === 'open') return ['request_open']
  // What has come this very moment may be in a wallet that is not locked: the next refund takes it.
  const ids = new Set(known.map(payment => payment.id))
  const parts = partsOf(
    refundable.filter(payment => ids.has(payment.id)),
    asked,
  )
  if (isBlocked(parts)) return parts
  const opened = { locked, parts, book, wallets, payBacks, credits: await lockCredits(parts, context) }
  return blockerOf(opened, context) ?? opened
}

function partsOf(payments: readonly PaymentRow[], asked: Euros | undefined): readonly RefundPart[] | Blocker {
  const left = refundableOf(payments)
  if (left === 0n) return ['nothing_to_refund']
  if (asked !== undefined && asked > left)
    return ['refund_above_received', `amountEuros: ${formatEuros(left)} of what came can go back at most.`]
  return refundParts(payments, asked ?? left)
}

/** Whether it is the code of a refusal with its message. */
export const isBlocked = (opened: OpenRefund | readonly RefundPart[] | Blocker): opened is Blocker =>
  Array.isArray(opened) && typeof opened[0] === 'string'

async function lockCredits(
  parts: readonly RefundPart[],
  context: RequestContext,
): Promise<ReadonlyMap<string, IncomingCredit>> {
  const ids = parts.flatMap(({ payment }) => (payment.way === 'card' ? [] : [payment.sourceId]))
  const credits = await Promise.all(ids.toSorted().map(id => lockCredit(id, context)))
  return new Map(credits.flatMap(credit => (credit ? [[credit.id, credit]] : [])))
}

function blockerOf(opened: OpenRefund, { tenant, ports }: RequestContext): Blocker | undefined {
  const { parts, book, wallets, credits, payBacks } = opened
  for (const [walletId, ofWallet] of Map.groupBy(parts, ({ payment }) => payment.walletId)) {
    const { status } = wallets.get(walletId) as WalletRow
    const amount = sumOf(ofWallet)
    if (status === 'closed') return ['wallet_closed']
    if (status === 'frozen') return ['wallet_frozen']
    if (!book.canPay(walletId, amount))
      return ['insufficient_funds', shortfallText(amount, book.available(walletId))]
  }
  const bySepa = parts.filter(({ payment }) => payment.way === 'sepa')
  const senders = bySepa.map(({ payment }) => credits.get(payment.sourceId))
  if (senders.some(sender => !sender?.senderIban || !sender.senderName)) return ['sender_unknown']
  // Each throws where this mode has no such system: nothing is begun then.
  if (bySepa.length > 0) ports.sepaRail(tenant.mode)
  if (parts.some(({ payment }) => payment.way === 'card')) ports.acquirer(tenant.mode)
  return payBacks.blocker(bySepa.map(({ amountEuros }) => amountEuros))
}

const sumOf = (parts: readonly RefundPart[]): Euros =>
  parts.reduce((sum, { amountEuros }) => sum + amountEuros, 0n)

/** How much of a payment goes back. */
interface RefundPart {
  readonly payment: PaymentRow
  readonly amountEuros: Euros
}

const leftOf = ({ amountEuros, refundedEuros }: PaymentRow): Euros => amountEuros - refundedEuros

/** What can still go back of these payments. */
const refundableOf = (payments: readonly PaymentRow[]): Euros =>
  payments.reduce((sum, payment) => sum + leftOf(payment), 0n)

/**
 * Divides a refund over the payments, given newest first: what came last goes back first, as the surplus is in it. The
 * amount is no more than is left of all of them.
 */
function refundParts(payments: readonly PaymentRow[], amountEuros: Euros): RefundPart[] {
  const parts: RefundPart[] = []
  let rest = amountEuros
  for (const payment of payments) {
    const left = leftOf(payment)
    const part = left < rest ? left : rest
    if (part > 0n) parts.push({ payment, amountEuros: part })
    rest -= part
  }
  return parts
}

/** Why money goes back: in a word that programs read, and in words of the owner's. */
export interface RefundWords {
  readonly reason: (typeof refundReasons)[number]
  readonly note: string | null
}

/** Begins a refund for each part: from now on its money is held, has a transfer of its own, or is with the owner who paid. */
export async function beginRefunds(
  opened: OpenRefund,
  why: RefundWords,
  context: RequestContext,
): Promise<readonly RefundRow[]> {
  const { sql, tenant } = context
  const { locked, parts, book, payBacks } = opened
  const payments = new Map(parts.map(({ payment }) => [payment.id, payment]))
  const moving = { locked, payments, ...(await openRows(payments, context)) }
  const refunds: RefundRow[] = []
  for (const part of parts) {
    const refund = beginRefund(part, why, moving, context)
    refunds.push(refund)
    if (part.payment.way === 'sepa') payBySepa(refund, part, opened, context)
    if (part.payment.way === 'card') book.hold(part.payment.walletId, part.amountEuros, causeOf(refund.id))
    if (part.payment.way === 'wallet') {
      await payToWallet(part, opened, context)
      completeRefund(refund, moving, context)
    }
  }
  context.sendAlong(payBacks.write())
  context.sendAlong(writeRefunding(sql, tenant, moving))
  context.sendAlong(book.post(sql))
  return refunds
}

/** The transactions of these payments, and no refund yet. */
async function openRows(
  payments: ReadonlyMap<string, PaymentRow>,
  { sql, tenant, now }: RequestContext,
): Promise<Pick<Refunding, 'transactions' | 'refunds'>> {
  const transactionIds = [...payments.values()].flatMap(({ transactionId }) => transactionId ?? [])
  const [transactions, refunds] = await Promise.all([
    transactionsById(sql, tenant, transactionIds),
    openRefunds(sql, { tenant, now }, {}),
  ])
  return { transactions, refunds }
}

function beginRefund(
  { payment, amountEuros }: RefundPart,
  why: RefundWords,
  { locked: { request }, refunds }: Refunding,
  { now, emit, wake }: RequestContext,
): RefundRow {
  const { id: paymentId, transactionId, way } = payment
  const id = newId('refund')
  const { type: sourceType, id: sourceId } = causeOf(id)
  const of = { requestId: request.id, paymentId, sourceType, sourceId }
  const askDueAt = way === 'card' ? after(now, FIRST_CHECK_AFTER) : null
  const refund = refunds.request(
    { id: transactionId, agentId: request.agentId },
    { id, way, amountEuros, ...why, ...of, askDueAt },
    emit,
  )
  payment.refundedEuros += amountEuros
  request.refundingEuros += amountEuros
  Object.assign(request, { updatedAt: now })
  Object.assign(payment, { updatedAt: now })
  emit('claim.request.refund_started', refundEvent(request, refund))
  wake(collectProcess, request)
  return refund
}

/** The purpose that the payer reads; SEPA can spell all of it. */
const referenceOf = ({ locked: { request } }: OpenRefund): string => `Refund ${request.reference}`

function payBySepa(
  refund: RefundRow,
  { payment, amountEuros }: RefundPart,
  opened: OpenRefund,
  context: RequestContext,
): void {
  const { book, wallets, credits, payBacks } = opened
  const { senderName, senderIban } = credits.get(payment.sourceId) ?? {}
  if (!senderName || !senderIban) throw new Error(`${payment.id}: nobody knows who has sent it`)
  const wallet = wallets.get(payment.walletId) as WalletRow
  const to = { name: senderName, iban: senderIban }
  refund.transferId = payBacks.pay(
    { wallet, to, amountEuros, reference: referenceOf(opened) },
    book,
    context,
  ).id
}

async function payToWallet(
  { payment, amountEuros }: RefundPart,
  opened: OpenRefund,
  context: RequestContext,
): Promise<void> {
  const { records, tenant } = context
  const credit = opened.credits.get(payment.sourceId)
  if (!credit) throw new Error(`${payment.id}: a payment without its credit`)
  const { name: senderName } = await findCustomer(records, tenant.ownerId)
  const reference = referenceOf(opened)
  await refundOwner(credit, { amountEuros, senderName, reference }, opened.book, context)
}
