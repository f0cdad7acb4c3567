import type { Actor, Mode } from '../../kernel/contract/actor.ts'
import { AnswerNow } from '../../kernel/contract/handlers.ts'
import { type ContextOf, DONE, externalCall } from '../../kernel/contract/operation.ts'
import type { RunningService } from '../../kernel/contract/ports.ts'
import { FOR_UPDATE, withMembers } from '../../kernel/database/entity.ts'
import { addMs, clock } from '../../values/clock.ts'
import { truncateText } from '../../values/schemas.ts'
import { proposalsApi } from './api.ts'
import {
  APPLY_LEASE_MS,
  APPLY_RETRY_WINDOW_MS,
  type ApplyAttempt,
  computeProposalBasis,
  MAX_APPLY_ATTEMPTS,
  Proposal,
  type ProposalApplier,
  type ProposedMembers,
  proposalMachine,
} from './proposal.ts'

type Ending = ContextOf<typeof proposalsApi.end>

export function endProposal(
  proposal: Proposal,
  status: 'applied' | 'dismissed' | 'expired' | 'outdated' | 'failed',
  { emit, now }: Ending,
): void {
  proposalMachine.move(proposal, status)
  Object.assign(proposal, { dueAt: null, attempt: null, decidedAt: now })
  const outcome = status === 'applied' || status === 'expired' ? status : 'dismissed'
  if (status !== 'failed') emit(`canvas.proposal_${outcome}`, proposalEvent(proposal))
}

export function proposalClosedReason({ status, expiresAt, dueAt }: Proposal, now: Date) {
  if (status === 'applying') return dueAt && dueAt > now ? 'proposal_applying' : undefined
  if (status === 'expired') return 'proposal_expired'
  if (status !== 'open') return 'proposal_over'
  return expiresAt <= now ? 'proposal_expired' : undefined
}

const isRepeatable = (attempt: ApplyAttempt | null): attempt is ApplyAttempt =>
  attempt !== null && clock.milliseconds() - Date.parse(attempt.begunAt) < APPLY_RETRY_WINDOW_MS

const applierOf = (actor: Actor, address: string | null): ProposalApplier => ({
  type: actor.type === 'console' ? 'console' : 'key',
  id: actor.id,
  name: actor.name ?? null,
  personId: actor.personId ?? null,
  madeByPersonId: actor.madeByPersonId ?? null,
  scopes: [...actor.scopes],
  sessionId: actor.sessionId ?? null,
  address,
})

/** The attempt, as recovery needs it after a crash. `isRepeated` says that an earlier attempt may have done it. */
function beginning(
  proposal: Proposal,
  attempt: ApplyAttempt,
  isRepeated: boolean,
  now: Date,
): ApplyReservation {
  proposalMachine.move(proposal, 'applying')
  Object.assign(proposal, { attempt, dueAt: addMs(now, APPLY_LEASE_MS), tries: proposal.tries + 1 })
  const { id, ownerId, mode, operation, input, basis, agentId } = proposal
  return { id, ownerId, mode, operation, input, basis, agentId, attempt, isRepeated }
}

export const applyProposal = externalCall(proposalsApi.apply, {
  async reserve({ params, body }, context) {
    const { em, actor, now, address, refuse } = context
    const proposal = await em.findOne(Proposal, { id: params.id }, FOR_UPDATE)
    if (!proposal) return refuse('proposal_not_found')
    if (proposal.status === 'applied') return new AnswerNow(proposalResponse(proposal))
    const problem = proposalClosedReason(proposal, now)
    if (problem) return refuse(problem)
    if (proposal.status === 'applying') {
      if (isRepeatable(proposal.attempt)) return beginning(proposal, proposal.attempt, true, now)
      failUnknown(proposal, context)
      return refuse('proposal_over', UNKNOWN.message)
    }
    const attempt: ApplyAttempt = {
      applier: applierOf(actor, address),
      webauthnAssertion: body.webauthnAssertion ?? null,
      // A refusal under the earlier key did nothing, so the next attempt has its own key.
      key: proposal.refusal ? `${proposal.id}.${proposal.tries}` : proposal.id,
      begunAt: clock.real().toISOString(),
    }
    return beginning(proposal, attempt, false, now)
  },

  call: (applying, { service }) => runProposed(applying, service),

  async record(answer, { id }, context) {
    const { refuse } = context
    const proposal = await recordOutcome(id, answer, context)
    if (!proposal) return refuse('proposal_not_found')
    if (proposal.status === 'applied') return proposalResponse(proposal)
    if (proposal.status === 'outdated') return refuse('proposal_outdated')
    if (answer.outcome === 'refused') {
      const { code, message, link } = answer
      if (!needsSignature(code)) return refuse('proposal_refused', `${code}: ${message}`)
      const refusal = refuse(code, message)
      return link === undefined ? refusal : refusal.linking(link)
    }
    return refuse('proposal_applying')
  },

  async recover({ id }, { em, refuse }) {
    const proposal = await em.findOne(Proposal, { id })
    if (!proposal) return refuse('proposal_not_found')
    return proposal.status === 'applied' ? proposalResponse(proposal) : refuse('proposal_applying')
  },
})

/**
 * Without a signature, or after a change of the statement, the person signs and tries again, as with the
 * operation itself.
 */
const needsSignature = (
  code: string,
): code is 'assertion_required' | 'statement_outdated' | 'passkey_required' =>
  code === 'assertion_required' || code === 'statement_outdated' || code === 'passkey_required'

export const endDueProposal = externalCall(proposalsApi.end, {
  async reserve({ params }, context) {
    const { em, now, refuse } = context
    const proposal = await em.findOne(Proposal, { id: params.id }, FOR_UPDATE)
    if (!proposal) return refuse('proposal_not_found')
    const { status, attempt, dueAt } = proposal
    if (!dueAt || dueAt > now) return new AnswerNow(DONE)
    if (status === 'open') endProposal(proposal, 'expired', context)
    else if (isRepeatable(attempt)) return beginning(proposal, attempt, true, now)
    else failUnknown(proposal, context)
    return new AnswerNow(DONE)
  },

  call: (applying, { service }) => runProposed(applying, service),

  async record(applied, { id }, context) {
    await recordOutcome(id, applied, context)
    return DONE
  },

  recover: async () => ({ done: false }),
})

const UNKNOWN = {
  code: 'outcome_unknown',
  message: 'The outcome is unknown. Check the record before you propose it again.',
}

/** An operation that may have run under an expired key is never repeated. */
function failUnknown(proposal: Proposal, context: Ending): void {
  proposal.refusal = UNKNOWN
  endProposal(proposal, 'failed', context)
}

async function recordOutcome(id: string, applied: ApplyOutcome, context: Ending): Promise<Proposal | null> {
  const { em, now } = context
  const proposal = await em.findOne(Proposal, { id }, FOR_UPDATE)
  if (proposal?.status !== 'applying' || !proposal.attempt) return proposal
  const { type, id: applierId, name } = proposal.attempt.applier
  if (applied.outcome === 'done') {
    Object.assign(proposal, {
      decidedBy: { type, id: applierId, name },
      resultId: applied.resultId,
      refusal: null,
    })
    endProposal(proposal, 'applied', context)
  } else if (applied.outcome === 'outdated') {
    endProposal(proposal, 'outdated', context)
  } else if (applied.outcome === 'refused') {
    proposalMachine.move(proposal, 'open')
    const { code, message } = applied
    Object.assign(proposal, { attempt: null, dueAt: proposal.expiresAt, refusal: { code, message } })
  } else if (proposal.tries >= MAX_APPLY_ATTEMPTS) {
    failUnknown(proposal, context)
  } else {
    proposal.dueAt = addMs(now, APPLY_LEASE_MS)
  }
  return proposal
}

interface ApplyReservation {
  readonly id: string
  readonly ownerId: string
  readonly mode: Mode
  readonly operation: string
  readonly input: ProposedMembers
  readonly basis: string | null
  readonly agentId: string | null
  readonly attempt: ApplyAttempt
  /** The earlier attempt may have changed the record, so its basis is not checked again. */
  readonly isRepeated: boolean
}

type ApplyOutcome =
  | { readonly outcome: 'done'; readonly resultId: string | null }
  | { readonly outcome: 'outdated' }
  | {
      readonly outcome: 'refused'
      readonly code: string
      readonly message: string
      readonly link?: string | undefined
    }
  | { readonly outcome: 'unknown' }

/** After these codes the operation may be running, or done, or may be tried again by itself. Any other 503 has done nothing. */
const UNDECIDED_CODES: ReadonlySet<string> = new Set([
  'in_progress',
  'outcome_unknown',
  'unavailable',
  'busy',
])

const isUndecided = (status: number, code: string): boolean =>
  UNDECIDED_CODES.has(code) || (status >= 500 && status !== 503)

/** Runs the operation with the rights of the applier; the proposal's id is the idempotency key. */
async function runProposed(
  applying: ApplyReservation,
  { tools }: Pick<RunningService, 'tools'>,
): Promise<ApplyOutcome> {
  const { id, operation, input, attempt, ownerId, mode, isRepeated } = applying
  const { applier, webauthnAssertion, key } = attempt
  const tenant = { ownerId, mode }
  if (!isRepeated && (await isOutdated(applying, tools))) return { outcome: 'outdated' }
  const actor: Actor = {
    type: applier.type,
    id: applier.id,
    tenant,
    agentId: null,
    personId: applier.personId ?? null,
    madeByPersonId: applier.madeByPersonId ?? null,
    scopes: new Set(applier.scopes),
    ...(applier.name === null ? {} : { name: applier.name }),
    ...(applier.sessionId === null ? {} : { sessionId: applier.sessionId }),
  }
  const given = webauthnAssertion === null ? input : { ...input, webauthnAssertion }
  // The journal records the proposal's id as the request id.
  const caller = { actor, requestId: id, address: applier.address, runId: null }
  const answer = await tools.call(caller, operation, given, key)
  const { status, refusal, body } = answer
  if (!refusal) return { outcome: 'done', resultId: idIn(body) }
  const { code, message, link } = refusal
  if (isUndecided(status, code)) return { outcome: 'unknown' }
  return { outcome: 'refused', code, message: truncateText(message), link }
}

async function isOutdated(
  { id, operation, input, basis, ownerId, mode }: ApplyReservation,
  tools: RunningService['tools'],
): Promise<boolean> {
  if (basis === null) return false
  const anonymous = {
    type: 'process',
    id: null,
    tenant: null,
    agentId: null,
    scopes: new Set<string>(),
  } as const
  const plan = tools.plan({ actor: anonymous }, operation, input)
  if (!plan) return true
  return (await computeProposalBasis(plan, { tools, tenant: { ownerId, mode }, requestId: id })) !== basis
}

function idIn(body: unknown): string | null {
  const { id } = (body ?? {}) as { readonly id?: unknown }
  return typeof id === 'string' && /^[a-z]+_\w{1,100}$/.test(id) ? id : null
}

export const proposalResponse = (proposal: Proposal) =>
  withMembers(proposal, { changes: [...proposal.changes], input: { ...proposal.input } })

export const proposalEvent = ({
  id,
  agentId,
  operation,
  recordId,
  resultId,
  status,
  expiresAt,
}: Proposal) => ({ proposalId: id, agentId, operation, recordId, resultId, status, expiresAt })
