import { externalCall } from '../../../kernel/contract/operation.ts'
import {
  isUnanswered,
  type Payment,
  type PaymentStatus,
  type RailCall,
  type RecallStatus,
  type SepaRail,
  type Unanswered,
} from '../../../ports/sepa-rail.ts'
import { after } from '../../../values/clock.ts'
import { applyRecallAnswer, applyStatus, markUncertain } from './apply-notice.ts'
import { lockTransfer } from './lock-transfer.ts'
import { NOTHING, paymentOf, type RailRequest, type StepContext } from './rail-request.ts'
import { inquiryPause } from './sepa-transfer.ts'
import { stepsApi } from './steps-api.ts'

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
export const inquire = externalCall(stepsApi.inquire, {
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
  async call(request, { ports, requestId }): Promise<Answers | null> {
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
  recover: (request, context) => recordAnswers(null, request, context),
})

/**
 * A payment that the rail does not know was lost on the way and is submitted again, under the same reference. An instant
 * payment is not: its time is over, so it cannot have been paid.
 */
async function askStatus(rail: SepaRail, payment: Payment, call: RailCall, mayBeSent: boolean) {
  const answer = await rail.statusOf(payment, call)
  const isLost = !isUnanswered(answer) && answer.status === 'unknown'
  return isLost && mayBeSent ? rail.submit(payment, call) : answer
}

async function recordAnswers(
  answers: Answers | null,
  request: RailRequest<Question> | null,
  context: StepContext,
) {
  const sepaTransfer = request && answers && (await lockTransfer(request.id, context))
  if (!sepaTransfer) return NOTHING
  const { now } = context
  const { status, recall } = answers
  const statusChanged = status !== null && (await applyStatus(sepaTransfer, status, now))
  const recallChanged = recall !== null && (await applyRecallAnswer(sepaTransfer, recall, now))
  await sepaTransfer.post()
  return { acted: statusChanged || recallChanged }
}
