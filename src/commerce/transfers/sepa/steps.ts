import { applyPaymentFact } from '../../../control/payments/index.ts'
import { findCustomer } from '../../../identity/customers/index.ts'
import type { IsoReason } from '../../../iso20022/reason-codes.ts'
import { externalCall, type HandlerOf } from '../../../kernel/contract/operation.ts'
import {
  isUnansweredRailCall,
  type PayeeCheck,
  type SepaPayee,
  type UnansweredRailCall,
} from '../../../ports/sepa-rail.ts'
import { addMs, clock, formatMinute } from '../../../values/clock.ts'
import { formatMoney } from '../../../values/money.ts'
import { sepaChannel, transferEvidence } from '../channels.ts'
import type { TransferProcessStatus, TransferSignal } from '../process.ts'
import {
  awaitsPayeeConfirmation,
  isReadyToSubmit,
  Transfer,
  transferEvent,
  transferMachine,
} from '../transfer.ts'
import { sepaTransferStepsApi } from './api.ts'
import { markIndeterminate, NO_STEP_TAKEN, recordRailAnswers } from './notices.ts'
import {
  inquireSepaRail,
  requestPayeeCheck,
  type SepaRailRequest,
  sepaPaymentOrder,
  submitSepaPayment,
  transferPayee,
} from './rail.ts'
import {
  cancellationReasons,
  cancelTransfer,
  emitTransferEvent,
  INSTANT_TIME_LIMIT_MS,
  inquiryDelay,
  type LockedTransfer,
  lockTransfer,
  PAYEE_CONFIRMATION_TTL_MS,
  type TransferStepContext,
  writeTransfer,
} from './sepa-transfer.ts'

/** Repeats a check whose answer was lost, since a check moves no money. */
export const verifyTransferPayee = externalCall(sepaTransferStepsApi.verify, {
  async reserve({ params }, { records, tenant: { mode }, now, systems, emit, refuse }) {
    const transfer = await records.lock(Transfer, params.id)
    if (!transfer) return refuse('transfer_not_found')
    systems.sepaRail(mode)
    if (transfer.kind === 'sepa' && transferMachine.move(transfer, 'verifying'))
      emit('payment.updated', transferEvent(transfer))
    if (transfer.status !== 'verifying' || transfer.payeeCheck) return null
    transfer.dueAt = now
    return { id: transfer.id, mode, asks: transferPayee(transfer) }
  },
  call: requestPayeeCheck,
  record: recordPayeeCheck,
  recover: (request, context) => recordPayeeCheck(null, request, context),
})

/** A bank that does not answer counts as one that cannot check, and the payment continues. */
async function recordPayeeCheck(
  answer: PayeeCheck | UnansweredRailCall | null,
  request: SepaRailRequest<SepaPayee> | null,
  context: TransferStepContext,
) {
  const { records, now } = context
  const transfer = request && (await records.lock(Transfer, request.id))
  if (!transfer || answer === null) return NO_STEP_TAKEN
  if (transfer.status !== 'verifying' || transfer.payeeCheck) return NO_STEP_TAKEN
  const { result, suggestedName } = isUnansweredRailCall(answer)
    ? ({ result: 'not_possible', suggestedName: null } as const)
    : answer
  transfer.payeeCheck = { result, suggestedName, code: null, at: now.toISOString() }
  transfer.dueAt = awaitsPayeeConfirmation(transfer) ? addMs(now, PAYEE_CONFIRMATION_TTL_MS) : now
  return { acted: emitTransferEvent('payment.updated', transfer, context) }
}

async function blockReason(
  { wallet, intent, batch }: LockedTransfer,
  { records, tenant }: TransferStepContext,
): Promise<IsoReason | undefined> {
  if (wallet.status === 'frozen') return cancellationReasons.wallet_frozen
  const blocker = intent && batch.payments.submissionBlockerOf(intent)
  if (blocker) return cancellationReasons[blocker]
  // A transfer may be made while its customer is being suspended.
  const { status } = await findCustomer(records, tenant.ownerId)
  return status === 'suspended' ? cancellationReasons.customer_suspended : undefined
}

/**
 * The money leaves the wallet, and from now on the rail determines how the transfer ends. The state
 * `submitted` is written before the rail is called, and only the transaction that wrote it calls. If the
 * answer is lost, or the call was never made, `inquire` finds out.
 */
export const submitTransfer = externalCall(sepaTransferStepsApi.submit, {
  async reserve({ params }, context) {
    const { tenant, now, systems, refuse } = context
    const locked = await lockTransfer(params.id, context)
    if (!locked) return refuse('transfer_not_found')
    systems.sepaRail(tenant.mode)
    const { transfer, payment, batch } = locked
    if (!isReadyToSubmit(transfer)) return null
    const blocked = await blockReason(locked, context)
    if (blocked) {
      cancelTransfer(locked, blocked, context)
      await writeTransfer(locked, context)
      return null
    }
    transferMachine.move(transfer, 'submitted')
    Object.assign(transfer, { submittedAt: now, dueAt: addMs(now, inquiryDelay(0)) })
    const captured = { type: 'captured', cents: transfer.amountCents } as const
    applyPaymentFact(payment, captured, sepaChannel, transferEvidence(transfer), batch, context)
    transfer.transactionId = payment.transactionId
    emitTransferEvent('payment.updated', transfer, context)
    await writeTransfer(locked, context)
    const byMs = clock.milliseconds() + INSTANT_TIME_LIMIT_MS
    return { id: params.id, mode: tenant.mode, asks: sepaPaymentOrder(locked, now), byMs }
  },
  call: submitSepaPayment,
  record: recordRailAnswers,
  recover: (request, context) => recordRailAnswers({ status: 'late', recall: null }, request, context),
})

/** Moves the due time before the call, so that two calls never run at once. */
export const inquireTransfer = externalCall(sepaTransferStepsApi.inquire, {
  async reserve({ params }, context) {
    const { tenant, now, systems, refuse } = context
    const locked = await lockTransfer(params.id, context)
    if (!locked) return refuse('transfer_not_found')
    systems.sepaRail(tenant.mode)
    const { transfer } = locked
    const howItStands = transfer.status === 'submitted'
    const whetherItComesBack = transfer.recall?.status === 'requested'
    const isDue = transfer.dueAt !== null && transfer.dueAt <= now
    if (!isDue || !(howItStands || whetherItComesBack)) return null
    transfer.inquiries++
    transfer.dueAt = addMs(now, inquiryDelay(transfer.inquiries))
    const isAcknowledged = transfer.acknowledgedAt !== null
    if (transfer.scheme === 'sct_inst' || !isAcknowledged) markIndeterminate(transfer, context)
    const mayBeSent = transfer.scheme === 'sct' && !isAcknowledged
    const asks = { payment: sepaPaymentOrder(locked, now), howItStands, whetherItComesBack, mayBeSent }
    return { id: params.id, mode: tenant.mode, asks }
  },
  call: inquireSepaRail,
  record: recordRailAnswers,
  recover: (request, context) => recordRailAnswers(null, request, context),
})

const UNCONFIRMED = {
  code: 'payee_not_confirmed',
  message: 'The payee was not confirmed in time.',
}

export const lapseTransfer: HandlerOf<typeof sepaTransferStepsApi.lapse> = async ({ params }, context) => {
  const locked = await lockTransfer(params.id, context)
  if (!locked) return context.refuse('transfer_not_found')
  const { transfer } = locked
  const waits = transfer.status === 'verifying' && awaitsPayeeConfirmation(transfer)
  if (!waits || transfer.dueAt === null || transfer.dueAt > context.now) return NO_STEP_TAKEN
  const acted = cancelTransfer(locked, UNCONFIRMED, context)
  await writeTransfer(locked, context)
  return { acted }
}

type Next = NonNullable<TransferProcessStatus['next']>

const ended: readonly Transfer['status'][] = ['rejected', 'cancelled', 'returned']

function nextOf(transfer: Transfer): { next: Next; atOnce: boolean } | null {
  if (ended.includes(transfer.status)) return null
  if (transfer.status === 'submitted' || transfer.recall?.status === 'requested')
    return { next: 'inquire', atOnce: false }
  if (transfer.status === 'completed') return null
  if (isReadyToSubmit(transfer)) return { next: 'submit', atOnce: true }
  return transfer.payeeCheck ? { next: 'lapse', atOnce: false } : { next: 'verify', atOnce: true }
}

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

const NEXT_LABELS: Readonly<Record<Next, string>> = {
  verify: 'for the payee’s bank to verify the name',
  submit: 'for the payment to be submitted',
  lapse: 'for a person to confirm the payee',
  inquire: 'for the rail to report the outcome',
}

function waitsFor(transfer: Transfer, next: Next): string {
  const { recall, dueAt } = transfer
  const what = recall?.status === 'requested' ? 'for the answer to the recall' : NEXT_LABELS[next]
  if (!dueAt || next === 'verify' || next === 'submit') return what
  if (next === 'inquire' && awaitsPayeeConfirmation(transfer))
    return `for a person to confirm the payee, and ${what}; the next inquiry is at ${formatMinute(dueAt)}`
  return next === 'lapse'
    ? `${what}, until ${formatMinute(dueAt)}`
    : `${what}; the next inquiry is at ${formatMinute(dueAt)}`
}

function signalsOf(transfer: Transfer): TransferSignal[] {
  const confirms: TransferSignal[] = awaitsPayeeConfirmation(transfer) ? ['confirmPayee'] : []
  const mayBeCancelled = transfer.status === 'verifying' || transfer.status === 'created'
  return mayBeCancelled ? [...confirms, 'cancel'] : confirms
}

export const transferProcessStatus: HandlerOf<typeof sepaTransferStepsApi.status> = async (
  { params },
  { records, now, refuse },
) => {
  const transfer = await records.findOne(Transfer, { id: params.id })
  if (!transfer) return refuse('transfer_not_found')
  const coming = nextOf(transfer)
  const dueInMs = coming?.atOnce ? 0 : (transfer.dueAt?.getTime() ?? 0) - now.getTime()
  return {
    status: transfer.status,
    summary: summaryOf(transfer),
    closed: coming === null,
    dueInMs: coming ? dueInMs : null,
    waitsFor: coming && waitsFor(transfer, coming.next),
    signals: coming ? signalsOf(transfer) : [],
    next: coming?.next ?? null,
  }
}
