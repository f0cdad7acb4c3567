import { PaymentSession } from '../../../control/payments/index.ts'
import { findCustomer } from '../../../identity/customers/index.ts'
import type { IsoReason } from '../../../iso20022/reason-codes.ts'
import type { ReadContext } from '../../../kernel/contract/context.ts'
import { FOR_UPDATE } from '../../../kernel/database/entity.ts'
import {
  isUnansweredRailCall,
  type PayeeCheck,
  type SepaPayee,
  type SepaPayment,
  type SepaRail,
  type SepaRailCall,
  type UnansweredRailCall,
} from '../../../ports/sepa-rail.ts'
import { addMs, clock } from '../../../values/clock.ts'
import { formatMinute } from '../../../values/minute.ts'
import { formatMoney } from '../../../values/money.ts'
import { sepaChannel, transferEvidence } from '../channels.ts'
import type { TransferSignal } from '../process.ts'
import {
  awaitsPayeeConfirmation,
  isReadyToSubmit,
  Transfer,
  transferEvent,
  transferMachine,
} from '../transfer.ts'
import { markIndeterminate, type RailAnswer } from './notices.ts'
import {
  cancellationReasons,
  cancelTransfer,
  emitTransferEvent,
  INSTANT_TIME_LIMIT_MS,
  inquiryDelay,
  type LockedTransfer,
  lockTransfer,
  PAYEE_CHECK_CLAIM_MS,
  PAYEE_CONFIRMATION_TTL_MS,
  type TransferStepContext,
  writeTransfer,
} from './sepa-transfer.ts'

function transferPayee({ payee }: Pick<Transfer, 'payee'>): SepaPayee {
  if (!payee) throw new Error('a transfer by SEPA has a payee')
  return { name: payee.name, iban: payee.iban, bic: payee.bic }
}

/** The reference of a transfer is its id, so however often the rail is called, it pays once. */
const railCall = (
  { id: reference }: Pick<Transfer, 'id'>,
  { requestId }: TransferStepContext,
): SepaRailCall => ({ reference, requestId })

interface PayeeQuestion {
  readonly payee: SepaPayee
  readonly call: SepaRailCall
}

/**
 * The question for the payee's bank; null where none is to be asked now. Who gets it has moved the due time: two calls never run
 * at once, and a question whose answer was lost is asked again.
 */
export async function reservePayeeCheck(
  id: string,
  context: TransferStepContext,
): Promise<PayeeQuestion | null> {
  const { em, now, emit } = context
  const transfer = await em.findOne(Transfer, { id }, FOR_UPDATE)
  if (transfer?.kind !== 'sepa') return null
  const isNew = transferMachine.move(transfer, 'verifying')
  if (isNew) emit('payment.updated', transferEvent(transfer))
  const isAsked = !isNew && transfer.dueAt !== null && transfer.dueAt > now
  if (transfer.status !== 'verifying' || transfer.payeeCheck || isAsked) return null
  transfer.dueAt = addMs(now, PAYEE_CHECK_CLAIM_MS)
  return { payee: transferPayee(transfer), call: railCall(transfer, context) }
}

/** A bank that does not answer counts as one that cannot check, and the payment continues. */
export async function recordPayeeCheck(
  id: string,
  answer: PayeeCheck | UnansweredRailCall,
  context: TransferStepContext,
): Promise<void> {
  const { em, now } = context
  const transfer = await em.findOne(Transfer, { id }, FOR_UPDATE)
  if (transfer?.status !== 'verifying' || transfer.payeeCheck) return
  const { result, suggestedName } = isUnansweredRailCall(answer)
    ? ({ result: 'not_possible', suggestedName: null } as const)
    : answer
  transfer.payeeCheck = { result, suggestedName, code: null, at: now.toISOString() }
  transfer.dueAt = awaitsPayeeConfirmation(transfer) ? addMs(now, PAYEE_CONFIRMATION_TTL_MS) : now
  emitTransferEvent('payment.updated', transfer, context)
}

const UNCONFIRMED = {
  code: 'payee_not_confirmed',
  message: 'The payee was not confirmed in time.',
}

/** Cancels only after the deadline, by the tenant's clock. */
export async function cancelUnconfirmedTransfer(id: string, context: TransferStepContext): Promise<void> {
  const locked = await lockTransfer(id, context)
  if (!locked) return
  const { status, dueAt } = locked.transfer
  const waits = status === 'verifying' && awaitsPayeeConfirmation(locked.transfer)
  if (!waits || dueAt === null || dueAt > context.now) return
  cancelTransfer(locked, UNCONFIRMED, context)
  await writeTransfer(locked, context)
}

async function blockReason(
  { wallet, intent, batch }: LockedTransfer,
  { em, tenant }: TransferStepContext,
): Promise<IsoReason | undefined> {
  if (wallet.status === 'frozen') return cancellationReasons.wallet_frozen
  const blocker = intent && batch.payments.submissionBlockerOf(intent)
  if (blocker) return cancellationReasons[blocker]
  // A transfer may be made while its customer is being suspended.
  const { status } = await findCustomer(em, tenant.ownerId)
  return status === 'suspended' ? cancellationReasons.customer_suspended : undefined
}

function paymentOrder({ transfer, wallet }: LockedTransfer, at: Date): SepaPayment {
  const { ownerId, endToEndId, scheme, amountCents, reference, submittedAt, payee } = transfer
  if (!endToEndId || !scheme || !submittedAt || !payee) throw new Error('it has not been submitted')
  return {
    ...{ ownerId, endToEndId, scheme, amountCents, reference, submittedAt, at },
    payerIban: wallet.iban,
    payee: { ...transferPayee(transfer), name: payee.sepaName },
    until: scheme === 'sct_inst' ? addMs(submittedAt, INSTANT_TIME_LIMIT_MS) : null,
  }
}

interface Submission {
  readonly payment: SepaPayment
  readonly call: SepaRailCall
  /** The real time from which on an instant payment is not sent, since it must not arrive after its time limit. */
  readonly byMs: number
}

/**
 * The money leaves the wallet, and from now on the rail determines how the transfer ends. Only the transaction that wrote
 * `submitted` gets the order; null where there is nothing to submit, or where its payer may no longer pay.
 */
export async function reserveSubmission(
  id: string,
  context: TransferStepContext,
): Promise<Submission | null> {
  const { now } = context
  const locked = await lockTransfer(id, context)
  if (!locked || !isReadyToSubmit(locked.transfer)) return null
  const { transfer, payment, batch } = locked
  const blocked = await blockReason(locked, context)
  if (blocked) {
    cancelTransfer(locked, blocked, context)
    await writeTransfer(locked, context)
    return null
  }
  transferMachine.move(transfer, 'submitted')
  Object.assign(transfer, { submittedAt: now, dueAt: addMs(now, inquiryDelay(0)) })
  const captured = { type: 'captured', cents: transfer.amountCents } as const
  new PaymentSession(sepaChannel, batch, context).apply(payment, captured, transferEvidence(transfer))
  transfer.transactionId = payment.transactionId
  emitTransferEvent('payment.updated', transfer, context)
  await writeTransfer(locked, context)
  const byMs = clock.milliseconds() + INSTANT_TIME_LIMIT_MS
  return { payment: paymentOrder(locked, now), call: railCall(transfer, context), byMs }
}

export async function submitInTime(rail: SepaRail, { payment, call, byMs }: Submission): Promise<RailAnswer> {
  const isLate = payment.until !== null && clock.milliseconds() >= byMs
  return isLate ? 'late' : rail.submit(payment, call)
}

interface SepaInquiry {
  readonly payment: SepaPayment
  readonly call: SepaRailCall
  readonly isSubmitted: boolean
  readonly isRecalled: boolean
}

/** What is to be asked of the rail; null before the inquiry is due. Moves the due time, so that two calls never run at once. */
export async function reserveInquiry(id: string, context: TransferStepContext): Promise<SepaInquiry | null> {
  const { now } = context
  const locked = await lockTransfer(id, context)
  if (!locked) return null
  const { transfer } = locked
  const isSubmitted = transfer.status === 'submitted'
  const isRecalled = transfer.recall?.status === 'requested'
  const isDue = transfer.dueAt !== null && transfer.dueAt <= now
  if (!isDue || !(isSubmitted || isRecalled)) return null
  transfer.inquiries++
  transfer.dueAt = addMs(now, inquiryDelay(transfer.inquiries))
  if (transfer.scheme === 'sct_inst' || transfer.acknowledgedAt === null) markIndeterminate(transfer, context)
  const payment = paymentOrder(locked, now)
  return { payment, call: railCall(transfer, context), isSubmitted, isRecalled }
}

const ended: readonly Transfer['status'][] = ['rejected', 'cancelled', 'returned']

/** Operators see this, and Temporal stores it, so it contains no names. */
function summaryOf(transfer: Transfer): string {
  const { amountCents, mode, beneficiaryId, status, recall, reason, payeeCheck, dueAt } = transfer
  const payee = beneficiaryId ?? 'the account that it came from'
  const head = `Transfer of ${formatMoney(amountCents)} to ${payee} in ${mode} mode: ${status}`
  const until = dueAt?.toISOString().slice(0, 16).replace('T', ' ')
  if (recall?.status === 'requested') return `${head}, recalled`
  if (awaitsPayeeConfirmation(transfer))
    return status === 'verifying'
      ? `${head}, waits for confirmPayee or cancel until ${until} UTC (${payeeCheck?.result})`
      : `${head}, waits for confirmPayee (${payeeCheck?.result})`
  // Does not repeat a person's free-text reason.
  return reason && reason.code !== 'cancelled' ? `${head}, ${reason.code}: ${reason.message}` : head
}

function signalsOf(transfer: Transfer): TransferSignal[] {
  const confirms: TransferSignal[] = awaitsPayeeConfirmation(transfer) ? ['confirmPayee'] : []
  const mayBeCancelled = transfer.status === 'verifying' || transfer.status === 'created'
  return mayBeCancelled ? [...confirms, 'cancel'] : confirms
}

type PayeeStanding = 'unverified' | 'doubtful' | 'accepted'

function payeeStanding(transfer: Transfer): PayeeStanding {
  if (awaitsPayeeConfirmation(transfer)) return 'doubtful'
  return transfer.payeeCheck ? 'accepted' : 'unverified'
}

/** What the run of a transfer reads. */
export async function transferStatus(id: string, { em, now }: ReadContext) {
  const transfer = await em.findOne(Transfer, { id })
  if (!transfer) return undefined
  const { status, submittedAt, recall, dueAt } = transfer
  const isRecalled = recall?.status === 'requested'
  const closed = ended.includes(status) || (status === 'completed' && !isRecalled)
  return {
    status,
    summary: summaryOf(transfer),
    closed,
    payee: payeeStanding(transfer),
    isSubmitted: submittedAt !== null,
    isRecalled,
    doubtfulSince: status === 'submitted' ? (submittedAt?.toISOString() ?? null) : null,
    dueInMs: closed ? null : (dueAt?.getTime() ?? 0) - now.getTime(),
    deadline: dueAt && formatMinute(dueAt),
    signals: closed ? [] : signalsOf(transfer),
  }
}
