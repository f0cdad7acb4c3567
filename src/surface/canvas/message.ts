import { type File, LINES } from '../../kernel/contract/file.ts'
import type { HandlerOf } from '../../kernel/contract/operation.ts'
import type { LanguageModel } from '../../ports/language-model.ts'
import { maskCardNumbers } from '../../values/mask-card-numbers.ts'
import { withoutCardNumbers } from '../mcp/index.ts'
import { answer } from './answers/answer.ts'
import type { canvasApi } from './api.ts'
import { failure, type Line } from './lines.ts'
import { earlierTurns } from './model/earlier.ts'
import { answerByModel } from './model/talk.ts'
import { Speaker, type Speaking } from './speaker.ts'

/** Answers a message line by line. What was said is kept before the first line, and the answer after the last one. */
export const message: HandlerOf<typeof canvasApi.message> = async ({ body }, context) => {
  const { actor, tenant, ports, requestId, refuse } = context
  const { conversationId } = body
  // What somebody types by mistake is neither kept nor sent on.
  const message = maskCardNumbers(body.message)
  const beginning = { message, conversationId, callerId: String(actor.id), agentId: actor.agentId }
  const begun = (await ports.runFor(tenant, 'canvas.begin', { body: beginning }, requestId)) as
    | Begun
    | NotBegun
  if (!begun.isKept) return refuse(begun.refusal)
  return { type: `${LINES}; charset=utf-8`, content: spoken(message, begun, context) } satisfies File
}

interface Begun {
  readonly isKept: true
  readonly conversationId: string
  readonly turnId: string
}

interface NotBegun {
  readonly isKept: false
  readonly refusal: 'conversation_not_found' | 'conversation_full'
}

async function* spoken(message: string, begun: Begun, context: Speaking): AsyncGenerator<string> {
  const { conversationId, turnId } = begun
  const { actor, tenant, ports, requestId } = context
  const lines: Line[] = []
  const keep = () => {
    const input = { params: { id: turnId }, body: { lines, agentId: actor.agentId } }
    const kept = ports.runFor(tenant, 'canvas.finish', input, requestId)
    return kept.catch((error: unknown) => ports.tools.reportFailure(error, requestId))
  }
  const done: Line = { type: 'done', conversationId }
  try {
    for await (const line of answered(message, begun, context)) {
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
async function* answered(message: string, begun: Begun, context: Speaking): AsyncGenerator<Line> {
  const { languageModel } = context.ports
  async function* byModel(model: LanguageModel): AsyncGenerator<Line> {
    const earlier = await earlierTurns(begun, context)
    yield* answerByModel({ message, earlier }, model, context)
  }
  try {
    yield* answer(message, new Speaker(context), languageModel ? () => byModel(languageModel) : undefined)
  } catch (error) {
    context.ports.tools.reportFailure(error, context.requestId)
    yield failure(
      'internal',
      `Something went wrong on our side. Give us the X-Request-Id ${context.requestId}.`,
    )
  }
}
