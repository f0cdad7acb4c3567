import { SpendLocks } from '../../control/intents/index.ts'
import { findCustomer } from '../../identity/customers/index.ts'
import { refuseUnsignedWidening, type WebauthnAssertion } from '../../identity/passkeys/index.ts'
import { MAX_SEPA_NAME_LENGTH, toSepaText } from '../../iso20022/sepa-charset.ts'
import { AnswerNow } from '../../kernel/contract/handlers.ts'
import { type ContextOf, externalCall } from '../../kernel/contract/operation.ts'
import { Refusal } from '../../kernel/contract/problem.ts'
import { withMembers } from '../../kernel/database/entity.ts'
import {
  creditsOfPayable,
  type IncomingCredit,
  lockIncomingCredits,
  refundableWallets,
  refundOwnerPayment,
} from '../../money/incoming/index.ts'
import { type LockedBook, OWNER_TRANSFER_ACCOUNTS, shortfallMessage } from '../../money/ledger/index.ts'
import { loadRefundBook, Refund, type RefundRow, type refundReasonCodes } from '../../money/refunds/index.ts'
import { transactionsById } from '../../money/transactions/index.ts'
import { type WalletRow, walletsById } from '../../money/wallets/index.ts'
import type { StatedWidening } from '../../statements/index.ts'
import { newId } from '../../values/ids.ts'
import { addCents, type Cents, cents, formatMoney, minOf, subtractCents, sumOf } from '../../values/money.ts'
import {
  lockPaymentRequests,
  PaymentRequest,
  type PaymentRequestRow,
  paymentRequestResponse,
  type RequestPaymentRow,
  refundableRequestPayments,
} from '../payment-requests/index.ts'
import { collectProcess } from '../payment-requests/process.ts'
import { type CreditReturns, loadCreditReturns, lockRefundedAgents } from '../transfers/index.ts'
import {
  MAX_REFUND_PARTS,
  requestRefundCause,
  requestRefundEvent,
  requestRefundResponse,
  requestRefundsApi,
} from './api.ts'
import {
  ASK_ACQUIRER_WITHIN_MS,
  type BegunRefunds,
  chargeOfPayment,
  type RefundCall,
  recordAcquirerAnswers,
  refundCall,
  sendRefundCalls,
} from './ask.ts'
import { countRequestRefund, endRequestRefund, type LockedRefunds, writeRefunds } from './locked-refunds.ts'

type RequestContext = ContextOf<typeof requestRefundsApi.refund>

/** Plain JSON, since it must survive a crash. */
export interface RequestRefundTarget {
  readonly requestId: string
  /** Null for all payments of the request, the newest first. */
  readonly sourceId: string | null
  /** Null for all that is left. */
  readonly cents: string | null
  readonly reason: (typeof refundReasonCodes)[number]
  readonly note: string | null
  /** The signature of a person in the console, where the thief of a session could pay back what was sold. */
  readonly webauthnAssertion: WebauthnAssertion | null
}

interface RefundPart {
  readonly payment: RequestPaymentRow
  readonly amountCents: Cents
}

/** All that a refund moves, locked in the global order: accounts, the day's limit, the request, its credits. */
interface OpenRefund extends LockedRefunds {
  readonly request: PaymentRequestRow
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
  { requestId: id, sourceId, cents: amount }: RequestRefundTarget,
  context: RequestContext,
): Promise<OpenRefund | Refusal> {
  const { em, sql, tenant, refuse } = context
  const [known, knownPayments] = await Promise.all([
    em.findOne(PaymentRequest, { id }),
    refundableRequestPayments(sql, tenant, { id, sourceId }, MAX_REFUND_PARTS),
  ])
  if (!known) return refuse('request_not_found')
  const accounts = await accountsOf(known, knownPayments, context)
  const [{ book }, wallets, payBacks, requests, refundable] = await Promise.all([
    new SpendLocks(sql, context).take(accounts),
    walletsById(sql, tenant, accounts.wallets),
    loadCreditReturns(sql, context),
    lockPaymentRequests(sql, tenant, [id]),
    refundableRequestPayments(sql, tenant, { id, sourceId }, MAX_REFUND_PARTS),
  ])
  const { request } = requests.get(id) ?? {}
  if (!request) throw new Error(`${id}: a request that has gone`)
  if (request.status === 'open') return refuse('request_open')
  // A payment that has just arrived may be in a wallet that is not locked. The next refund includes it.
  const ids = new Set(knownPayments.map(payment => payment.id))
  const parts = partsOf(
    refundable.filter(payment => ids.has(payment.id)),
    amount,
    context,
  )
  if (parts instanceof Refusal) return parts
  const payments = new Map(parts.map(({ payment }) => [payment.id, payment]))
  const transactionIds = parts.flatMap(({ payment }) => payment.transactionId ?? [])
  const creditIds = parts.flatMap(({ payment }) => (payment.way === 'card' ? [] : [payment.sourceId]))
  const [credits, transactions, refunds] = await Promise.all([
    lockIncomingCredits(creditIds, context),
    transactionsById(sql, tenant, transactionIds),
    loadRefundBook(sql, context, {}),
  ])
  const opened = {
    ...{ request, requests, payments, transactions, refunds },
    ...{ parts, book, wallets, payBacks, credits },
  }
  return refusalOf(opened, context) ?? opened
}

const leftOf = ({ amountCents, refundedCents }: RequestPaymentRow): Cents =>
  subtractCents(amountCents, refundedCents)

/** Divides a refund over the payments, newest first, since the surplus is in the newest. */
function partsOf(
  payments: readonly RequestPaymentRow[],
  amount: string | null,
  { refuse }: RequestContext,
): readonly RefundPart[] | Refusal {
  const left = sumOf(payments.map(leftOf))
  if (left === 0n) return refuse('nothing_to_refund')
  let rest = amount === null ? left : cents(amount)
  if (rest > left)
    return refuse('refund_above_received', `amountEuros: at most ${formatMoney(left)} can be refunded.`)
  const parts: RefundPart[] = []
  for (const payment of payments) {
    const part = minOf(leftOf(payment), rest)
    if (part > 0n) parts.push({ payment, amountCents: part })
    rest = subtractCents(rest, part)
  }
  return parts
}

function refusalOf(opened: OpenRefund, { tenant, systems, refuse }: RequestContext): Refusal | undefined {
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
  if (
    senders.some(sender => !sender?.senderIban || !toSepaText(sender.senderName ?? '', MAX_SEPA_NAME_LENGTH))
  )
    return refuse('sender_unknown')
  // These throw if the mode has no such system, so that no refund begins.
  if (bySepa.length > 0) systems.sepaRail(tenant.mode)
  if (parts.some(({ payment }) => payment.way === 'card')) systems.acquirer(tenant.mode)
  const exceeded = payBacks.blocker(bySepa.map(({ amountCents }) => amountCents))
  return exceeded && refuse(...exceeded)
}

function refundInWords({ request, parts }: OpenRefund): StatedWidening {
  const { id, description, refundedCents, refundingCents } = request
  const before = addCents(refundedCents, refundingCents)
  const after = addCents(before, sumOf(parts.map(({ amountCents }) => amountCents)))
  const values = { from: formatMoney(before), to: formatMoney(after) }
  return { of: 'payment request', id, name: description, field: 'Refunded', ...values }
}

/**
 * Begins a refund for each part, or refuses. From now on the money is held, has its own transfer, or is with
 * the owner who paid. A crash before the calls loses nothing, since the process or the sweep asks under the same references.
 */
export async function beginRequestRefunds(target: RequestRefundTarget, context: RequestContext) {
  const { sql, tenant, queueStatement } = context
  const opened = await openRefund(target, context)
  if (opened instanceof Refusal) return opened
  const signature = target.webauthnAssertion ?? undefined
  const unsigned = await refuseUnsignedWidening(signature, () => [refundInWords(opened)], context)
  if (unsigned) return unsigned
  const refunds: RefundRow[] = []
  const calls: RefundCall[] = []
  for (const part of opened.parts) {
    const refund = beginRefund(part, target, opened, context)
    refunds.push(refund)
    await sendBack[part.payment.way](refund, part, opened, context)
    if (part.payment.way === 'card') calls.push(refundCall(chargeOfPayment(part.payment), refund, context))
  }
  queueStatement(opened.payBacks.write())
  queueStatement(writeRefunds(sql, tenant, opened))
  queueStatement(opened.book.post(sql))
  const begun: BegunRefunds = { refundIds: refunds.map(({ id }) => id), calls }
  return { request: opened.request, refunds, begun }
}

function beginRefund(
  { payment, amountCents }: RefundPart,
  { reason, note }: RequestRefundTarget,
  opened: OpenRefund,
  context: RequestContext,
): RefundRow {
  const { id: paymentId, transactionId, way } = payment
  const { request, refunds } = opened
  const id = newId('refund')
  const { type: sourceType, id: sourceId } = requestRefundCause(id)
  const of = { requestId: request.id, paymentId, sourceType, sourceId }
  const refund = refunds.request(
    { id: transactionId, agentId: request.agentId },
    { id, way, amountCents, reason, note, ...of },
    context.emit,
  )
  countRequestRefund(refund, opened, context)
  context.emit('claim.request.refund_started', requestRefundEvent(request, refund))
  context.wake(collectProcess, request)
  return refund
}

type SendBack = (
  refund: RefundRow,
  part: RefundPart,
  opened: OpenRefund,
  context: RequestContext,
) => void | Promise<void>

/** How the money travels: the way that it came. */
const sendBack: Readonly<Record<RequestPaymentRow['way'], SendBack>> = {
  sepa(refund, { payment, amountCents }, opened, context) {
    const { book, wallets, credits, payBacks } = opened
    const { senderName, senderIban } = credits.get(payment.sourceId) ?? {}
    if (!senderName || !senderIban) throw new Error(`${payment.id}: its sender is unknown`)
    const wallet = wallets.get(payment.walletId) as WalletRow
    const to = { name: senderName, iban: senderIban }
    const payBack = { wallet, to, amountCents, reference: referenceOf(opened) }
    refund.transferId = payBacks.pay(payBack, book, context).id
  },

  card(refund, { payment, amountCents }, { book, refunds }) {
    book.hold(payment.walletId, amountCents, requestRefundCause(refund.id))
    refunds.ask(refund, ASK_ACQUIRER_WITHIN_MS)
  },

  async wallet(refund, { payment, amountCents }, opened, context) {
    const { em, tenant } = context
    const credit = opened.credits.get(payment.sourceId)
    if (!credit) throw new Error(`${payment.id}: a payment without its credit`)
    const { name: senderName } = await findCustomer(em, tenant.ownerId)
    const reference = referenceOf(opened)
    await refundOwnerPayment(credit, { amountCents, senderName, reference }, opened.book, context)
    endRequestRefund(refund, 'completed', opened, context)
  },
}

/** The remittance information that the payer reads. It contains only characters that SEPA allows. */
const referenceOf = ({ request }: OpenRefund): string => `Refund ${request.reference}`

export const refundPaymentRequest = externalCall(requestRefundsApi.refund, {
  async reserve({ params, body: { amountCents, reason: note, webauthnAssertion = null } }, context) {
    const amount = amountCents === undefined ? null : String(amountCents)
    const target = { requestId: params.id, sourceId: null, cents: amount, note, webauthnAssertion }
    const refunding = await beginRequestRefunds({ ...target, reason: 'other' }, context)
    if (refunding instanceof Refusal) return refunding
    const { request, refunds, begun } = refunding
    return begun.calls.length > 0 ? begun : new AnswerNow(answerOf(request, refunds, context))
  },

  call: ({ calls }, { systems }) => sendRefundCalls(calls, systems),

  async record(answers, begun, context) {
    await recordAcquirerAnswers(answers, begun.calls, context)
    return currentRefunds(begun, context)
  },

  recover: currentRefunds,
})

const answerOf = (
  request: PaymentRequest | PaymentRequestRow,
  refunds: readonly (Refund | RefundRow)[],
  context: RequestContext,
) => withMembers(paymentRequestResponse(request, context), { refunds: refunds.map(requestRefundResponse) })

async function currentRefunds({ refundIds }: BegunRefunds, context: RequestContext) {
  const { em } = context
  const refunds = await em.find(Refund, { id: { $in: refundIds } }, { orderBy: { id: 'asc' } })
  const request = await em.findOneOrFail(PaymentRequest, { id: refunds[0]?.requestId ?? '' })
  return answerOf(request, refunds, context)
}
