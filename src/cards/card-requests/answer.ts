import { LockMode } from '@mikro-orm/core'
import { type Agent, lockAnyAgent } from '../../control/agents/index.ts'
import { personalDecision } from '../../control/intents/index.ts'
import { refuseUnsignedWidening } from '../../identity/passkeys/index.ts'
import type { EmitContext, SqlContext, WriteContext } from '../../kernel/contract/context.ts'
import type { HandlerOf } from '../../kernel/contract/operation.ts'
import type { Row } from '../../kernel/contract/sql.ts'
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
  CardRequest,
  cardRequestEvent,
  cardRequestMachine,
  cardRequestResponse,
  limitsAfterRequest,
  limitsToApprove,
  noCardLimits,
  raisedLimitProblem,
  requestedLimits,
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
    em.findOne(CardRequest, { id }, { lockMode: LockMode.PESSIMISTIC_WRITE }),
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

function wideningsOfRequest(
  { request, agent, locked }: LockedCardRequest,
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

export const approveCardRequest: HandlerOf<typeof cardRequestsApi.approve> = async (
  { params, body },
  context,
) => {
  const { actor, tenant, now, systems, refuse } = context
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
  const approved = limitsToApprove(asked, body.limits)
  const unsigned = await refuseUnsignedWidening(
    body.webauthnAssertion,
    () => wideningsOfRequest(found, asked, approved),
    context,
  )
  if (unsigned) return unsigned
  Object.assign(request, {
    approvedMaxTransactionCents: approved.maxTransactionCents,
    approvedDailyLimitCents: approved.dailyLimitCents,
    approvedMonthlyLimitCents: approved.monthlyLimitCents,
    answeredAt: now,
    answeredBy: personalDecision(actor),
    comment: body.comment,
    dueAt: now,
  })
  moveCardRequest(request, 'approved', context, body.comment)
  return cardRequestResponse(request)
}

export const denyCardRequest: HandlerOf<typeof cardRequestsApi.deny> = async ({ params, body }, context) => {
  const { em, actor, now, refuse } = context
  const request = await em.findOne(CardRequest, { id: params.id }, { lockMode: LockMode.PESSIMISTIC_WRITE })
  if (!request) return refuse('request_not_found')
  const problem = cardRequestBlocker(request, now)
  if (problem) return refuse(...problem)
  Object.assign(request, { answeredAt: now, answeredBy: personalDecision(actor), comment: body.reason })
  moveCardRequest(request, 'denied', context, body.reason)
  return cardRequestResponse(request)
}

interface PendingRequest {
  readonly agentId: string
  /** The requested limit of a payment, otherwise of a day or a month; null if none is requested. */
  readonly amountCents: Cents | null
  readonly reason: string
}

const PENDING = `
select agent_id as "agentId", coalesce(max_transaction_cents, daily_limit_cents, monthly_limit_cents) as "amountCents", reason
from card_requests where (owner_id, mode, id) = ($1, $2, $3) and status = 'pending'`

/** Undefined once it has been answered, or has expired. */
export async function readPendingCardRequest(
  id: string,
  { sql, tenant: { ownerId, mode } }: SqlContext,
): Promise<PendingRequest | undefined> {
  return (await sql<PendingRequest & Row>(PENDING, [ownerId, mode, id]))[0]
}
