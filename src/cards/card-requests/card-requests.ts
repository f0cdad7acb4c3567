import { type Agent, lockAgent } from '../../control/agents/index.ts'
import { CardTerms } from '../../control/card-terms/index.ts'
import { readApprovers } from '../../identity/approvals/index.ts'
import { personBehind } from '../../kernel/contract/actor.ts'
import { area } from '../../kernel/contract/area.ts'
import type { ReadContext, WriteContext } from '../../kernel/contract/context.ts'
import type { Deadline } from '../../kernel/contract/deadline.ts'
import { bindHandlers, type ContextOf, type HandlerOf } from '../../kernel/contract/operation.ts'
import { workflowIdOf } from '../../kernel/contract/process.ts'
import { createdWithinCondition } from '../../kernel/database/created-within.ts'
import { definedOnly, FOR_UPDATE } from '../../kernel/database/entity.ts'
import { getRecordAs } from '../../kernel/database/get-record.ts'
import { addMs } from '../../values/clock.ts'
import { newId } from '../../values/ids.ts'
import { formatMinute } from '../../values/minute.ts'
import { Card, type CardLimits, cardChangeBlocker } from '../cards/index.ts'
import {
  approveCardRequest,
  begunApproval,
  cardRequestBlocker,
  denyCardRequest,
  moveCardRequest,
  wideningsOfRequest,
} from './answer.ts'
import { type cardRequestEvents, cardRequestSteps, cardRequestsApi } from './api.ts'
import {
  CARD_REQUEST_TTL_MS,
  CardRequest,
  cardLimitNames,
  cardRequestEvent,
  cardRequestMachine,
  cardRequestResponse,
  cardRequestResponses,
  isFulfilmentDue,
  MAX_PENDING_CARD_REQUESTS,
  OPEN_CARD_REQUEST_SQL,
  requestedLimits,
  setCardApproval,
} from './card-request.ts'
import { cardRequestReactions } from './carry-out.ts'
import { type CardRequestSignal, cardRequestProcess } from './process.ts'
import { cardApprovalReactions, nextApprovalStep } from './step-end.ts'

/** Temporal stores this summary of the run, so it contains no names. */
const aboutRequest = ({ type, cardId }: CardRequest): string =>
  type === 'new_card' ? 'a new card' : `limits of ${cardId}`

const summaryOf = (request: CardRequest): string => {
  const { mode, status, expiresAt } = request
  const waits = status === 'pending' ? `waits for approval until ${formatMinute(expiresAt)}` : status
  return `Card request for ${aboutRequest(request)} in ${mode} mode: ${waits}`
}

function dueInMs(request: CardRequest, stepAt: Date | undefined, now: Date): number | null {
  if (request.status === 'pending') return (stepAt ?? request.expiresAt).getTime() - now.getTime()
  return isFulfilmentDue(request) ? 0 : null
}

function signalsOf({ status, approval }: CardRequest): CardRequestSignal[] {
  if (status !== 'pending') return []
  return approval ? ['deny', 'cancel'] : ['approve', 'deny', 'cancel']
}

/** What the run of a card request reads. */
export async function cardRequestStatus(id: string, context: ReadContext) {
  const { em, now } = context
  const request = await em.findOne(CardRequest, { id })
  if (!request) return undefined
  const { status, expiresAt } = request
  const closed = cardRequestMachine.isFinal(status)
  const step = await nextApprovalStep(request, context)
  const isStepNext = step !== undefined && step.at < expiresAt
  return {
    status,
    summary: summaryOf(request),
    closed,
    /** The card of an approved request has been requested from the processor. */
    isCardRequested: status === 'approved' && !isFulfilmentDue(request),
    dueInMs: closed ? null : dueInMs(request, isStepNext ? step.at : undefined, now),
    deadline: formatMinute(expiresAt),
    ...(step && { approvals: step.inWords }),
    ...(isStepNext && { next: step.what }),
    signals: signalsOf(request),
  }
}

/** Expires a pending request past its deadline by the tenant's clock. */
export async function expireCardRequest(
  id: string,
  context: WriteContext<typeof cardRequestEvents>,
): Promise<void> {
  const { em, now } = context
  const request = await em.findOne(CardRequest, { id }, FOR_UPDATE)
  if (request?.status === 'pending' && request.expiresAt <= now) moveCardRequest(request, 'expired', context)
}

type Creating = ContextOf<typeof cardRequestsApi.create>

async function findChangedCard(cardId: string, agentId: string, limits: CardLimits, { em }: Creating) {
  const [card, terms] = await Promise.all([
    em.findOne(Card, { id: cardId, agentId }),
    em.findOne(CardTerms, { id: cardId, agentId }),
  ])
  if (!card || !terms) return 'card_not_found'
  const blocker = cardChangeBlocker({ card })
  if (blocker) return blocker
  const changes = cardLimitNames.some(name => limits[name] !== null && limits[name] !== terms[name])
  return changes ? { card, terms } : 'no_change'
}

type ChangedCard = Exclude<Awaited<ReturnType<typeof findChangedCard>>, string>

/** Asks the people of the policy’s first step, if the request lets more be spent than the step allows. */
async function beginApproval(
  request: CardRequest,
  agent: Agent,
  locked: ChangedCard | null,
  context: Creating,
): Promise<void> {
  const { sql, tenant, now } = context
  const approval = await begunApproval(request, context)
  const asked = requestedLimits(request)
  if (!approval || wideningsOfRequest({ request, agent, locked }, asked, asked).length === 0) return
  setCardApproval(request, approval, { approvers: await readApprovers(sql, tenant), now })
}

/** Holds the agent's lock, so that no request exceeds the maximum or is added to an agent that is being deleted. */
const create: HandlerOf<typeof cardRequestsApi.create> = async ({ body }, context) => {
  const { em, actor, now, emit, refuse, wake } = context
  const { type, cardId = null, displayName = null, controls = null, reason, limits } = body
  const agentId = body.agentId ?? actor.agentId
  if (!agentId) return refuse('agent_required')
  const agent = await lockAgent(em, agentId)
  if (!agent) return refuse('agent_not_found')
  if (agent.status !== 'active') return refuse('agent_not_active')
  const changed = cardId === null ? null : await findChangedCard(cardId, agentId, limits, context)
  if (typeof changed === 'string') return refuse(changed)
  if ((await em.count(CardRequest, { agentId, status: 'pending' })) >= MAX_PENDING_CARD_REQUESTS)
    return refuse('too_many_pending')
  const id = newId('cardreq')
  const expiresAt = addMs(now, CARD_REQUEST_TTL_MS)
  const request = em.create(CardRequest, {
    id,
    agentId,
    delegationId: actor.delegationId ?? null,
    type,
    cardId,
    usage: type === 'new_card' ? (body.usage ?? 'multi') : null,
    displayName,
    controls,
    reason,
    ...limits,
    expiresAt,
    dueAt: expiresAt,
    workflowId: workflowIdOf(cardRequestProcess, id),
    requesterId: personBehind(actor),
    approval: null,
    approvalDueAt: null,
  })
  await beginApproval(request, agent, changed, context)
  emit('card_limit_request.updated', cardRequestEvent(request, reason))
  wake(cardRequestProcess, request)
  return cardRequestResponse(request, context)
}

const cardRequests = bindHandlers(cardRequestsApi, {
  create,
  approve: approveCardRequest,
  deny: denyCardRequest,

  async list({ query: { from, to, status, type, agentId, cardId } }, context) {
    const created = await createdWithinCondition('cardreq', { from, to }, context)
    const filters = definedOnly({ status, type, agentId, cardId, ...created })
    const page = await context.page(CardRequest, filters)
    return { ...page, data: await cardRequestResponses(page.data, context) }
  },

  get: getRecordAs(CardRequest, 'request_not_found', cardRequestResponse),

  async cancel({ params, body }, context) {
    const { em, now, refuse } = context
    const request = await em.findOne(CardRequest, { id: params.id }, FOR_UPDATE)
    if (!request) return refuse('request_not_found')
    const problem = cardRequestBlocker(request, now)
    if (problem) return refuse(...problem)
    request.comment = body.comment
    moveCardRequest(request, 'cancelled', context, body.comment)
    return cardRequestResponse(request, context)
  },
})

const deadline: Deadline = {
  process: cardRequestProcess,
  table: 'card_requests',
  record: 'id',
  agent: 'agent_id',
  due: 'due_at',
  open: OPEN_CARD_REQUEST_SQL,
  waits: 'true',
  activities: ['expireCardRequest', 'carryOutCardRequest'],
}

export const cardRequestsArea = area(
  'Card Requests',
  'Agents’ requests to their owner: for a card, or for other limits of one.',
  cardRequests,
  {
    steps: cardRequestSteps,
    entities: [CardRequest],
    machines: [cardRequestMachine],
    reactions: { ...cardRequestReactions, ...cardApprovalReactions },
    deadlines: [
      deadline,
      {
        ...deadline,
        due: 'approval_due_at',
        open: "status = 'pending' and approval_due_at is not null",
        activities: ['remindCardApprovers', 'endCardApprovalStep'],
      },
    ],
    openRecords: [
      {
        process: cardRequestProcess,
        select: `select id, owner_id, mode, agent_id from card_requests where ${OPEN_CARD_REQUEST_SQL}`,
      },
    ],
  },
)
