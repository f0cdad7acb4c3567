import { lockAgent } from '../../control/agents/index.ts'
import { CardTerms } from '../../control/card-terms/index.ts'
import type { ContextOf, HandlerOf } from '../../kernel/contract/operation.ts'
import { workflowIdOf } from '../../kernel/contract/process.ts'
import { after } from '../../values/clock.ts'
import { newId } from '../../values/ids.ts'
import { Card, type Limits, whyNotChangeable } from '../cards/index.ts'
import type { cardRequestsApi } from './api.ts'
import { ANSWER_WITHIN_MS, CardRequest, MAX_PENDING } from './card-request.ts'
import { limitNames } from './limits.ts'
import { cardRequestProcess } from './process.ts'
import { requestEvent, requestResponse } from './response.ts'

type Creating = ContextOf<typeof cardRequestsApi.create>

/** Why a card's limits cannot be asked to change; undefined if they can. */
async function cardProblem(cardId: string, agentId: string, limits: Limits, { records }: Creating) {
  const [card, terms] = await Promise.all([
    records.findOne(Card, { id: cardId, agentId }),
    records.findOne(CardTerms, { id: cardId, agentId }),
  ])
  if (!card || !terms) return 'card_not_found'
  const blocker = whyNotChangeable({ card })
  if (blocker) return blocker
  const changes = limitNames.some(name => limits[name] !== null && limits[name] !== terms[name])
  return changes ? undefined : 'limits_as_they_are'
}

/** The agent is locked: no request is added beyond the most, nor to an agent that is being deleted. */
export const create: HandlerOf<typeof cardRequestsApi.create> = async ({ body }, context) => {
  const { records, actor, now, emit, refuse, wake } = context
  const { type, cardId = null, displayName = null, controls = null, reason, limits } = body
  const agentId = body.agentId ?? actor.agentId
  if (!agentId) return refuse('agent_required')
  const agent = await lockAgent(records, agentId)
  if (!agent) return refuse('agent_not_found')
  if (agent.status !== 'active') return refuse('agent_not_active')
  const problem = cardId === null ? undefined : await cardProblem(cardId, agentId, limits, context)
  if (problem) return refuse(problem)
  if ((await records.count(CardRequest, { agentId, status: 'pending' })) >= MAX_PENDING)
    return refuse('too_many_pending')
  const id = newId('cardreq')
  const expiresAt = after(now, ANSWER_WITHIN_MS)
  const request = records.create(CardRequest, {
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
  })
  emit('card_limit_request.updated', requestEvent(request, reason))
  wake(cardRequestProcess, request)
  return requestResponse(request)
}
