import { z } from 'zod'
import type {
  LanguageModel,
  ModelAnswer,
  ModelCall,
  ModelMessage,
  ModelTool,
} from '../../ports/language-model.ts'
import type { OutboundHttp } from '../../ports/outbound.ts'

export interface ChatCompletionsOptions {
  readonly url: string
  readonly model: string
  readonly key: string | undefined
}

const MAX_BYTES = 262_144
const MOST_CALLS = 16

const Answer = z.object({
  choices: z
    .array(
      z.object({
        message: z.object({
          content: z.string().nullish(),
          tool_calls: z
            .array(
              z.object({
                id: z.string().max(200),
                function: z.object({ name: z.string().max(200), arguments: z.string() }),
              }),
            )
            .nullish(),
        }),
      }),
    )
    .min(1),
  usage: z.object({ total_tokens: z.number().min(0) }).nullish(),
})

export function chatCompletions(
  { url, model, key }: ChatCompletionsOptions,
  outbound: OutboundHttp,
): LanguageModel {
  const address = `${url.replace(/\/+$/, '')}/chat/completions`
  return {
    async answer(messages, tools, { milliseconds, tokens }) {
      const answer = await outbound.send({
        url: address,
        method: 'POST',
        headers: { 'content-type': 'application/json', ...(key ? { authorization: `Bearer ${key}` } : {}) },
        body: JSON.stringify({
          model,
          messages: messages.map(messageOf),
          tools: tools.map(toolOf),
          max_tokens: tokens,
        }),
        timeoutMs: milliseconds,
        maxBytes: MAX_BYTES,
      })
      if (answer.kind !== 'answered')
        return failed(answer.kind === 'failed' && answer.timedOut ? 'it was too slow' : answer.message)
      if (answer.cut) return failed('its answer is too long')
      if (answer.status !== 200) return failed(`it answered ${answer.status}`)
      return read(answer.body)
    },
  }
}

const failed = (reason: string): ModelAnswer => ({ kind: 'failed', reason })

function read(bytes: Uint8Array): ModelAnswer {
  const answer = Answer.safeParse(json(Buffer.from(bytes).toString('utf8')))
  const message = answer.data?.choices[0]?.message
  if (!message) return failed('its answer cannot be read')
  const calls = (message.tool_calls ?? [])
    .slice(0, MOST_CALLS)
    .map(({ id, function: { name, arguments: given } }): ModelCall => ({ id, name, input: objectIn(given) }))
  if (calls.some(({ input }) => isDeeperThanAllowed(input)))
    return failed(`the arguments of a call are nested more than ${MAX_DEPTH} levels deep`)
  return { kind: 'said', text: message.content ?? '', calls, tokens: answer.data?.usage?.total_tokens ?? 0 }
}

function json(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** No operation needs more, and deeper nesting would exhaust the stack when it is serialized. */
const MAX_DEPTH = 32

function isDeeperThanAllowed(value: unknown): boolean {
  let level = [value]
  for (let depth = 0; depth <= MAX_DEPTH && level.length > 0; depth++)
    level = level.flatMap(one => (typeof one === 'object' && one !== null ? Object.values(one) : []))
  return level.length > 0
}

/** U+0000 and lone surrogates as JSON escapes, which PostgreSQL cannot store. */
const UNSTORABLE = /(?<!\\)(?:\\\\)*\\u(?:0000|d[89a-f])/

function objectIn(text: string): ModelCall['input'] {
  const value = text.trim() === '' ? {} : json(text)
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined
  const isKept = isDeeperThanAllowed(value) || !UNSTORABLE.test(JSON.stringify(value))
  return isKept ? (value as ModelCall['input']) : undefined
}

function messageOf(message: ModelMessage): object {
  if (message.role === 'tool') return { role: 'tool', tool_call_id: message.callId, content: message.text }
  if (message.role !== 'assistant' || message.calls.length === 0)
    return { role: message.role, content: message.text }
  const calls = message.calls.map(({ id, name, input }) => ({
    id,
    type: 'function',
    function: { name, arguments: JSON.stringify(input ?? {}) },
  }))
  return { role: 'assistant', content: message.text, tool_calls: calls }
}

const toolOf = ({ name, description, inputSchema }: ModelTool): object => ({
  type: 'function',
  function: { name, description, parameters: inputSchema },
})
