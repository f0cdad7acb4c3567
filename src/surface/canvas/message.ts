import { type File, LINES } from '../../kernel/contract/file.ts'
import type { HandlerOf } from '../../kernel/contract/operation.ts'
import { maskCardNumbers } from '../../values/mask-card-numbers.ts'
import { withoutCardNumbers } from '../mcp/index.ts'
import { answer } from './answers/answer.ts'
import type { canvasApi } from './api.ts'
import { Conversation, ConversationTurn, MOST_TURNS } from './conversation.ts'
import { failure, type Line } from './lines.ts'
import { answerByModel } from './model/talk.ts'
import { Speaker, type Speaking } from './speaker.ts'

/** Answers a message line by line. What was said is kept before the first line, and the answer after the last one. */
export const message: HandlerOf<typeof canvasApi.message> = async ({ body }, context) => {
  const { records, actor, refuse } = context
  const { conversationId } = body
  if (conversationId !== undefined) {
    const known = await records.findOne(Conversation, { id: conversationId, callerId: String(actor.id) })
    if (!known) return refuse('conversation_not_found')
    if ((await records.count(ConversationTurn, { conversationId })) >= MOST_TURNS)
      return refuse('conversation_full')
  }
  const { tenant, ports, requestId } = context
  // What somebody types by mistake is neither kept nor sent on.
  const message = maskCardNumbers(body.message)
  const beginning = { message, conversationId, callerId: String(actor.id), agentId: actor.agentId }
  const begun = (await ports.runFor(tenant, 'canvas.begin', { body: beginning }, requestId)) as Begun
  return { type: `${LINES}; charset=utf-8`, content: spoken(message, begun, context) } satisfies File
}

interface Begun {
  readonly conversationId: string
  readonly turnId: string
}

async function* spoken(
  message: string,
  { conversationId, turnId }: Begun,
  context: Speaking,
): AsyncGenerator<string> {
  const { tenant, ports, requestId } = context
  const lines: Line[] = []
  const keep = () => {
    const input = { params: { id: turnId }, body: { lines } }
    const kept = ports.runFor(tenant, 'canvas.finish', input, requestId)
    return kept.catch((error: unknown) => ports.tools.reportFailure(error, requestId))
  }
  const done: Line = { type: 'done', conversationId }
  try {
    for await (const line of answered(message, context)) {
      const safe = withoutCardNumbers(line, 'POST /canvas/messages', context)
      lines.push(safe)
      yield `${JSON.stringify(safe)}\n`
    }
    lines.push(done)
  } finally {
    // Somebody who goes away in the middle finds in the conversation what they were told.
    await keep()
  }
  yield `${JSON.stringify(done)}\n`
}

/** The lines of an answer but the last: what goes wrong is a line, too. */
async function* answered(message: string, context: Speaking): AsyncGenerator<Line> {
  try {
    const { languageModel } = context.ports
    const otherwise = languageModel ? () => answerByModel(message, languageModel, context) : undefined
    yield* answer(message, new Speaker(context), otherwise)
  } catch (error) {
    context.ports.tools.reportFailure(error, context.requestId)
    yield failure(
      'internal',
      `Something went wrong on our side. Give us the X-Request-Id ${context.requestId}.`,
    )
  }
}
