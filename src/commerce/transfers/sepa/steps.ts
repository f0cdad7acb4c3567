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
import { doubt, hear, hearRecall, hearStatus } from './apply-notice.ts'
import { stops } from './block-reasons.ts'
import { CONFIRM_WITHIN, type Course, INSTANT, pauseAfter, takeUp, UNATTENDED } from './sepa-transfer.ts'
import type { stepsApi } from './steps-api.ts'

/** What the rail is asked, as it was known when the transaction ended. */
interface Errand<T> {
  readonly id: string
  readonly mode: Mode
  readonly asks: T
}

/** Handed over by then, or not at all: of an instant payment nothing may arrive when its time is over. */
interface Submission extends Errand<Payment> {
  readonly byMs: number
}

type Step = ContextOf<typeof stepsApi.submit>

const NOTHING = { acted: false }

const payeeOf = ({ payee }: Transfer): Payee => {
  if (!payee) throw new Error('a transfer by SEPA has a payee')
  return { name: payee.name, iban: payee.iban, bic: payee.bic }
}

function paymentOf({ transfer, wallet }: Course, at: Date): Payment {
  const { endToEndId, scheme, amountEuros, reference, submittedAt, payee } = transfer
  if (!endToEndId || !scheme || !submittedAt || !payee) throw new Error('it has not been submitted')
  const until = scheme === 'sct_inst' ? after(submittedAt, INSTANT) : null
  const spelled = { ...payeeOf(transfer), name: payee.sepaName }
  const known = { endToEndId, scheme, amountEuros, reference, submittedAt }
  return { ...known, payerIban: wallet.iban, payee: spelled, until, at }
}

/** A check that was asked for and not recorded is asked for again: it moves nothing. */
export const verify: HandlerOf<typeof stepsApi.verify> = {
  async reserve({ params }, { em, tenant: { mode }, now, ports, emit, refuse }) {
    const transfer = await lock(em, Transfer, params.id)
    if (!transfer) return refuse('transfer_not_found')
    ports.sepaRail(mode)
    if (transfer.kind === 'sepa' && transferMachine.move(transfer, 'verifying'))
      emit('payment.updated', transferEvent(transfer))
    if (transfer.status !== 'verifying' || transfer.payeeCheck) return null
    transfer.dueAt = after(now, UNATTENDED)
    return { id: transfer.id, mode, asks: payeeOf(transfer) }
  },
  call: async (errand: Errand<Payee> | null, { ports, requestId }) =>
    errand && ports.sepaRail(errand.mode).verifyPayee(errand.asks, { reference: errand.id, requestId }),
  record: keepCheck,
  recover: (errand: Errand<Payee> | null, context) => keepCheck(null, errand, context),
}

/** A bank that does not say is as good as one that cannot: the payment is not held up by it. */
async function keepCheck(
  answer: PayeeCheck | Unanswered | null,
  errand: Errand<Payee> | null,
  { em, now, emit, wake }: Step,
) {
  const transfer = errand && (await lock(em, Transfer, errand.id))
  if (!transfer || answer === null) return NOTHING
  if (transfer.status !== 'verifying' || transfer.payeeCheck) return NOTHING
  const { result, suggestedName } = isUnanswered(answer)
    ? ({ result: 'not_possible', suggestedName: null } as const)
    : answer
  transfer.payeeCheck = { result, suggestedName, at: now.toISOString() }
  transfer.dueAt = after(now, transfer.isToBeConfirmed() ? CONFIRM_WITHIN : UNATTENDED)
  emit('payment.updated', transferEvent(transfer))
  wake(transferProcess, transfer)
  return { acted: true }
}

/** Who was suspended while a transfer was being made has it all the same; it does not leave. */
async function suspension({ em, tenant }: Step): Promise<Reason | undefined> {
  const { status } = await findCustomer(em, tenant.ownerId)
  return status === 'suspended' ? stops.customer_suspended : undefined
}

/**
 * The state says `submitted` before the rail is called, and only who has written it calls. Where the answer is lost, or
 * the call was never made, `inquire` finds out.
 */
export const submit: HandlerOf<typeof stepsApi.submit> = {
  async reserve({ params }, context) {
    const { tenant, now, ports, refuse } = context
    const course = await takeUp(params.id, context)
    if (!course) return refuse('transfer_not_found')
    ports.sepaRail(tenant.mode)
    if (!course.transfer.isReady()) return null
    const stop = course.stop() ?? (await suspension(context))
    if (stop) await course.cancel(stop)
    else course.submit()
    await course.post()
    const byMs = clock.milliseconds() + INSTANT
    return stop ? null : { id: params.id, mode: tenant.mode, asks: paymentOf(course, now), byMs }
  },
  async call(errand: Submission | null, { ports, requestId }) {
    if (!errand) return null
    const { id, mode, asks, byMs } = errand
    if (asks.until && clock.milliseconds() >= byMs) return 'late'
    return ports.sepaRail(mode).submit(asks, { reference: id, requestId })
  },
  record: keepStatus,
  recover: (errand: Submission | null, context) => keepStatus('late', errand, context),
}

async function keepStatus(
  answer: PaymentStatus | Unanswered | null,
  errand: Errand<Payment> | null,
  context: Step,
) {
  const course = errand && (await takeUp(errand.id, context))
  if (!course || answer === null) return NOTHING
  const acted = await hearStatus(course, answer, context.now)
  await course.post()
  return { acted }
}

interface Question {
  readonly payment: Payment
  readonly howItStands: boolean
  readonly whetherItComesBack: boolean
  /** It may never have arrived, and may still be sent. */
  readonly mayBeSent: boolean
}

interface Answers {
  readonly status: PaymentStatus | Unanswered | null
  readonly recall: RecallStatus | Unanswered | null
}

/** Asked for when it is due; whoever asks puts off when it is due again, so nobody asks twice at once. */
export const inquire: HandlerOf<typeof stepsApi.inquire> = {
  async reserve({ params }, context) {
    const { tenant, now, ports, refuse } = context
    const course = await takeUp(params.id, context)
    if (!course) return refuse('transfer_not_found')
    ports.sepaRail(tenant.mode)
    const { transfer } = course
    const howItStands = transfer.status === 'submitted'
    const whetherItComesBack = transfer.recall?.status === 'requested'
    const isDue = transfer.dueAt !== null && transfer.dueAt <= now
    if (!isDue || !(howItStands || whetherItComesBack)) return null
    transfer.inquiries++
    transfer.dueAt = after(now, pauseAfter(transfer.inquiries))
    const isHeardOf = transfer.acknowledgedAt !== null
    if (transfer.scheme === 'sct_inst' || !isHeardOf) doubt(course)
    const mayBeSent = transfer.scheme === 'sct' && !isHeardOf
    const asks = { payment: paymentOf(course, now), howItStands, whetherItComesBack, mayBeSent }
    return { id: params.id, mode: tenant.mode, asks }
  },
  async call(errand: Errand<Question> | null, { ports, requestId }): Promise<Answers | null> {
    if (!errand) return null
    const { payment, howItStands, whetherItComesBack, mayBeSent } = errand.asks
    const rail = ports.sepaRail(errand.mode)
    const call = { reference: errand.id, requestId }
    const status = howItStands ? await askStatus(rail, payment, call, mayBeSent) : null
    if (!whetherItComesBack) return { status, recall: null }
    // What is known of the payment is not lost with an answer about its recall.
    const recall = await rail.recall(payment, call).catch((error: unknown) => {
      if (status === null) throw error
      return 'late' as const
    })
    return { status, recall }
  },
  record: keepAnswers,
  recover: (errand: Errand<Question> | null, context) => keepAnswers(null, errand, context),
}

/**
 * What the rail has never heard of was lost before it got there. It is handed over under the same reference; an
 * instant payment is not, for its time is over: nothing of it can have been paid.
 */
async function askStatus(rail: SepaRail, payment: Payment, call: RailCall, mayBeSent: boolean) {
  const answer = await rail.statusOf(payment, call)
  const isLost = !isUnanswered(answer) && answer.status === 'unknown'
  return isLost && mayBeSent ? rail.submit(payment, call) : answer
}

async function keepAnswers(answers: Answers | null, errand: Errand<Question> | null, context: Step) {
  const course = errand && answers && (await takeUp(errand.id, context))
  if (!course) return NOTHING
  const { now } = context
  const { status, recall } = answers
  const told = status !== null && (await hearStatus(course, status, now))
  const answered = recall !== null && (await hearRecall(course, recall, now))
  await course.post()
  return { acted: told || answered }
}

const UNCONFIRMED = {
  code: 'payee_not_confirmed',
  message: 'Nobody has said in time to pay although the bank knows the payee otherwise.',
}

export const lapse: HandlerOf<typeof stepsApi.lapse> = async ({ params }, context) => {
  const course = await takeUp(params.id, context)
  if (!course) return context.refuse('transfer_not_found')
  const { transfer } = course
  const waits = transfer.status === 'verifying' && transfer.isToBeConfirmed()
  if (!waits || transfer.dueAt === null || transfer.dueAt > context.now) return NOTHING
  const acted = await course.cancel(UNCONFIRMED)
  await course.post()
  return { acted }
}

export const noticed: HandlerOf<typeof stepsApi.noticed> = async ({ params, body }, context) => {
  const course = await takeUp(params.id, context)
  if (!course) return context.refuse('transfer_not_found')
  if (!course.isAtTheRail()) return context.refuse('transfer_not_submitted')
  const acted = await hear(course, body.notice, body.reasonCode, context.now)
  await course.post()
  return { acted }
}
