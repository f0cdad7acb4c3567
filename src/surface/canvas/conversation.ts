import { defineEntity, p } from '@mikro-orm/core'
import { nullable, record, tenantTable } from '../../kernel/database/entity.ts'
import type { Personal } from '../../values/personal.ts'
import type { Line } from './lines.ts'

const conversationSchema = defineEntity({
  ...tenantTable('Conversation', 'conversations', 'agentId'),
  properties: {
    ...record('conversation'),
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
    ...record('turn'),
    conversationId: p.text(),
    message: p.text(),
    lines: nullable.json<readonly Line[]>(),
  },
})

export class ConversationTurn extends turnSchema.class {}
turnSchema.setClass(ConversationTurn)

export const MOST_TURNS = 100

export const canvasPersonal = {
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
} as const satisfies Personal
