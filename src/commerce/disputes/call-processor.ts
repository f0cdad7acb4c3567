import { CardAuthorization, processMessageOnce } from '../../cards/authorizations/index.ts'
import { CardNumber } from '../../cards/cards/index.ts'
import type { Mode } from '../../kernel/contract/actor.ts'
import { AnswerNow, CallExternal } from '../../kernel/contract/handlers.ts'
import { externalCall, type HandlerOf } from '../../kernel/contract/operation.ts'
import type { Systems } from '../../kernel/contract/ports.ts'
import { ifConfigured } from '../../kernel/contract/problem.ts'
import {
  type DisputeNotice,
  isProcessorFailure,
  type NetworkDisputeDecision,
  type OpenedNetworkDispute,
  type OpenNetworkDispute,
  type ProcessorCallDone,
  type ProcessorFailure,
} from '../../ports/card-processor.ts'
import { addMs } from '../../values/clock.ts'
import { type Cents, cents } from '../../values/money.ts'
import { truncateText } from '../../values/schemas.ts'
import { disputesApi } from './api.ts'
import { buildDisputeBundle, renderDisputeBundle } from './bundle.ts'
import { alreadyInStateMessage, markDisputeSubmitted } from './change.ts'
import {
  DISPUTE_INQUIRY_INTERVAL_MS,
  Dispute,
  type DisputeProcessorCall,
  disputeRetryDelay,
  EVIDENCE_REMINDER_MS,
  isDisputeUndecided,
  pendingDisputeCall,
  recordDisputeFact,
  scheduleDisputeDeadline,
} from './dispute.ts'
import {
  type DisputeReconcileContext,
  type LockedDispute,
  lockDispute,
  reconcileDispute,
} from './reconcile-dispute.ts'
import { decodeDisputeFacts, isNetworkFact } from './state.ts'
import type { DisputeBundleInput } from './thread.ts'

/** Plain JSON, since it must survive a crash. */
interface DisputeCall {
  readonly disputeId: string
  readonly kind: DisputeProcessorCall
  readonly mode: Mode
  readonly ownerId: string
  readonly now: string
  /** The id of the HTTP request that calls the processor, or of the one that made the run call. */
  readonly askedBy: string
  readonly claim: {
    readonly cents: string
    readonly reason: Dispute['reason']
    readonly description: string
  }
  readonly processorDisputeId: string | null
  readonly submittedAt: string | null
  readonly openedAt: string
  readonly processorCardId: string
  readonly clearings: readonly { readonly id: string; readonly cents: string }[]
  readonly bundle: DisputeBundleInput | null
}

type DisputeAnswer =
  | { readonly kind: 'open'; readonly answer: OpenedNetworkDispute | ProcessorFailure }
  | { readonly kind: 'inquire'; readonly answer: NetworkDisputeDecision | ProcessorFailure }
  | { readonly kind: 'document' | 'file' | 'withdraw'; readonly answer: ProcessorCallDone | ProcessorFailure }

/** The call that is due; undefined where none is. Moves the due time, so that two calls never run at once. */
export async function reserveDisputeCall(
  id: string,
  context: DisputeReconcileContext,
): Promise<DisputeCall | undefined> {
  const { dispute } = (await lockDispute(id, context)) ?? {}
  const isDue = dispute && dispute.callDueAt !== null && dispute.callDueAt <= context.now
  if (!isDue) return undefined
  if (isOfConfigured(dispute, context)) return reserveCall(dispute, context)
  dispute.processorProblem = UNANSWERED.unconfigured
  scheduleNextCall(dispute, context)
  return undefined
}

const isOfConfigured = ({ processor }: Dispute, { tenant, systems }: DisputeReconcileContext): boolean =>
  ifConfigured(() => systems.cardProcessor(tenant.mode))?.name === processor

function scheduleNextCall(dispute: Dispute, { now }: DisputeReconcileContext): void {
  dispute.attempts++
  dispute.callDueAt = addMs(now, disputeRetryDelay(dispute.attempts))
  scheduleDisputeDeadline(dispute)
}

/**
 * Submits during the request, so that the answer shows an immediate credit of the network. If the processor
 * does not answer, the process calls it again.
 */
export const submitDispute = externalCall(disputesApi.submit, {
  async reserve({ params }, context) {
    const { refuse } = context
    const locked = await lockDispute(params.id, context)
    if (!locked) return refuse('dispute_not_found')
    const { dispute } = locked
    if (dispute.status !== 'open') return refuse('dispute_not_open', alreadyInStateMessage(dispute))
    markDisputeSubmitted(locked, context)
    return isOfConfigured(dispute, context) ? reserveCall(dispute, context) : new AnswerNow(dispute)
  },

  call: (asked, { systems }) => callDisputeProcessor(asked, systems),

  async record(answer, asked, context) {
    const { dispute, next } = (await recordDisputeAnswer(answer, asked, context)) ?? {}
    return next ? new CallExternal(next) : (dispute ?? context.refuse('dispute_not_found'))
  },

  async recover({ disputeId }, { em, refuse }) {
    return (await em.findOne(Dispute, { id: disputeId })) ?? refuse('dispute_not_found')
  },
})

interface RecordedDispute {
  readonly dispute: Dispute
  readonly next: DisputeCall | undefined
}

/**
 * The next call is made at once. So is the first inquiry, as the network may credit when it receives the
 * dispute.
 */
export async function recordDisputeAnswer(
  answer: DisputeAnswer,
  { disputeId, kind }: DisputeCall,
  context: DisputeReconcileContext,
): Promise<RecordedDispute | undefined> {
  const locked = await lockDispute(disputeId, context)
  if (!locked) return undefined
  applyAnswer(answer, locked, context)
  const { dispute } = locked
  const next = pendingDisputeCall(dispute)
  const goesOn = next !== null && next !== kind
  return { dispute, next: goesOn ? await reserveCall(dispute, context) : undefined }
}

async function reserveCall(dispute: Dispute, context: DisputeReconcileContext): Promise<DisputeCall> {
  const { em, tenant, now, requestId: askedBy } = context
  const kind = pendingDisputeCall(dispute)
  if (kind === null) throw new Error(`${dispute.id}: no call is pending, and one is due`)
  // A dispute that has ended holds no money: the processor only learns it.
  if (isDisputeUndecided(dispute)) dispute.unansweredSince ??= now
  scheduleNextCall(dispute, context)
  const [payment, numbers] = await Promise.all([
    em.findOne(CardAuthorization, { transactionId: dispute.transactionId }),
    em.find(CardNumber, { cardId: dispute.cardId ?? '' }, { orderBy: { id: 'desc' }, limit: 1 }),
  ])
  return {
    disputeId: dispute.id,
    kind,
    mode: tenant.mode,
    ownerId: tenant.ownerId,
    now: now.toISOString(),
    askedBy,
    claim: claimOf(dispute),
    processorDisputeId: dispute.processorDisputeId,
    submittedAt: dispute.submittedAt?.toISOString() ?? null,
    openedAt: dispute.createdAt.toISOString(),
    processorCardId: numbers[0]?.processorCardId ?? '',
    clearings: (payment?.facts.clearings ?? []).map(({ id, amount }) => ({ id, cents: amount })),
    bundle: kind === 'document' ? await buildDisputeBundle(dispute, context) : null,
  }
}

const claimOf = ({ amountCents, refundedCents, reason, description }: Dispute): DisputeCall['claim'] => ({
  cents: String(amountCents - refundedCents),
  reason,
  description,
})

/** Under the same reference the processor acts once. */
export async function callDisputeProcessor(asked: DisputeCall, systems: Systems): Promise<DisputeAnswer> {
  const { disputes } = systems.cardProcessor(asked.mode)
  const { disputeId, kind, claim, askedBy: requestId, openedAt, processorCardId } = asked
  const call = { reference: `${disputeId}/${kind}`, requestId, now: new Date(asked.now) }
  const amountCents = cents(claim.cents)
  if (kind === 'open') {
    const clearings = asked.clearings
      .map(({ id, cents: amount }) => ({ id, amountCents: cents(amount) }))
      .sort((one, other) => Number(other.amountCents - one.amountCents))
    const dispute = { ...claim, disputeId, amountCents, processorCardId, clearings }
    return { kind, answer: await disputes.open({ ...dispute, openedAt: new Date(openedAt) }, call) }
  }
  const known = knownDispute(asked, amountCents)
  switch (kind) {
    case 'document': {
      if (asked.bundle === null) throw new Error(`${disputeId}: evidence without its bundle`)
      const { pdf, sha256 } = await renderDisputeBundle(asked.bundle, asked, systems)
      const evidence = { ...claim, amountCents, bundle: pdf, sha256 }
      return { kind, answer: await disputes.addEvidence(known, evidence, call) }
    }
    case 'file':
      return { kind, answer: await disputes.submit(known, call) }
    case 'withdraw':
      return { kind, answer: await disputes.withdraw(known, call) }
    case 'inquire':
      return { kind, answer: await disputes.inquire(known, call) }
  }
}

const knownDispute = (
  { processorDisputeId, submittedAt }: DisputeCall,
  amountCents: Cents,
): OpenNetworkDispute => ({
  processorDisputeId: processorDisputeId ?? '',
  amountCents,
  submittedAt: submittedAt === null ? null : new Date(submittedAt),
})

function applyAnswer(
  { kind, answer }: DisputeAnswer,
  locked: LockedDispute,
  context: DisputeReconcileContext,
): void {
  const { dispute } = locked
  const { now } = context
  if (isProcessorFailure(answer)) fail(dispute, kind, answer, now)
  else {
    Object.assign(dispute, { attempts: 0, processorProblem: null, callDueAt: now, unansweredSince: null })
    if (kind === 'open') opened(dispute, answer)
    if (kind === 'document') dispute.documentedAt ??= now
    if (kind === 'file') dispute.filedAt ??= now
    if (kind === 'withdraw') dispute.toldWithdrawnAt ??= now
    if (kind === 'inquire') recordDecision(dispute, answer, now)
    if (pendingDisputeCall(dispute) === 'inquire') dispute.callDueAt = addMs(now, DISPUTE_INQUIRY_INTERVAL_MS)
  }
  reconcileDispute(locked, context)
}

const UNANSWERED = {
  late: 'The card processor does not answer. The service will try again.',
  unusable: 'The card processor’s answer cannot be read. The service will try again.',
  unconfigured: 'The dispute’s card processor is not configured. The service will try again.',
}

/**
 * After a refused withdrawal, the network decides. Any other refusal loses the dispute, as it never reaches
 * the network.
 */
function fail(dispute: Dispute, kind: DisputeProcessorCall, failure: ProcessorFailure, now: Date): void {
  if (failure.failure !== 'refused') {
    dispute.processorProblem = UNANSWERED[failure.failure]
    return
  }
  dispute.processorProblem = truncateText(failure.message)
  dispute.unansweredSince = null
  if (kind === 'withdraw') dispute.toldWithdrawnAt = now
  else if (kind === 'inquire') dispute.callDueAt = addMs(now, DISPUTE_INQUIRY_INTERVAL_MS)
  else recordDisputeFact(dispute, { id: `refused/${kind}`, type: 'lost', at: now })
}

/** The processor's deadline for evidence takes precedence over the service's own. */
function opened(dispute: Dispute, { processorDisputeId, evidenceDueAt }: OpenedNetworkDispute): void {
  dispute.processorDisputeId ??= processorDisputeId
  if (
    dispute.status !== 'open' ||
    evidenceDueAt === null ||
    evidenceDueAt.getTime() === dispute.evidenceDueAt?.getTime()
  )
    return
  Object.assign(dispute, { evidenceDueAt, remindAt: addMs(evidenceDueAt, -EVIDENCE_REMINDER_MS) })
}

/** The processor is asked every day, so a repeated answer is not a new fact. */
function recordDecision(dispute: Dispute, standing: NetworkDisputeDecision, now: Date): void {
  if (standing.status === 'undecided') return
  const type = standing.status === 'expired' ? 'lost' : standing.status
  const amountCents = 'amountCents' in standing ? standing.amountCents : null
  const last = decodeDisputeFacts(dispute.facts).findLast(isNetworkFact)
  if (last?.type === type && last.cents === (amountCents?.toString() ?? null)) return
  recordDisputeFact(dispute, { id: `inquiry/${now.toISOString()}`, type, at: now, amountCents })
}

/** Records a report of the network as a fact, in any status of the dispute. */
export const receiveDisputeNotice: HandlerOf<typeof disputesApi.notice> = async ({ body }, context) => {
  const { id, sentAt, content, cardId } = body
  const { disputeId, says, amountCents } = content as DisputeNotice
  // Takes the first locks of the global order before the message is deduplicated.
  const locked = await lockDispute(disputeId, context)
  return processMessageOnce(body, context, async () => {
    if (!locked || locked.dispute.cardId !== cardId) return
    recordDisputeFact(locked.dispute, { id, type: says, at: sentAt, amountCents })
    reconcileDispute(locked, context)
  })
}
