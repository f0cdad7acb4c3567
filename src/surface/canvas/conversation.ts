import { defineEntity, p } from '@mikro-orm/core'
import { nullable, recordColumns, tenantTable } from '../../kernel/database/entity.ts'
import type { PersonalData } from '../../values/personal.ts'
import type { AnswerLine } from './lines.ts'

const conversationSchema = defineEntity({
  ...tenantTable('Conversation', 'conversations', 'agentId'),
  properties: {
    ...recordColumns('conversation'),
    agentId: nullable.string(),
    callerId: p.text(),
    title: p.text(),
  },
})

export class Conversation extends conversationSchema.class {}
conversationSchema.setClass(Conversation)

const turnSchema = defineEntity({
  ...tenantTable('ConversationTurn', 'conversation_turns'),
  properties: {
    ...recordColumns('turn'),
    conversationId: p.text(),
    message: p.text(),
    lines: nullable.json<readonly AnswerLine[]>(),
  },
})

export class ConversationTurn extends turnSchema.class {}
turnSchema.setClass(ConversationTurn)

export const MAX_CONVERSATION_TURNS = 100

export const canvasPersonalData = {
  conversations: {
    personal: { title: { kind: 'words', ground: 'contract', forget: 'word' } },
    plain: ['caller_id'],
    about: { person: ['caller_id'] },
  },
  conversation_turns: {
    personal: {
      message: { kind: 'words', ground: 'contract', forget: 'word' },
      lines: { kind: 'words', ground: 'contract', forget: 'empty' },
    },
    plain: ['conversation_id'],
    about: {
      person: [
        '(select c.caller_id from conversations c where (c.owner_id, c.mode, c.id) = (t.owner_id, t.mode, t.conversation_id))',
      ],
    },
  },
} as const satisfies PersonalData
