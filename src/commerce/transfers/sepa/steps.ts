import { findCustomer } from '../../../identity/customers/index.ts'
import type { Reason } from '../../../iso20022/reason-codes.ts'
import { externalCall, type HandlerOf } from '../../../kernel/contract/operation.ts'
import {
  isUnanswered,
  type Payee,
  type PayeeCheck,
  type Payment,
  type PaymentStatus,
  type Unanswered,
} from '../../../ports/sepa-rail.ts'
import { after, clock } from '../../../values/clock.ts'
import { transferEvent } from '../events.ts'
import { transferProcess } from '../process.ts'
import { Transfer, transferMachine, waitsForPayee } from '../transfer.ts'
import { applyNotice, applyStatus } from './apply-notice.ts'
import { blockReasons } from './block-reasons.ts'
import { lockTransfer } from './lock-transfer.ts'
import { NOTHING, payeeOf, paymentOf, type RailRequest, type StepContext } from './rail-request.ts'
import { CONFIRM_WITHIN_MS, INSTANT_MS, PROCESS_GRACE_MS } from './sepa-transfer.ts'
import { stepsApi } from './steps-api.ts'

/** A check whose answer was lost is simply repeated: it moves no money. */
export const verify = externalCall(stepsApi.verify, {
  async reserve({ params }, { records, tenant: { mode }, now, ports, emit, refuse }) {
    const transfer = await records.lock(Transfer, params.id)
    if (!transfer) return refuse('transfer_not_found')
    ports.sepaRail(mode)
    if (transfer.kind === 'sepa' && transferMachine.move(transfer, 'verifying'))
      emit('payment.updated', transferEvent(transfer))
    if (transfer.status !== 'verifying' || transfer.payeeCheck) return null
    transfer.dueAt = after(now, PROCESS_GRACE_MS)
    return { id: transfer.id, mode, asks: payeeOf(transfer) }
  },
  call: async (request, { ports, requestId }) =>
    request && ports.sepaRail(request.mode).verifyPayee(request.asks, { reference: request.id, requestId }),
  record: recordPayeeCheck,
  recover: (request, context) => recordPayeeCheck(null, request, context),
})

/** A bank that does not answer counts as one that cannot check: the payment goes on. */
async function recordPayeeCheck(
  answer: PayeeCheck | Unanswered | null,
  request: RailRequest<Payee> | null,
  { records, now, emit, wake }: StepContext,
) {
  const transfer = request && (await records.lock(Transfer, request.id))
  if (!transfer || answer === null) return NOTHING
  if (transfer.status !== 'verifying' || transfer.payeeCheck) return NOTHING
  const { result, suggestedName } = isUnanswered(answer)
    ? ({ result: 'not_possible', suggestedName: null } as const)
    : answer
  transfer.payeeCheck = { result, suggestedName, code: null, at: now.toISOString() }
  transfer.dueAt = after(now, waitsForPayee(transfer) ? CONFIRM_WITHIN_MS : PROCESS_GRACE_MS)
  emit('payment.updated', transferEvent(transfer))
  wake(transferProcess, transfer)
  return { acted: true }
}

/** Blocks the transfer of a customer who was suspended while it was being made. */
async function suspensionReason({ records, tenant }: StepContext): Promise<Reason | undefined> {
  const { status } = await findCustomer(records, tenant.ownerId)
  return status === 'suspended' ? blockReasons.customer_suspended : undefined
}

/**
 * Writes the state `submitted` before it calls the rail, and only the transaction that wrote it calls. If the answer is
 * lost, or the call was never made, `inquire` finds out.
 */
export const submit = externalCall(stepsApi.submit, {
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
    // Real time after which an instant payment is not sent: nothing of it may arrive when its time is over.
    const byMs = clock.milliseconds() + INSTANT_MS
    return blocked ? null : { id: params.id, mode: tenant.mode, asks: paymentOf(sepaTransfer, now), byMs }
  },
  async call(request, { ports, requestId }) {
    if (!request) return null
    const { id, mode, asks, byMs } = request
    if (asks.until && clock.milliseconds() >= byMs) return 'late'
    return ports.sepaRail(mode).submit(asks, { reference: id, requestId })
  },
  record: (answer, request, context) => recordStatus(answer, request, context),
  recover: (request, context) => recordStatus('late', request, context),
})

async function recordStatus(
  answer: PaymentStatus | Unanswered | null,
  request: RailRequest<Payment> | null,
  context: StepContext,
) {
  const sepaTransfer = request && (await lockTransfer(request.id, context))
  if (!sepaTransfer || answer === null) return NOTHING
  const acted = await applyStatus(sepaTransfer, answer, context.now)
  await sepaTransfer.post()
  return { acted }
}

const UNCONFIRMED = {
  code: 'payee_not_confirmed',
  message: 'Nobody has said in time to pay although the bank knows the payee otherwise.',
}

export const lapse: HandlerOf<typeof stepsApi.lapse> = async ({ params }, context) => {
  const sepaTransfer = await lockTransfer(params.id, context)
  if (!sepaTransfer) return context.refuse('transfer_not_found')
  const { transfer } = sepaTransfer
  const waits = transfer.status === 'verifying' && waitsForPayee(transfer)
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
