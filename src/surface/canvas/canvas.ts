import { findForgottenOwners } from '../../identity/customers/index.ts'
import { area } from '../../kernel/contract/area.ts'
import { NDJSON_TYPE, type ResponseFile } from '../../kernel/contract/file.ts'
import { bindHandlers, DONE, type HandlerOf } from '../../kernel/contract/operation.ts'
import { FOR_UPDATE, withMembers } from '../../kernel/database/entity.ts'
import { problemOf } from '../../kernel/database/retry.ts'
import type { LanguageModel } from '../../ports/language-model.ts'
import { maskCardNumbers } from '../../values/mask-card-numbers.ts'
import { truncateText } from '../../values/schemas.ts'
import { maskCardNumbersInResult } from '../mcp/index.ts'
import { answerIntent } from './answers.ts'
import { canvasApi } from './api.ts'
import { Conversation, ConversationTurn, MAX_CONVERSATION_TURNS } from './conversation.ts'
import { type AnswerLine, errorLine } from './lines.ts'
import { answerByModel, readEarlierTurns } from './model-dialogue.ts'
import { CanvasResponder, type ResponderContext } from './responder.ts'

const begin: HandlerOf<typeof canvasApi.begin> = async ({ body }, { em, emit }) => {
  const { message, conversationId, callerId, agentId } = body
  const keep = (conversationId: string) => {
    const turn = em.create(ConversationTurn, { conversationId, message })
    emit('canvas.message_sent', { conversationId, turnId: turn.id, agentId })
    return { isKept: true, conversationId, turnId: turn.id } as const
  }
  if (conversationId === undefined)
    return keep(em.create(Conversation, { callerId, agentId, title: truncateText(message) }).id)
  // The lock gives concurrent messages consecutive numbers.
  const known = await em.findOne(Conversation, { id: conversationId }, FOR_UPDATE)
  if (known?.callerId !== callerId) return { isKept: false, refusal: 'conversation_not_found' }
  if ((await em.count(ConversationTurn, { conversationId })) >= MAX_CONVERSATION_TURNS)
    return { isKept: false, refusal: 'conversation_full' }
  return keep(conversationId)
}

/** Does not restore a conversation that was deleted, or whose owner was erased, while the answer was written. */
const finish: HandlerOf<typeof canvasApi.finish> = async (
  { params, body },
  { em, sql, emit, tenant: { ownerId } },
) => {
  const turn = await em.findOne(ConversationTurn, { id: params.id }, FOR_UPDATE)
  if (!turn || (await findForgottenOwners(sql, [ownerId])).has(ownerId)) return { done: false }
  turn.lines = body.lines
  const { id: turnId, conversationId } = turn
  emit('canvas.message_answered', { conversationId, turnId, agentId: body.agentId })
  return DONE
}

/** Answers a message line by line. The message is stored before the first line, the answer after the last one. */
const message: HandlerOf<typeof canvasApi.message> = async ({ body }, context) => {
  const { actor, tenant, service, requestId, refuse } = context
  const { conversationId } = body
  // A card number typed by mistake is neither stored nor sent on.
  const message = maskCardNumbers(body.message)
  const beginning = { message, conversationId, callerId: String(actor.id), agentId: actor.agentId }
  const begun = (await service.runFor(tenant, 'canvas.begin', { body: beginning }, requestId)) as
    | StartedTurn
    | TurnRefusal
  if (!begun.isKept) return refuse(begun.refusal)
  return {
    type: `${NDJSON_TYPE}; charset=utf-8`,
    content: linesOf(message, begun, context),
  } satisfies ResponseFile
}

interface StartedTurn {
  readonly isKept: true
  readonly conversationId: string
  readonly turnId: string
}

interface TurnRefusal {
  readonly isKept: false
  readonly refusal: 'conversation_not_found' | 'conversation_full'
}

async function* linesOf(
  message: string,
  begun: StartedTurn,
  context: ResponderContext,
): AsyncGenerator<string> {
  const { conversationId, turnId } = begun
  const { actor, tenant, service, requestId } = context
  const lines: AnswerLine[] = []
  const keep = () => {
    const input = { params: { id: turnId }, body: { lines, agentId: actor.agentId } }
    const kept = service.runFor(tenant, 'canvas.finish', input, requestId)
    return kept.catch((error: unknown) => service.tools.reportFailure(error, requestId))
  }
  const done: AnswerLine = { type: 'done', conversationId }
  try {
    for await (const line of answered(message, begun, context)) {
      const safe = maskCardNumbersInResult(line, 'POST /canvas/messages', context)
      lines.push(safe)
      yield `${JSON.stringify(safe)}\n`
    }
    lines.push(done)
  } finally {
    // A reader who disconnects finds the lines so far in the conversation.
    await keep()
  }
  yield `${JSON.stringify(done)}\n`
}

async function* answered(
  message: string,
  begun: StartedTurn,
  context: ResponderContext,
): AsyncGenerator<AnswerLine> {
  const { languageModel } = context.systems
  async function* byModel(model: LanguageModel): AsyncGenerator<AnswerLine> {
    const earlier = await readEarlierTurns(begun, context)
    yield* answerByModel({ message, earlier }, model, context)
  }
  try {
    yield* answerIntent(
      message,
      new CanvasResponder(context),
      languageModel ? () => byModel(languageModel) : undefined,
    )
  } catch (error) {
    const { service, requestId } = context
    const { code, message } = problemOf(error, failure => service.tools.reportFailure(failure, requestId))
    const isDefect = code === 'internal'
    yield errorLine(
      code,
      isDefect ? `Something went wrong on our side. Give us the X-Request-Id ${requestId}.` : message,
    )
  }
}

const canvas = bindHandlers(canvasApi, {
  message,
  begin,
  finish,

  list: (_, { page, actor }) => page(Conversation, { callerId: String(actor.id) }),

  async get({ params: { id } }, { em, actor, refuse }) {
    const conversation = await em.findOne(Conversation, { id, callerId: String(actor.id) })
    if (!conversation) return refuse('conversation_not_found')
    const options = { orderBy: { id: 'asc' }, limit: MAX_CONVERSATION_TURNS } as const
    const turns = await em.find(ConversationTurn, { conversationId: id }, options)
    const shown = turns.map(turn => withMembers(turn, { lines: turn.lines && [...turn.lines] }))
    return withMembers(conversation, { turns: shown })
  },

  async delete({ params: { id } }, { em, actor, emit, refuse }) {
    const conversation = await em.findOne(Conversation, { id }, FOR_UPDATE)
    if (conversation?.callerId !== String(actor.id)) return refuse('conversation_not_found')
    em.remove(conversation)
    emit('canvas.conversation_deleted', { conversationId: id, agentId: conversation.agentId })
    return undefined
  },
})

export const canvasArea = area(
  'Canvas',
  'Questions and requests in sentences, answered line by line.',
  canvas,
  { entities: [Conversation, ConversationTurn] },
)
