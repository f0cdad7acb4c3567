import { area } from '../../kernel/contract/area.ts'
import type { Deadline } from '../../kernel/contract/deadline.ts'
import { implement } from '../../kernel/contract/operation.ts'
import { createdWithin } from '../../kernel/database/created-within.ts'
import { definedOnly } from '../../kernel/database/entity.ts'
import { approve, deny, moveRequest, whyNotWaiting } from './answer.ts'
import { cardRequestsApi } from './api.ts'
import { CardRequest, cardRequestMachine, OPEN } from './card-request.ts'
import { carryOut } from './carry-out.ts'
import { create } from './create.ts'
import { cardRequestsPersonal } from './personal.ts'
import { cardRequestProcess } from './process.ts'
import { requestReactions } from './reactions.ts'
import { requestResponse } from './response.ts'
import { processStatusOf } from './status.ts'

const cardRequests = implement(cardRequestsApi, {
  create,
  approve,
  deny,
  carryOut,

  async list({ query: { from, to, status, type, agentId, cardId } }, context) {
    const created = await createdWithin('cardreq', { from, to }, context)
    const filters = definedOnly({ status, type, agentId, cardId, ...created })
    const page = await context.page(CardRequest, filters)
    return { ...page, data: page.data.map(requestResponse) }
  },

  async get({ params }, { records, refuse }) {
    const request = await records.findOne(CardRequest, { id: params.id })
    return request ? requestResponse(request) : refuse('request_not_found')
  },

  async cancel({ params, body }, context) {
    const { records, now, refuse } = context
    const request = await records.lock(CardRequest, params.id)
    if (!request) return refuse('request_not_found')
    const problem = whyNotWaiting(request, now)
    if (problem) return refuse(...problem)
    request.comment = body.comment
    moveRequest(request, 'cancelled', context, body.comment)
    return requestResponse(request)
  },

  async status({ params }, { records, now, refuse }) {
    const request = await records.findOne(CardRequest, { id: params.id })
    return request ? processStatusOf(request, now) : refuse('request_not_found')
  },

  async expire({ params }, context) {
    const { records, now, refuse } = context
    const request = await records.lock(CardRequest, params.id)
    if (!request) return refuse('request_not_found')
    if (request.status === 'pending' && request.expiresAt <= now) moveRequest(request, 'expired', context)
    return { done: true }
  },
})

const deadline: Deadline = {
  process: cardRequestProcess,
  table: 'card_requests',
  record: 'id',
  agent: 'agent_id',
  due: 'due_at',
  open: OPEN,
  waits: 'true',
  operations: ['cardRequests.expire', 'cardRequests.carryOut'],
}

export const cardRequestsArea = area(
  'Card Requests',
  'What agents ask of their owner: a card, or other limits of one.',
  cardRequests,
  {
    personal: cardRequestsPersonal,
    entities: [CardRequest],
    machines: [cardRequestMachine],
    reactions: requestReactions,
    deadlines: [deadline],
    openRecords: [
      {
        process: cardRequestProcess,
        select: `select id, owner_id, mode, agent_id from card_requests where ${OPEN}`,
      },
    ],
  },
)
