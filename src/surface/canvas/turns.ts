import { forgottenOwners } from '../../identity/customers/index.ts'
import type { HandlerOf } from '../../kernel/contract/operation.ts'
import { excerpt } from '../../values/schemas.ts'
import type { canvasApi } from './api.ts'
import { Conversation, ConversationTurn, MOST_TURNS } from './conversation.ts'

export const begin: HandlerOf<typeof canvasApi.begin> = async ({ body }, { records, emit }) => {
  const { message, conversationId, callerId, agentId } = body
  const keep = (conversationId: string) => {
    const turn = records.create(ConversationTurn, { conversationId, message })
    emit('canvas.message_sent', { conversationId, turnId: turn.id, agentId })
    return { isKept: true, conversationId, turnId: turn.id } as const
  }
  if (conversationId === undefined)
    return keep(records.create(Conversation, { callerId, agentId, title: excerpt(message) }).id)
  // Messages that come at once take the last places one after the other.
  const known = await records.lock(Conversation, conversationId)
  if (known?.callerId !== callerId) return { isKept: false, refusal: 'conversation_not_found' }
  if ((await records.count(ConversationTurn, { conversationId })) >= MOST_TURNS)
    return { isKept: false, refusal: 'conversation_full' }
  return keep(conversationId)
}

/** A conversation that was deleted meanwhile stays so, and of an owner who was forgotten meanwhile nothing is kept. */
export const finish: HandlerOf<typeof canvasApi.finish> = async (
  { params, body },
  { records, sql, emit, tenant: { ownerId } },
) => {
  const turn = await records.lock(ConversationTurn, params.id)
  if (!turn || (await forgottenOwners(sql, [ownerId])).has(ownerId)) return { done: false }
  turn.lines = body.lines
  const { id: turnId, conversationId } = turn
  emit('canvas.message_answered', { conversationId, turnId, agentId: body.agentId })
  return { done: true }
}
