import { area } from '../../kernel/contract/area.ts'
import { implement } from '../../kernel/contract/operation.ts'
import { withMembers } from '../../kernel/database/entity.ts'
import { canvasApi } from './api.ts'
import { Conversation, ConversationTurn, MOST_TURNS } from './conversation.ts'
import { message } from './message.ts'
import { canvasPersonal } from './personal.ts'
import { begin, finish } from './turns.ts'

const canvas = implement(canvasApi, {
  message,
  begin,
  finish,

  list: (_, { page, actor }) => page(Conversation, { callerId: String(actor.id) }),

  async get({ params: { id } }, { records, actor, refuse }) {
    const conversation = await records.findOne(Conversation, { id, callerId: String(actor.id) })
    if (!conversation) return refuse('conversation_not_found')
    const options = { orderBy: { id: 'asc' }, limit: MOST_TURNS } as const
    const turns = await records.find(ConversationTurn, { conversationId: id }, options)
    const shown = turns.map(turn => withMembers(turn, { lines: turn.lines && [...turn.lines] }))
    return withMembers(conversation, { turns: shown })
  },

  async delete({ params: { id } }, { records, actor, emit, refuse }) {
    const conversation = await records.lock(Conversation, id)
    if (conversation?.callerId !== String(actor.id)) return refuse('conversation_not_found')
    records.remove(conversation)
    emit('canvas.conversation_deleted', { conversationId: id, agentId: conversation.agentId })
    return undefined
  },
})

export const canvasArea = area(
  'Canvas',
  'Questions and wishes in sentences, answered line by line.',
  canvas,
  { personal: canvasPersonal, entities: [Conversation, ConversationTurn] },
)
