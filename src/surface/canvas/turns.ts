import type { HandlerOf } from '../../kernel/contract/operation.ts'
import { excerpt } from '../../values/schemas.ts'
import type { canvasApi } from './api.ts'
import { Conversation, ConversationTurn } from './conversation.ts'

export const begin: HandlerOf<typeof canvasApi.begin> = async ({ body }, { records }) => {
  const { message, conversationId, callerId, agentId } = body
  const known =
    conversationId === undefined
      ? null
      : await records.findOne(Conversation, { id: conversationId, callerId })
  const conversation = known ?? records.create(Conversation, { callerId, agentId, title: excerpt(message) })
  const turn = records.create(ConversationTurn, { conversationId: conversation.id, message })
  return { conversationId: conversation.id, turnId: turn.id }
}

/** A conversation that was deleted meanwhile stays so. */
export const finish: HandlerOf<typeof canvasApi.finish> = async ({ params, body }, { records }) => {
  const turn = await records.lock(ConversationTurn, params.id)
  if (turn) turn.lines = body.lines
  return { done: turn !== null }
}
