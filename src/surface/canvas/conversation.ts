import { defineEntity, p } from '@mikro-orm/core'
import { nullable, recordColumns, tenantTable } from '../../kernel/database/entity.ts'
import { personal, personalTable, plain } from '../../kernel/database/personal.ts'
import type { AnswerLine } from './lines.ts'

const conversationSchema = defineEntity({
  ...tenantTable('Conversation', 'conversations', 'agentId'),
  ...personalTable({ about: { person: ['caller_id'] } }),
  properties: {
    ...recordColumns('conversation'),
    agentId: nullable.string(),
    callerId: plain(p.text()),
    title: personal(p.text(), 'words', 'contract', 'word'),
  },
})

export class Conversation extends conversationSchema.class {}
conversationSchema.setClass(Conversation)

const turnSchema = defineEntity({
  ...tenantTable('ConversationTurn', 'conversation_turns'),
  ...personalTable({
    about: {
      person: [
        '(select c.caller_id from conversations c where (c.owner_id, c.mode, c.id) = (t.owner_id, t.mode, t.conversation_id))',
      ],
    },
  }),
  properties: {
    ...recordColumns('turn'),
    conversationId: plain(p.text()),
    message: personal(p.text(), 'words', 'contract', 'word'),
    lines: personal(nullable.json<readonly AnswerLine[]>(), 'words', 'contract', 'empty'),
  },
})

export class ConversationTurn extends turnSchema.class {}
turnSchema.setClass(ConversationTurn)

export const MAX_CONVERSATION_TURNS = 100
