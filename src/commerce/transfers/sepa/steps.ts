import { findCustomer } from '../../../identity/customers/index.ts'
import type { Reason } from '../../../iso20022/reason-codes.ts'
import type { Mode } from '../../../kernel/contract/actor.ts'
import type { ContextOf, HandlerOf } from '../../../kernel/contract/operation.ts'
import { lock } from '../../../kernel/database/entity.ts'
import {
  isUnanswered,
  type Payee,
  type PayeeCheck,
  type Payment,
  type PaymentStatus,
  type RailCall,
  type RecallStatus,
  type SepaRail,
  type Unanswered,
} from '../../../ports/sepa-rail.ts'
import { after, clock } from '../../../values/clock.ts'
import { transferEvent } from '../events.ts'
import { transferProcess } from '../process.ts'
import { Transfer, transferMachine } from '../transfer.ts'
import { applyNotice, applyRecallAnswer, applyStatus, markUncertain } from './apply-notice.ts'
import { blockReasons } from './block-reasons.ts'
import {
  CONFIRM_WITHIN_MS,
  INSTANT_MS,
  inquiryPause,
  lockTransfer,
  PROCESS_GRACE_MS,
  type SepaTransfer,
} from './sepa-transfer.ts'
import type { stepsApi } from './steps-api.ts'

/** A call of the rail, as reserved before the transaction ended. Stored until the answer is recorded: names stay. */
interface RailRequest<T> {
  readonly id: string
  readonly mode: Mode
  readonly asks: T
}

interface Submission extends RailRequest<Payment> {
  /** Real time after which an instant payment is not sent: nothing of it may arrive when its time is over. */
  readonly byMs: number
}

type Step = ContextOf<typeof stepsApi.submit>

const NOTHING = { acted: false }

const payeeOf = ({ payee }: Transfer): Payee => {
  if (!payee) throw new Error('a transfer by SEPA has a payee')
  return { name: payee.name, iban: payee.iban, bic: payee.bic }
}

function paymentOf({ transfer, wallet }: SepaTransfer, at: Date): Payment {
  const { endToEndId, scheme, amountEuros, reference, submittedAt, payee } = transfer
  if (!endToEndId || !scheme || !submittedAt || !payee) throw new Error('it has not been submitted')
  const until = scheme === 'sct_inst' ? after(submittedAt, INSTANT_MS) : null
  return {
    endToEndId,
    scheme,
    amountEuros,
    reference,
    submittedAt,
    payerIban: wallet.iban,
    payee: { ...payeeOf(transfer), name: payee.sepaName },
    until,
    at,
  }
}

/** A check whose answer was lost is simply repeated: it moves no money. */
export const verify: HandlerOf<typeof stepsApi.verify> = {
  async reserve({ params }, { em, tenant: { mode }, now, ports, emit, refuse }) {
    const transfer = await lock(em, Transfer, params.id)
    if (!transfer) return refuse('transfer_not_found')
    ports.sepaRail(mode)
    if (transfer.kind === 'sepa' && transferMachine.move(transfer, 'verifying'))
      emit('payment.updated', transferEvent(transfer))
    if (transfer.status !== 'verifying' || transfer.payeeCheck) return null
    transfer.dueAt = after(now, PROCESS_GRACE_MS)
    return { id: transfer.id, mode, asks: payeeOf(transfer) }
  },
  call: async (request: RailRequest<Payee> | null, { ports, requestId }) =>
    request && ports.sepaRail(request.mode).verifyPayee(request.asks, { reference: request.id, requestId }),
  record: recordPayeeCheck,
  recover: (request: RailRequest<Payee> | null, context) => recordPayeeCheck(null, request, context),
}

/** A bank that does not answer counts as one that cannot check: the payment goes on. */
async function recordPayeeCheck(
  answer: PayeeCheck | Unanswered | null,
  request: RailRequest<Payee> | null,
  { em, now, emit, wake }: Step,
) {
  const transfer = request && (await lock(em, Transfer, request.id))
  if (!transfer || answer === null) return NOTHING
  if (transfer.status !== 'verifying' || transfer.payeeCheck) return NOTHING
  const { result, suggestedName } = isUnanswered(answer)
    ? ({ result: 'not_possible', suggestedName: null } as const)
    : answer
  transfer.payeeCheck = { result, suggestedName, at: now.toISOString() }
  transfer.dueAt = after(now, transfer.isToBeConfirmed() ? CONFIRM_WITHIN_MS : PROCESS_GRACE_MS)
  emit('payment.updated', transferEvent(transfer))
  wake(transferProcess, transfer)
  return { acted: true }
}

/** Blocks the transfer of a customer who was suspended while it was being made. */
async function suspensionReason({ em, tenant }: Step): Promise<Reason | undefined> {
  const { status } = await findCustomer(em, tenant.ownerId)
  return status === 'suspended' ? blockReasons.customer_suspended : undefined
}

/**
 * Writes the state `submitted` before it calls the rail, and only the transaction that wrote it calls. If the answer is
 * lost, or the call was never made, `inquire` finds out.
 */
export const submit: HandlerOf<typeof stepsApi.submit> = {
  async reserve({ params }, context) {
    const { tenant, now, ports, refuse } = context
    const sepaTransfer = await lockTransfer(params.id, context)
    if (!sepaTransfer) return refuse('transfer_not_found')
    ports.sepaRail(tenant.mode)
    if (!sepaTransfer.transfer.isReady()) return null
    const blocked = sepaTransfer.blockReason() ?? (await suspensionReason(context))
    if (blocked) await sepaTransfer.cancel(blocked)
    else sepaTransfer.submit()
    await sepaTransfer.post()
    const byMs = clock.milliseconds() + INSTANT_MS
    return blocked ? null : { id: params.id, mode: tenant.mode, asks: paymentOf(sepaTransfer, now), byMs }
  },
  async call(request: Submission | null, { ports, requestId }) {
    if (!request) return null
    const { id, mode, asks, byMs } = request
    if (asks.until && clock.milliseconds() >= byMs) return 'late'
    return ports.sepaRail(mode).submit(asks, { reference: id, requestId })
  },
  record: recordStatus,
  recover: (request: Submission | null, context) => recordStatus('late', request, context),
}

async function recordStatus(
  answer: PaymentStatus | Unanswered | null,
  request: RailRequest<Payment> | null,
  context: Step,
) {
  const sepaTransfer = request && (await lockTransfer(request.id, context))
  if (!sepaTransfer || answer === null) return NOTHING
  const acted = await applyStatus(sepaTransfer, answer, context.now)
  await sepaTransfer.post()
  return { acted }
}

interface Question {
  readonly payment: Payment
  /** Whether the payment's status is asked for. */
  readonly howItStands: boolean
  /** Whether the answer to its recall is asked for. */
  readonly whetherItComesBack: boolean
  /** Whether a payment that the rail does not know is sent once more. */
  readonly mayBeSent: boolean
}

interface Answers {
  readonly status: PaymentStatus | Unanswered | null
  readonly recall: RecallStatus | Unanswered | null
}

/** Asks the rail when that is due; the due time moves before the call, so that no two ask at once. */
export const inquire: HandlerOf<typeof stepsApi.inquire> = {
  async reserve({ params }, context) {
    const { tenant, now, ports, refuse } = context
    const sepaTransfer = await lockTransfer(params.id, context)
    if (!sepaTransfer) return refuse('transfer_not_found')
    ports.sepaRail(tenant.mode)
    const { transfer } = sepaTransfer
    const howItStands = transfer.status === 'submitted'
    const whetherItComesBack = transfer.recall?.status === 'requested'
    const isDue = transfer.dueAt !== null && transfer.dueAt <= now
    if (!isDue || !(howItStands || whetherItComesBack)) return null
    transfer.inquiries++
    transfer.dueAt = after(now, inquiryPause(transfer.inquiries))
    const isAcknowledged = transfer.acknowledgedAt !== null
    if (transfer.scheme === 'sct_inst' || !isAcknowledged) markUncertain(sepaTransfer)
    const mayBeSent = transfer.scheme === 'sct' && !isAcknowledged
    const asks = { payment: paymentOf(sepaTransfer, now), howItStands, whetherItComesBack, mayBeSent }
    return { id: params.id, mode: tenant.mode, asks }
  },
  async call(request: RailRequest<Question> | null, { ports, requestId }): Promise<Answers | null> {
    if (!request) return null
    const { payment, howItStands, whetherItComesBack, mayBeSent } = request.asks
    const rail = ports.sepaRail(request.mode)
    const call = { reference: request.id, requestId }
    const status = howItStands ? await askStatus(rail, payment, call, mayBeSent) : null
    if (!whetherItComesBack) return { status, recall: null }
    // A failed question about the recall must not lose the status that was answered.
    const recall = await rail.recall(payment, call).catch((error: unknown) => {
      if (status === null) throw error
      return 'late' as const
    })
    return { status, recall }
  },
  record: recordAnswers,
  recover: (request: RailRequest<Question> | null, context) => recordAnswers(null, request, context),
}

/**
 * A payment that the rail does not know was lost on the way and is submitted again, under the same reference. An instant
 * payment is not: its time is over, so it cannot have been paid.
 */
async function askStatus(rail: SepaRail, payment: Payment, call: RailCall, mayBeSent: boolean) {
  const answer = await rail.statusOf(payment, call)
  const isLost = !isUnanswered(answer) && answer.status === 'unknown'
  return isLost && mayBeSent ? rail.submit(payment, call) : answer
}

async function recordAnswers(answers: Answers | null, request: RailRequest<Question> | null, context: Step) {
  const sepaTransfer = request && answers && (await lockTransfer(request.id, context))
  if (!sepaTransfer) return NOTHING
  const { now } = context
  const { status, recall } = answers
  const statusChanged = status !== null && (await applyStatus(sepaTransfer, status, now))
  const recallChanged = recall !== null && (await applyRecallAnswer(sepaTransfer, recall, now))
  await sepaTransfer.post()
  return { acted: statusChanged || recallChanged }
}

const UNCONFIRMED = {
  code: 'payee_not_confirmed',
  message: 'Nobody has said in time to pay although the bank knows the payee otherwise.',
}

export const lapse: HandlerOf<typeof stepsApi.lapse> = async ({ params }, context) => {
  const sepaTransfer = await lockTransfer(params.id, context)
  if (!sepaTransfer) return context.refuse('transfer_not_found')
  const { transfer } = sepaTransfer
  const waits = transfer.status === 'verifying' && transfer.isToBeConfirmed()
  if (!waits || transfer.dueAt === null || transfer.dueAt > context.now) return NOTHING
  const acted = await sepaTransfer.cancel(UNCONFIRMED)
  await sepaTransfer.post()
  return { acted }
}

export const noticed: HandlerOf<typeof stepsApi.noticed> = async ({ params, body }, context) => {
  const sepaTransfer = await lockTransfer(params.id, context)
  if (!sepaTransfer) return context.refuse('transfer_not_found')
  if (!sepaTransfer.isSubmitted()) return context.refuse('transfer_not_submitted')
  const acted = await applyNotice(sepaTransfer, body.notice, body.reasonCode, context.now)
  await sepaTransfer.post()
  return { acted }
}
