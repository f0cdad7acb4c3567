import { findCustomer } from '../../../identity/customers/index.ts'
import { refuseUnsignedWidening, type WebauthnAssertion } from '../../../identity/passkeys/index.ts'
import type { ContextOf } from '../../../kernel/contract/operation.ts'
import { Refusal } from '../../../kernel/contract/problem.ts'
import {
  creditsOfPayable,
  type IncomingCredit,
  lockIncomingCredit,
  refundableWallets,
  refundOwnerPayment,
} from '../../../money/incoming/index.ts'
import {
  type LockedBook,
  lockBook,
  OWNER_TRANSFER_ACCOUNTS,
  shortfallMessage,
} from '../../../money/ledger/index.ts'
import { loadRefundBook, type RefundRow, type refundReasonCodes } from '../../../money/refunds/index.ts'
import { transactionsById } from '../../../money/transactions/index.ts'
import { type WalletRow, walletsById } from '../../../money/wallets/index.ts'
import type { StatedWidening } from '../../../statements/index.ts'
import { addMs } from '../../../values/clock.ts'
import { newId } from '../../../values/ids.ts'
import { addCents, type Cents, formatMoney, minOf, subtractCents, sumOf } from '../../../values/money.ts'
import { type CreditReturns, loadCreditReturns, lockRefundedAgents } from '../../transfers/index.ts'
import { lockPaymentRequest } from '../payments.ts'
import { collectProcess } from '../process.ts'
import {
  PaymentRequest,
  type PaymentRequestRow,
  type RequestPaymentRow,
  refundableRequestPayments,
} from '../request.ts'
import {
  FIRST_REFUND_CHECK_MS,
  MAX_REFUND_PARTS,
  requestRefundCause,
  requestRefundEvent,
  type requestRefundsApi,
} from './api.ts'
import { type LockedRequestRefunds, recordRequestRefundEnd, writeRequestRefunds } from './end-refund.ts'

type RequestContext = ContextOf<typeof requestRefundsApi.refund>

export interface RequestRefundTarget {
  readonly requestId: string
  readonly sourceId?: string | undefined
  readonly amountCents?: Cents | undefined
  readonly reason: (typeof refundReasonCodes)[number]
  readonly note: string | null
  /** The signature of a person in the console, where the thief of a session could pay back what was sold. */
  readonly webauthnAssertion?: WebauthnAssertion | undefined
}

interface RefundPart {
  readonly payment: RequestPaymentRow
  readonly amountCents: Cents
}

/** All that a refund moves, locked in the global order: accounts, the day's limit, the request, its credits. */
interface OpenRefund extends LockedRequestRefunds {
  readonly parts: readonly RefundPart[]
  readonly book: LockedBook
  readonly wallets: ReadonlyMap<string, WalletRow>
  readonly payBacks: CreditReturns
  readonly credits: ReadonlyMap<string, IncomingCredit>
}

/** Finds the accounts of the wallets that were paid, and of those that paid. Their owners' limits are locked first. */
async function accountsOf(
  { id, walletId }: PaymentRequest,
  payments: readonly RequestPaymentRow[],
  context: RequestContext,
) {
  const isByWallet = payments.some(({ way }) => way === 'wallet')
  const credits = isByWallet ? await creditsOfPayable({ type: 'request', id }, context) : []
  const payers = await refundableWallets(credits, context)
  const { ownerId, mode } = context.tenant
  const own = payers.filter(payer => payer.ownerId === ownerId).flatMap(({ walletIds }) => walletIds)
  const otherOwners = payers.filter(payer => payer.ownerId !== ownerId)
  for (const payerId of [...new Set(otherOwners.map(payer => payer.ownerId))].sort())
    await lockRefundedAgents({ ownerId: payerId, mode }, paidBy(credits, payerId), context)
  const wallets = [walletId, ...payments.map(payment => payment.walletId), ...own]
  return { wallets, ...OWNER_TRANSFER_ACCOUNTS, otherOwners }
}

const paidBy = (credits: readonly IncomingCredit[], ownerId: string): string[] =>
  credits.flatMap(({ id, fromOwnerId }) => (fromOwnerId === ownerId ? [id] : []))

async function openRefund(
  { requestId: id, sourceId, amountCents }: RequestRefundTarget,
  context: RequestContext,
): Promise<OpenRefund | Refusal> {
  const { records, sql, tenant, refuse } = context
  const [request, known] = await Promise.all([
    records.findOne(PaymentRequest, { id }),
    refundableRequestPayments(sql, tenant, { id, sourceId }, MAX_REFUND_PARTS),
  ])
  if (!request) return refuse('request_not_found')
  const accounts = await accountsOf(request, known, context)
  const [book, wallets, payBacks, locked, refundable] = await Promise.all([
    lockBook(sql, context, accounts),
    walletsById(sql, tenant, accounts.wallets),
    loadCreditReturns(sql, context),
    lockPaymentRequest(id, context),
    refundableRequestPayments(sql, tenant, { id, sourceId }, MAX_REFUND_PARTS),
  ])
  if (!locked) throw new Error(`${id}: a request that has gone`)
  if (locked.request.status === 'open') return refuse('request_open')
  // A payment that has just arrived may be in a wallet that is not locked. The next refund includes it.
  const ids = new Set(known.map(payment => payment.id))
  const payments = refundable.filter(payment => ids.has(payment.id))
  const parts = partsOf(payments, amountCents, context)
  if (parts instanceof Refusal) return parts
  const ofParts = new Map(parts.map(({ payment }) => [payment.id, payment]))
  const [credits, transactions, refunds] = await Promise.all([
    lockCredits(parts, context),
    transactionsById(
      sql,
      tenant,
      parts.flatMap(({ payment }) => payment.transactionId ?? []),
    ),
    loadRefundBook(sql, context, {}),
  ])
  const opened = { locked, payments: ofParts, transactions, refunds, parts, book, wallets, payBacks, credits }
  return refusalOf(opened, context) ?? opened
}

const leftOf = ({ amountCents, refundedCents }: RequestPaymentRow): Cents =>
  subtractCents(amountCents, refundedCents)

/** Divides a refund over the payments, newest first, since the surplus is in the newest. */
function partsOf(
  payments: readonly RequestPaymentRow[],
  amountCents: Cents | undefined,
  { refuse }: RequestContext,
): readonly RefundPart[] | Refusal {
  const left = sumOf(payments.map(leftOf))
  if (left === 0n) return refuse('nothing_to_refund')
  if (amountCents !== undefined && amountCents > left)
    return refuse('refund_above_received', `amountEuros: at most ${formatMoney(left)} can be refunded.`)
  const parts: RefundPart[] = []
  let rest = amountCents ?? left
  for (const payment of payments) {
    const part = minOf(leftOf(payment), rest)
    if (part > 0n) parts.push({ payment, amountCents: part })
    rest = subtractCents(rest, part)
  }
  return parts
}

async function lockCredits(
  parts: readonly RefundPart[],
  context: RequestContext,
): Promise<ReadonlyMap<string, IncomingCredit>> {
  const ids = parts.flatMap(({ payment }) => (payment.way === 'card' ? [] : [payment.sourceId]))
  const credits = await Promise.all(ids.toSorted().map(id => lockIncomingCredit(id, context)))
  return new Map(credits.flatMap(credit => (credit ? [[credit.id, credit]] : [])))
}

function refusalOf(opened: OpenRefund, { tenant, ports, refuse }: RequestContext): Refusal | undefined {
  const { parts, book, wallets, credits, payBacks } = opened
  for (const [walletId, ofWallet] of Map.groupBy(parts, ({ payment }) => payment.walletId)) {
    const { status } = wallets.get(walletId) as WalletRow
    const amount = sumOf(ofWallet.map(({ amountCents }) => amountCents))
    if (status === 'closed') return refuse('wallet_closed')
    if (status === 'frozen') return refuse('wallet_frozen')
    if (!book.canPay(walletId, amount))
      return refuse('insufficient_funds', shortfallMessage(amount, book.available(walletId)))
  }
  const bySepa = parts.filter(({ payment }) => payment.way === 'sepa')
  const senders = bySepa.map(({ payment }) => credits.get(payment.sourceId))
  if (senders.some(sender => !sender?.senderIban || !sender.senderName)) return refuse('sender_unknown')
  // These throw if the mode has no such system, so that no refund begins.
  if (bySepa.length > 0) ports.sepaRail(tenant.mode)
  if (parts.some(({ payment }) => payment.way === 'card')) ports.acquirer(tenant.mode)
  const exceeded = payBacks.blocker(bySepa.map(({ amountCents }) => amountCents))
  return exceeded && refuse(...exceeded)
}

function refundInWords(
  { id, description, refundedCents, refundingCents }: PaymentRequestRow,
  parts: readonly RefundPart[],
): StatedWidening {
  const before = addCents(refundedCents, refundingCents)
  const after = addCents(before, sumOf(parts.map(({ amountCents }) => amountCents)))
  const values = { from: formatMoney(before), to: formatMoney(after) }
  return { of: 'payment request', id, name: description, field: 'Refunded', ...values }
}

/**
 * Begins a refund for each part, or refuses. From now on the money is held, has its own transfer, or is with
 * the owner who paid.
 */
export async function beginRefundParts(target: RequestRefundTarget, context: RequestContext) {
  const { sql, tenant, queueStatement } = context
  const opened = await openRefund(target, context)
  if (opened instanceof Refusal) return opened
  const { locked, parts, book, payBacks } = opened
  const signed = () => [refundInWords(locked.request, parts)]
  const unsigned = await refuseUnsignedWidening(target.webauthnAssertion, signed, context)
  if (unsigned) return unsigned
  const refunds: RefundRow[] = []
  for (const part of parts) {
    const refund = beginRefund(part, target, opened, context)
    refunds.push(refund)
    await refundWays[part.payment.way](refund, part, opened, context)
  }
  queueStatement(payBacks.write())
  queueStatement(writeRequestRefunds(sql, tenant, opened))
  queueStatement(book.post(sql))
  return { request: locked.request, refunds, payments: opened.payments }
}

function beginRefund(
  { payment, amountCents }: RefundPart,
  { reason, note }: RequestRefundTarget,
  { locked: { request }, refunds }: LockedRequestRefunds,
  { now, emit, wake }: RequestContext,
): RefundRow {
  const { id: paymentId, transactionId, way } = payment
  const id = newId('refund')
  const { type: sourceType, id: sourceId } = requestRefundCause(id)
  const of = { requestId: request.id, paymentId, sourceType, sourceId }
  const askDueAt = way === 'card' ? addMs(now, FIRST_REFUND_CHECK_MS) : null
  const refund = refunds.request(
    { id: transactionId, agentId: request.agentId },
    { id, way, amountCents, reason, note, ...of, askDueAt },
    emit,
  )
  payment.refundedCents = addCents(payment.refundedCents, amountCents)
  request.refundingCents = addCents(request.refundingCents, amountCents)
  Object.assign(request, { updatedAt: now })
  Object.assign(payment, { updatedAt: now })
  emit('claim.request.refund_started', requestRefundEvent(request, refund))
  wake(collectProcess, request)
  return refund
}

type RefundWay = (
  refund: RefundRow,
  part: RefundPart,
  opened: OpenRefund,
  context: RequestContext,
) => void | Promise<void>

const refundWays: Readonly<Record<RequestPaymentRow['way'], RefundWay>> = {
  sepa: payBySepa,
  card(refund, { payment, amountCents }, { book }) {
    book.hold(payment.walletId, amountCents, requestRefundCause(refund.id))
  },
  wallet: payToWallet,
}

/** The remittance information that the payer reads. It contains only characters that SEPA allows. */
const referenceOf = ({ locked: { request } }: OpenRefund): string => `Refund ${request.reference}`

function payBySepa(
  refund: RefundRow,
  { payment, amountCents }: RefundPart,
  opened: OpenRefund,
  context: RequestContext,
): void {
  const { book, wallets, credits, payBacks } = opened
  const { senderName, senderIban } = credits.get(payment.sourceId) ?? {}
  if (!senderName || !senderIban) throw new Error(`${payment.id}: its sender is unknown`)
  const wallet = wallets.get(payment.walletId) as WalletRow
  const to = { name: senderName, iban: senderIban }
  const payBack = { wallet, to, amountCents, reference: referenceOf(opened) }
  refund.transferId = payBacks.pay(payBack, book, context).id
}

async function payToWallet(
  refund: RefundRow,
  { payment, amountCents }: RefundPart,
  opened: OpenRefund,
  context: RequestContext,
): Promise<void> {
  const { records, tenant } = context
  const credit = opened.credits.get(payment.sourceId)
  if (!credit) throw new Error(`${payment.id}: a payment without its credit`)
  const { name: senderName } = await findCustomer(records, tenant.ownerId)
  const reference = referenceOf(opened)
  await refundOwnerPayment(credit, { amountCents, senderName, reference }, opened.book, context)
  recordRequestRefundEnd(refund, 'completed', opened, context)
}
