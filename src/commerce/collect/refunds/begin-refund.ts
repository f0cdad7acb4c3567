import { findCustomer } from '../../../identity/customers/index.ts'
import { refundOwner } from '../../../money/incoming/index.ts'
import type { refundReasons } from '../../../money/refunds/index.ts'
import type { WalletRow } from '../../../money/wallets/index.ts'
import { after } from '../../../values/clock.ts'
import { collectProcess } from '../process.ts'
import { refundEvent } from './events.ts'
import { completeRefund, type Refunding as Moving, openRecords, writeRefunding } from './move-refund.ts'
import type { OpenRefund, Refunding } from './open-refund.ts'
import type { RefundPart } from './refund-parts.ts'
import { causeOf, FIRST_CHECK_AFTER, REFUND_SOURCE, RequestRefund, recordIdOf } from './request-refund.ts'

/** Why money goes back: in a word that programs read, and in words of the owner's. */
export interface RefundWords {
  readonly reason: (typeof refundReasons)[number]
  readonly note: string | null
}

/** Begins a refund for each part: from now on its money is held, has a transfer of its own, or is with the owner who paid. */
export async function beginRefunds(
  opened: OpenRefund,
  why: RefundWords,
  context: Refunding,
): Promise<readonly RequestRefund[]> {
  const { sql, tenant } = context
  const { locked, parts, book, payBacks } = opened
  const payments = new Map(parts.map(({ payment }) => [payment.id, payment]))
  const moving = { locked, payments, ...(await openRecords(payments, [], context)) }
  const refunds: RequestRefund[] = []
  for (const part of parts) {
    const refund = beginRefund(part, why, moving, context)
    refunds.push(refund)
    if (part.payment.way === 'sepa') payBySepa(refund, part, opened, context)
    if (part.payment.way === 'card') book.hold(part.payment.walletId, part.amountEuros, causeOf(refund))
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

function beginRefund(
  { payment, amountEuros }: RefundPart,
  { reason, note }: RefundWords,
  { locked: { request }, transactions, refunds }: Moving,
  { records, now, emit, wake }: Refunding,
): RequestRefund {
  const { id: paymentId, way } = payment
  const dueAt = way === 'card' ? after(now, FIRST_CHECK_AFTER) : null
  const members = { requestId: request.id, paymentId, way, amountEuros, reason: note, dueAt }
  const refund = records.create(RequestRefund, members)
  const transaction = transactions.get(payment.transactionId ?? '')
  const source = { type: REFUND_SOURCE, id: refund.id }
  if (transaction)
    refunds.ask(transaction, { id: recordIdOf(refund), way, amountEuros, reason, note, source }, emit)
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
  refund: RequestRefund,
  { payment, amountEuros }: RefundPart,
  opened: OpenRefund,
  context: Refunding,
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
  context: Refunding,
): Promise<void> {
  const { records, tenant } = context
  const credit = opened.credits.get(payment.sourceId)
  if (!credit) throw new Error(`${payment.id}: a payment without its credit`)
  const { name: senderName } = await findCustomer(records, tenant.ownerId)
  const reference = referenceOf(opened)
  await refundOwner(credit, { amountEuros, senderName, reference }, opened.book, context)
}
