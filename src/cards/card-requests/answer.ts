import { type Agent, lockAnyAgent } from '../../control/agents/index.ts'
import { personalDecision } from '../../control/intents/index.ts'
import { effectivePolicy } from '../../control/policies/index.ts'
import {
  type ApprovalProgress,
  addApproval,
  approvalProgressOf,
  approverProblem,
  readApproversAndDeputies,
  type UncountedApproval,
} from '../../identity/approvals/index.ts'
import { approverOfWidening, refuseUnsignedWidening } from '../../identity/passkeys/index.ts'
import type { EmitContext, ReadContext, SqlContext, WriteContext } from '../../kernel/contract/context.ts'
import type { ContextOf, HandlerOf } from '../../kernel/contract/operation.ts'
import { Refusal } from '../../kernel/contract/problem.ts'
import type { Row } from '../../kernel/contract/sql.ts'
import { FOR_UPDATE } from '../../kernel/database/entity.ts'
import type { StatedWidening } from '../../statements/index.ts'
import type { Cents } from '../../values/money.ts'
import {
  type CardLimits,
  type LockedCard,
  lockCard,
  wideningsOfCard,
  wideningsOfNewCard,
} from '../cards/index.ts'
import type { cardRequestEvents, cardRequestsApi } from './api.ts'
import {
  amountToApprove,
  approvedColumns,
  approvedLimits,
  CardRequest,
  cardApprovalEvent,
  cardRequestEvent,
  cardRequestMachine,
  cardRequestResponse,
  differingLimitProblem,
  limitsAfterRequest,
  limitsToApprove,
  noCardLimits,
  raisedLimitProblem,
  requestedLimits,
  setCardApproval,
  withoutSteps,
} from './card-request.ts'
import { cardRequestProcess } from './process.ts'

export interface LockedCardRequest {
  readonly request: CardRequest
  readonly agent: Agent
  readonly locked: LockedCard | null
}

/** Locks the agent first, as every change of cards does, then the card, then the request. */
export async function lockCardRequest(id: string, context: WriteContext): Promise<LockedCardRequest | null> {
  const { em } = context
  // The agent and the card of a request never change, so they can be read before the locks.
  const known = await em.findOne(CardRequest, { id })
  if (!known) return null
  const { agentId, type, cardId } = known
  const [agent, locked, request] = await Promise.all([
    lockAnyAgent(em, agentId),
    type === 'limit_change' && cardId ? lockCard(cardId, context) : null,
    em.findOne(CardRequest, { id }, FOR_UPDATE),
  ])
  return agent && request && { request, agent, locked }
}

export function moveCardRequest(
  request: CardRequest,
  status: CardRequest['status'],
  { emit, wake }: EmitContext<typeof cardRequestEvents>,
  reason: string | null = null,
): void {
  if (!cardRequestMachine.move(request, status)) return
  request.approvalDueAt = null
  if (cardRequestMachine.isFinal(status)) request.dueAt = null
  emit('card_limit_request.updated', cardRequestEvent(request, reason))
  wake(cardRequestProcess, request)
}

export function cardRequestBlocker(
  { status, expiresAt }: CardRequest,
  now: Date,
): readonly [code: 'request_not_waiting' | 'request_expired', message?: string] | undefined {
  if (status !== 'pending') return ['request_not_waiting', `The request is already ${status}.`]
  return expiresAt <= now ? ['request_expired'] : undefined
}

interface Compared {
  readonly request: Pick<CardRequest, 'usage' | 'displayName'>
  readonly agent: Agent
  readonly locked: Pick<LockedCard, 'card' | 'terms'> | null
}

/** What a request lets be spent beyond today, by these limits. */
export function wideningsOfRequest(
  { request, agent, locked }: Compared,
  asked: CardLimits,
  approved: CardLimits,
): StatedWidening[] {
  if (!locked) {
    const { usage, displayName } = request
    return wideningsOfNewCard(agent, { usage: usage ?? 'multi', displayName, limits: approved })
  }
  const { card, terms } = locked
  return wideningsOfCard(card, terms, { ...terms, ...limitsAfterRequest(asked, approved, terms) })
}

/** How far the approvals have come; undefined where the agent’s policy asks no step for the requested limits. */
export async function begunApproval(
  request: Pick<CardRequest, 'agentId' | 'approval' | 'requesterId' | keyof CardLimits>,
  { em, now }: ReadContext,
): Promise<ApprovalProgress | undefined> {
  const steps = (await effectivePolicy(em, request.agentId))?.approval ?? []
  return approvalProgressOf(request, amountToApprove(request), { steps, now })
}

type Approving = ContextOf<typeof cardRequestsApi.approve>
type ApprovalBody = Parameters<HandlerOf<typeof cardRequestsApi.approve>>[0]['body']

export const approveCardRequest: HandlerOf<typeof cardRequestsApi.approve> = async (
  { params, body },
  context,
) => {
  const { tenant, now, systems, refuse } = context
  const found = await lockCardRequest(params.id, context)
  if (!found) return refuse('request_not_found')
  const { request, agent, locked } = found
  const problem = cardRequestBlocker(request, now)
  if (problem) return refuse(...problem)
  if (agent.status !== 'active') return refuse('agent_not_active')
  if (locked?.card.status === 'closed') return refuse('card_closed')
  const asked = requestedLimits(request)
  const notLowered = raisedLimitProblem(asked, body.limits, locked?.terms ?? noCardLimits)
  if (notLowered) return refuse('limit_not_lowered', notLowered)
  // Throws before anything is approved if this mode has no processor.
  systems.cardProcessor(tenant.mode)
  const begun = await begunApproval(request, context)
  const others = begun && begun.given.length > 0 ? approvedLimits(request) : undefined
  const differs = others && differingLimitProblem(asked, body.limits, others)
  if (differs) return refuse('limits_differ', differs)
  const approved = others ?? limitsToApprove(asked, body.limits)
  const widenings = wideningsOfRequest(found, asked, approved)
  if (begun && widenings.length > 0)
    return approveWithOthers(request, body, { begun, approved, widenings }, context)
  const unsigned = await refuseUnsignedWidening(body.webauthnAssertion, () => widenings, context)
  if (unsigned) return unsigned
  Object.assign(request, withoutSteps)
  return approve(request, approved, { by: personalDecision(context.actor), comment: body.comment }, context)
}

function approve(
  request: CardRequest,
  approved: CardLimits,
  { by, comment }: { readonly by: ReturnType<typeof personalDecision>; readonly comment: string | null },
  context: Approving,
) {
  const { now } = context
  const answer = { answeredAt: now, answeredBy: by, comment, dueAt: now }
  Object.assign(request, { ...approvedColumns(approved), ...answer })
  moveCardRequest(request, 'approved', context, comment)
  return cardRequestResponse(request, context)
}

const STEP_ENDED = 'Too few people have approved in time, or are left who can: the request is being denied.'

const refuseApprover = (problem: UncountedApproval, { refuse }: Approving): Refusal =>
  problem === 'step_ended' ? refuse('request_not_waiting', STEP_ENDED) : refuse(problem)

interface AskedOfSeveral {
  readonly begun: ApprovalProgress
  readonly approved: CardLimits
  readonly widenings: readonly StatedWidening[]
}

/** Counts the approval of the person who has signed. The last one approves the request. */
async function approveWithOthers(
  request: CardRequest,
  { webauthnAssertion, comment }: ApprovalBody,
  { begun, approved, widenings }: AskedOfSeveral,
  context: Approving,
) {
  const { actor, sql, tenant, now, emit, wake } = context
  const amount = amountToApprove(request)
  if (actor.type === 'console' && actor.id && !webauthnAssertion) {
    const approvers = await readApproversAndDeputies(sql, { tenant, now })
    const problem = approverProblem(begun, amount, { personId: actor.id, approvers, now })
    if (problem) return refuseApprover(problem, context)
  }
  const signer = await approverOfWidening(webauthnAssertion, widenings, context)
  if (signer instanceof Refusal) return signer
  // After the passkey was locked: who removes people has locked all of them.
  const approvers = await readApproversAndDeputies(sql, { tenant, now })
  const counted = addApproval(begun, amount, { personId: signer.id, approvers, now })
  if (typeof counted === 'string') return refuseApprover(counted, context)
  Object.assign(request, approvedColumns(approved))
  setCardApproval(request, counted.progress, { approvers, now })
  if (counted.hasEscalated) emit('card_limit_request.approval_escalated', cardApprovalEvent(request))
  if (counted.isComplete)
    return approve(request, approved, { by: personalDecision(actor, signer), comment }, context)
  const { beginsStep } = counted
  emit('card_limit_request.approval_recorded', {
    ...cardApprovalEvent(request, comment),
    personId: signer.id,
    ...(beginsStep && { beginsStep }),
  })
  wake(cardRequestProcess, request)
  return cardRequestResponse(request, context)
}

export const denyCardRequest: HandlerOf<typeof cardRequestsApi.deny> = async ({ params, body }, context) => {
  const { em, actor, now, refuse } = context
  const request = await em.findOne(CardRequest, { id: params.id }, FOR_UPDATE)
  if (!request) return refuse('request_not_found')
  const problem = cardRequestBlocker(request, now)
  if (problem) return refuse(...problem)
  Object.assign(request, { answeredAt: now, answeredBy: personalDecision(actor), comment: body.reason })
  moveCardRequest(request, 'denied', context, body.reason)
  return cardRequestResponse(request, context)
}

interface PendingRequest {
  readonly agentId: string
  /** The requested limit of a payment, otherwise of a day or a month; null if none is requested. */
  readonly amountCents: Cents | null
  readonly reason: string
  /** Null where one person approves. */
  readonly approval: ApprovalProgress | null
}

const PENDING = `
select agent_id as "agentId", coalesce(max_transaction_cents, daily_limit_cents, monthly_limit_cents) as "amountCents", reason,
  approval
from card_requests where (owner_id, mode, id) = ($1, $2, $3) and status = 'pending'`

/** Undefined once it has been answered, or has expired. */
export async function readPendingCardRequest(
  id: string,
  { sql, tenant: { ownerId, mode } }: SqlContext,
): Promise<PendingRequest | undefined> {
  return (await sql<PendingRequest & Row>(PENDING, [ownerId, mode, id]))[0]
}
