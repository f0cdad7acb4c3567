import { CardAuthorization } from '../../../cards/authorizations/index.ts'
import { CardNumber } from '../../../cards/cards/index.ts'
import { AnswerNow, CallExternal } from '../../../kernel/contract/handlers.ts'
import { type ContextOf, externalCall } from '../../../kernel/contract/operation.ts'
import type { Ports } from '../../../kernel/contract/ports.ts'
import { Problem } from '../../../kernel/contract/problem.ts'
import type { KnownDispute } from '../../../ports/card-processor.ts'
import { after } from '../../../values/clock.ts'
import { disputesApi } from '../api.ts'
import { bundleOf } from '../bundle/bundle-of.ts'
import { renderBundle } from '../bundle/render.ts'
import { handIn, stateOf } from '../change.ts'
import { Dispute, pauseAfter } from '../dispute.ts'
import { lockDispute } from '../lock-dispute.ts'
import { pendingCall, schedule } from '../schedule.ts'
import { stepsApi } from '../steps-api.ts'
import { applyAnswer } from './apply-answer.ts'
import type { DisputeAnswer, DisputeCall } from './dispute-call.ts'

type StepContext = ContextOf<typeof stepsApi.callProcessor>
type SubmitContext = ContextOf<typeof disputesApi.submit>
type CallContext = StepContext | SubmitContext

const NOTHING = { acted: false }
const ACTED = { acted: true }

/** Reserves the next call where one is due. The due time moves before the call, so that no two call at once. */
export const callStep = externalCall(stepsApi.callProcessor, {
  async reserve({ params }, context) {
    const { now, refuse } = context
    const locked = await lockDispute(params.id, context)
    if (!locked) return refuse('dispute_not_found')
    const { dispute } = locked
    const isDue = dispute.callDueAt !== null && dispute.callDueAt <= now
    return isDue ? reserveCall(dispute, context) : new AnswerNow(NOTHING)
  },

  call: askProcessor,

  async record(answer, asked, context) {
    const recorded = await recordAnswer(answer, asked, context)
    if (recorded instanceof CallExternal) return recorded
    return recorded ? ACTED : NOTHING
  },

  // The process calls again: by the same reference the processor acts once.
  recover: async () => ACTED,
})

/**
 * Hands a dispute in while the caller waits, so that the answer shows what the network has credited at once. Where the
 * processor does not answer, the process calls it again.
 */
export const submit = externalCall(disputesApi.submit, {
  async reserve({ params }, context) {
    const { tenant, ports, refuse } = context
    const locked = await lockDispute(params.id, context)
    if (!locked) return refuse('dispute_not_found')
    const { dispute } = locked
    if (dispute.status !== 'open') return refuse('dispute_not_open', stateOf(dispute))
    handIn(locked, context)
    const isOfProcessor = dispute.processor === ports.cardProcessor(tenant.mode).name
    return isOfProcessor ? reserveCall(dispute, context) : new AnswerNow(dispute)
  },

  call: askProcessor,

  async record(answer, asked, context) {
    return (await recordAnswer(answer, asked, context)) ?? context.refuse('dispute_not_found')
  },

  async recover({ disputeId }, { records, refuse }) {
    return (await records.findOne(Dispute, { id: disputeId })) ?? refuse('dispute_not_found')
  },
})

/** Applies an answer. The next call follows at once: also the first inquiry, as the network may credit at the filing. */
async function recordAnswer(
  answer: DisputeAnswer,
  asked: DisputeCall,
  context: CallContext,
): Promise<Dispute | CallExternal<DisputeCall> | null> {
  const locked = await lockDispute(asked.disputeId, context)
  if (!locked) return null
  applyAnswer(answer, asked, locked, context)
  const { dispute } = locked
  const next = pendingCall(dispute)
  const goesOn = next !== null && next !== asked.kind
  return goesOn ? new CallExternal(await reserveCall(dispute, context)) : dispute
}

async function reserveCall(dispute: Dispute, context: CallContext): Promise<DisputeCall> {
  const { records, tenant, now, ports } = context
  const kind = pendingCall(dispute)
  if (kind === null) throw new Error(`${dispute.id}: no call is pending, and one is due`)
  const { name } = ports.cardProcessor(tenant.mode)
  if (dispute.processor !== name)
    throw new Problem('not_configured', `Its processor is ${dispute.processor}, and ${name} is configured.`)
  dispute.attempts++
  dispute.callDueAt = after(now, pauseAfter(dispute.attempts))
  schedule(dispute)
  const [payment, numbers] = await Promise.all([
    records.findOne(CardAuthorization, { transactionId: dispute.transactionId }),
    records.find(CardNumber, { cardId: dispute.cardId ?? '' }, { orderBy: { id: 'desc' }, limit: 1 }),
  ])
  return {
    disputeId: dispute.id,
    kind,
    mode: tenant.mode,
    ownerId: tenant.ownerId,
    now: now.toISOString(),
    claim: claimOf(dispute),
    processorDisputeId: dispute.processorDisputeId,
    submittedAt: dispute.submittedAt?.toISOString() ?? null,
    openedAt: dispute.createdAt.toISOString(),
    processorCardId: numbers[0]?.processorCardId ?? '',
    clearings: (payment?.facts.clearings ?? []).map(({ id, amount }) => ({ id, cents: amount })),
    bundle: kind === 'document' ? await bundleOf(dispute, context) : null,
  }
}

/** What the merchant has refunded is not asked of the network. */
const claimOf = ({ amountEuros, refundedEuros, reason, description }: Dispute): DisputeCall['claim'] => ({
  cents: String(amountEuros - refundedEuros),
  reason,
  description,
})

async function askProcessor(
  asked: DisputeCall,
  outside: { readonly ports: Ports; readonly requestId: string },
): Promise<DisputeAnswer> {
  const { disputes } = outside.ports.cardProcessor(asked.mode)
  const { disputeId, kind, claim, openedAt, processorCardId } = asked
  const { requestId } = outside
  const call = { reference: `${disputeId}/${kind}`, requestId, now: new Date(asked.now) }
  const amountEuros = BigInt(claim.cents)
  if (kind === 'open') {
    const clearings = asked.clearings
      .map(({ id, cents }) => ({ id, amountEuros: BigInt(cents) }))
      .sort((one, other) => Number(other.amountEuros - one.amountEuros))
    const dispute = { ...claim, disputeId, amountEuros, processorCardId, clearings }
    return disputes.open({ ...dispute, openedAt: new Date(openedAt) }, call)
  }
  const known = knownOf(asked, amountEuros)
  switch (kind) {
    case 'document': {
      if (asked.bundle === null) throw new Error(`${disputeId}: evidence without its bundle`)
      const { pdf, sha256 } = await renderBundle(asked.bundle, asked, outside.ports)
      return disputes.addEvidence(known, { ...claim, amountEuros, bundle: pdf, sha256 }, call)
    }
    case 'file':
      return disputes.submit(known, call)
    case 'withdraw':
      return disputes.withdraw(known, call)
    case 'inquire':
      return disputes.inquire(known, call)
  }
}

const knownOf = ({ processorDisputeId, submittedAt }: DisputeCall, amountEuros: bigint): KnownDispute => ({
  processorDisputeId: processorDisputeId ?? '',
  amountEuros,
  submittedAt: submittedAt === null ? null : new Date(submittedAt),
})
