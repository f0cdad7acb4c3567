import { z } from 'zod'
import { internal, operationsFor } from '../../kernel/contract/callers.ts'
import { declareEvent } from '../../kernel/contract/events.ts'
import { jsonLinesSchema } from '../../kernel/contract/file.ts'
import { doneSchema, emptyBody, notFound } from '../../kernel/contract/operation.ts'
import { instant } from '../../values/clock.ts'
import { id } from '../../values/ids.ts'
import { recordHead, recordTimestamps } from '../../values/schemas.ts'
import { MAX_CONVERSATION_TURNS } from './conversation.ts'
import { type AnswerLine, CanvasLine } from './lines.ts'

const readers = operationsFor({ callers: ['key', 'agent'], scope: 'canvas:read' })

const ConversationRecord = z
  .object({
    ...recordHead('conversation'),
    agentId: id('agent').nullable().meta({ description: 'The agent whose token asks.' }),
    title: z.string().meta({ description: 'The beginning of the first message.' }),
    ...recordTimestamps,
  })
  .meta({ id: 'Conversation' })

const Turn = z.object({
  id: id('turn'),
  message: z.string(),
  lines: z
    .array(CanvasLine)
    .nullable()
    .meta({
      description: 'The answer; null if it did not finish.',
      examples: [[{ type: 'text', text: 'Nothing is waiting for approval.' }]],
    }),
  createdAt: instant,
})

const conversation_not_found = notFound('conversation')

const sentence = z.string().trim().min(1).max(10_000)

const MessageEvent = z.object({
  conversationId: id('conversation'),
  turnId: id('turn'),
  agentId: id('agent').nullable(),
})

const messageEvents = {
  'canvas.message_sent': declareEvent('A message of a conversation was received and stored.', MessageEvent),
  'canvas.message_answered': declareEvent(
    'The answer to a message of a conversation is complete.',
    MessageEvent,
  ),
}

/** Lines exist only in this process: the service passes them to itself, and no caller can send them. */
const lines = z.custom<readonly AnswerLine[]>(Array.isArray, 'must be the lines of an answer')

export const canvasApi = {
  message: readers.post('/canvas/messages', {
    summary: 'Ask in a sentence',
    description: [
      'The answer is `application/x-ndjson`, one JSON object a line: `text`, `tool_call` and `tool_result` for each operation that is called, `proposal` for each change, `error`; `done` comes exactly once, and last. Operations are called with your rights.',
      'A message changes nothing: changes become proposals, which a person applies (`POST /canvas/proposals/{id}/apply`). An ambiguous message is answered with a question. [Ask in a sentence](/docs/guides/ask) lists what you can ask.',
    ].join('\n\n'),
    run: 'read',
    readsClock: true,
    // The operations that it calls take theirs.
    limits: { bodyKiB: 16, inTurn: false },
    body: z.strictObject({
      message: sentence.meta({ examples: ['What did Reader spend this month?'] }),
      conversationId: id('conversation')
        .optional()
        .meta({ description: 'Continues this conversation. Default: a new one.' }),
    }),
    example: { message: 'What is waiting?' },
    returns: [200, jsonLinesSchema(CanvasLine)],
    fails: {
      conversation_not_found,
      conversation_full: [400, `The conversation has ${MAX_CONVERSATION_TURNS} messages. Start a new one.`],
    },
    // By the operations `begin` and `finish`, each in its own transaction.
    emits: messageEvents,
  }),
  list: readers.list('/canvas/conversations', {
    summary: 'List conversations',
    description: 'Your own, newest first.',
    item: ConversationRecord,
  }),
  get: readers.get('/canvas/conversations/{id}', {
    summary: 'Get a conversation',
    returns: [
      200,
      ConversationRecord.extend({ turns: z.array(Turn).max(MAX_CONVERSATION_TURNS) }).meta({
        id: 'ConversationDetail',
      }),
    ],
    fails: { conversation_not_found },
  }),
  delete: readers.del('/canvas/conversations/{id}', {
    scope: 'canvas:write',
    summary: 'Delete a conversation',
    description: 'Deletes all of its messages. The effects of applied proposals stay.',
    returns: [204, emptyBody],
    fails: { conversation_not_found },
    emits: {
      'canvas.conversation_deleted': declareEvent(
        'A conversation was deleted by its caller.',
        z.object({ conversationId: id('conversation'), agentId: id('agent').nullable() }),
      ),
    },
  }),
  /**
   * A conversation is not one transaction: the message is stored before the answer begins, and the answer
   * once it is complete.
   */
  begin: internal.post('/canvas/turns', {
    summary: 'Store a message',
    body: z.strictObject({
      message: sentence,
      conversationId: id('conversation').optional(),
      callerId: z.string().max(128),
      agentId: id('agent').nullable(),
    }),
    returns: [
      200,
      z.discriminatedUnion('isKept', [
        z.object({ isKept: z.literal(true), conversationId: z.string(), turnId: z.string() }),
        z.object({
          isKept: z.literal(false),
          refusal: z.enum(['conversation_not_found', 'conversation_full']),
        }),
      ]),
    ],
    emits: { 'canvas.message_sent': messageEvents['canvas.message_sent'] },
  }),
  finish: internal.post('/canvas/turns/{id}/finish', {
    summary: 'Store an answer',
    body: z.strictObject({ lines, agentId: id('agent').nullable() }),
    returns: [200, doneSchema],
    emits: { 'canvas.message_answered': messageEvents['canvas.message_answered'] },
  }),
}
