import { CardAuthorization, deduplicate } from '../../cards/authorizations/index.ts'
import { CardNumber } from '../../cards/cards/index.ts'
import type { Mode } from '../../kernel/contract/actor.ts'
import { AnswerNow, CallExternal } from '../../kernel/contract/handlers.ts'
import { type ContextOf, externalCall, type HandlerOf } from '../../kernel/contract/operation.ts'
import type { Ports } from '../../kernel/contract/ports.ts'
import { Problem } from '../../kernel/contract/problem.ts'
import {
  type DisputeNews,
  type Done,
  isFailure,
  type KnownDispute,
  type NetworkDecision,
  type OpenedDispute,
  type ProcessorFailure,
} from '../../ports/card-processor.ts'
import { after } from '../../values/clock.ts'
import { type Cents, cents } from '../../values/money.ts'
import { excerpt } from '../../values/schemas.ts'
import { disputesApi } from './api.ts'
import { bundleOf, renderBundle } from './bundle.ts'
import { handIn, stateOf } from './change.ts'
import {
  Dispute,
  INQUIRY_MS,
  type ProcessorCallKind,
  pauseAfter,
  pendingCall,
  REMINDER_MS,
  recordFact,
  schedule,
} from './dispute.ts'
import { type LockedDispute, lockDispute, type ReconcileContext, reconcile } from './reconcile-dispute.ts'
import { factsOf, isOfNetwork } from './state.ts'
import type { BundleInput } from './thread.ts'

/** Plain JSON, since it must survive a crash. */
interface DisputeCall {
  readonly disputeId: string
  readonly kind: ProcessorCallKind
  readonly mode: Mode
  readonly ownerId: string
  readonly now: string
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
  readonly bundle: BundleInput | null
}

type DisputeAnswer =
  | { readonly kind: 'open'; readonly answer: OpenedDispute | ProcessorFailure }
  | { readonly kind: 'inquire'; readonly answer: NetworkDecision | ProcessorFailure }
  | { readonly kind: 'document' | 'file' | 'withdraw'; readonly answer: Done | ProcessorFailure }

type StepContext = ContextOf<typeof disputesApi.callProcessor>
type SubmitContext = ContextOf<typeof disputesApi.submit>
type CallContext = StepContext | SubmitContext

const NOT_ACTED = { acted: false }
const ACTED = { acted: true }

/** Moves the due time before the call, so that two calls never run at once. */
export const callStep = externalCall(disputesApi.callProcessor, {
  async reserve({ params }, context) {
    const { now, refuse } = context
    const locked = await lockDispute(params.id, context)
    if (!locked) return refuse('dispute_not_found')
    const { dispute } = locked
    const isDue = dispute.callDueAt !== null && dispute.callDueAt <= now
    return isDue ? reserveCall(dispute, context) : new AnswerNow(NOT_ACTED)
  },

  call: callProcessor,

  async record(answer, asked, context) {
    const recorded = await recordAnswer(answer, asked, context)
    if (recorded instanceof CallExternal) return recorded
    return recorded ? ACTED : NOT_ACTED
  },

  // The process calls again: under the same reference the processor acts once.
  recover: async () => ACTED,
})

/**
 * Submits during the request, so that the answer shows an immediate credit of the network. If the processor
 * does not answer, the process calls it again.
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

  call: callProcessor,

  async record(answer, asked, context) {
    return (await recordAnswer(answer, asked, context)) ?? context.refuse('dispute_not_found')
  },

  async recover({ disputeId }, { records, refuse }) {
    return (await records.findOne(Dispute, { id: disputeId })) ?? refuse('dispute_not_found')
  },
})

/**
 * Schedules the next call at once. The first inquiry also follows at once, as the network may credit when it
 * receives the dispute.
 */
async function recordAnswer(
  answer: DisputeAnswer,
  asked: DisputeCall,
  context: CallContext,
): Promise<Dispute | CallExternal<DisputeCall> | null> {
  const locked = await lockDispute(asked.disputeId, context)
  if (!locked) return null
  applyAnswer(answer, locked, context)
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

const claimOf = ({ amountCents, refundedCents, reason, description }: Dispute): DisputeCall['claim'] => ({
  cents: String(amountCents - refundedCents),
  reason,
  description,
})

async function callProcessor(
  asked: DisputeCall,
  outside: { readonly ports: Ports; readonly requestId: string },
): Promise<DisputeAnswer> {
  const { disputes } = outside.ports.cardProcessor(asked.mode)
  const { disputeId, kind, claim, openedAt, processorCardId } = asked
  const { requestId } = outside
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
      const { pdf, sha256 } = await renderBundle(asked.bundle, asked, outside.ports)
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
): KnownDispute => ({
  processorDisputeId: processorDisputeId ?? '',
  amountCents,
  submittedAt: submittedAt === null ? null : new Date(submittedAt),
})

function applyAnswer(
  { kind, answer }: DisputeAnswer,
  locked: LockedDispute,
  context: ReconcileContext,
): void {
  const { dispute } = locked
  const { now } = context
  if (isFailure(answer)) fail(dispute, kind, answer, now)
  else {
    Object.assign(dispute, { attempts: 0, processorProblem: null, callDueAt: now })
    if (kind === 'open') opened(dispute, answer)
    if (kind === 'document') dispute.documentedAt ??= now
    if (kind === 'file') dispute.filedAt ??= now
    if (kind === 'withdraw') dispute.toldWithdrawnAt ??= now
    if (kind === 'inquire') recordDecision(dispute, answer, now)
    if (pendingCall(dispute) === 'inquire') dispute.callDueAt = after(now, INQUIRY_MS)
  }
  reconcile(locked, context)
}

const UNANSWERED = {
  late: 'The card processor does not answer. It is asked again.',
  unusable: 'The answer of the card processor cannot be read. It is asked again.',
}

/**
 * After a refused withdrawal, the network decides. Any other refusal loses the dispute, as it never reaches
 * the network.
 */
function fail(dispute: Dispute, kind: ProcessorCallKind, failure: ProcessorFailure, now: Date): void {
  if (failure.failure !== 'refused') {
    dispute.processorProblem = UNANSWERED[failure.failure]
    return
  }
  dispute.processorProblem = excerpt(failure.message)
  if (kind === 'withdraw') dispute.toldWithdrawnAt = now
  else if (kind === 'inquire') dispute.callDueAt = after(now, INQUIRY_MS)
  else recordFact(dispute, { id: `refused/${kind}`, type: 'lost', at: now })
}

/** The processor's deadline for evidence takes precedence over the service's own. */
function opened(dispute: Dispute, { processorDisputeId, evidenceDueAt }: OpenedDispute): void {
  dispute.processorDisputeId ??= processorDisputeId
  if (
    dispute.status !== 'open' ||
    evidenceDueAt === null ||
    evidenceDueAt.getTime() === dispute.evidenceDueAt?.getTime()
  )
    return
  Object.assign(dispute, { evidenceDueAt, remindAt: after(evidenceDueAt, -REMINDER_MS) })
}

/** The processor is asked every day, so a repeated answer is not a new fact. */
function recordDecision(dispute: Dispute, standing: NetworkDecision, now: Date): void {
  if (standing.status === 'undecided') return
  const type = standing.status === 'expired' ? 'lost' : standing.status
  const amountCents = 'amountCents' in standing ? standing.amountCents : null
  const last = factsOf(dispute.facts).findLast(isOfNetwork)
  if (last?.type === type && last.cents === (amountCents?.toString() ?? null)) return
  recordFact(dispute, { id: `inquiry/${now.toISOString()}`, type, at: now, amountCents })
}

/** Records a report of the network as a fact, in any status of the dispute. */
export const notice: HandlerOf<typeof disputesApi.notice> = async ({ body }, context) => {
  const { id, sentAt, content, cardId } = body
  const { disputeId, says, amountCents } = content as DisputeNews
  // Takes the first locks of the global order before the message is deduplicated.
  const locked = await lockDispute(disputeId, context)
  return deduplicate(body, context, async () => {
    if (!locked || locked.dispute.cardId !== cardId) return
    recordFact(locked.dispute, { id, type: says, at: sentAt, amountCents })
    reconcile(locked, context)
  })
}
