import { z } from 'zod'

const operation = z.string().meta({ examples: ['intents.list'] })
const id = z.string().meta({ examples: ['1'], description: 'Names the call within the answer.' })

export const CanvasLine = z
  .discriminatedUnion('type', [
    z.object({ type: z.literal('text'), text: z.string() }),
    z.object({
      type: z.literal('tool_call'),
      id,
      operation,
      input: z.record(z.string(), z.unknown()).meta({ maxProperties: 200 }),
    }),
    z.object({
      type: z.literal('tool_result'),
      id,
      operation,
      isError: z.boolean(),
      result: z.unknown().meta({
        description: 'The operation’s answer or refusal. Null if it is too long for a line.',
      }),
    }),
    z.object({
      type: z.literal('proposal'),
      proposal: z.record(z.string(), z.unknown()).meta({
        maxProperties: 40,
        description: 'The proposal, as `GET /canvas/proposals/{id}` returns it.',
      }),
    }),
    z.object({ type: z.literal('error'), code: z.string(), message: z.string() }),
    z.object({
      type: z.literal('done'),
      conversationId: z.string(),
    }),
  ])
  .meta({ id: 'CanvasLine', description: '`done` comes exactly once, and last.' })

export type AnswerLine = z.output<typeof CanvasLine>

/** PostgreSQL stores neither NUL nor lone surrogates. Texts that were cut, and texts of models, may contain both. */
const kept = (text: string): string => text.replaceAll('\0', '').toWellFormed()

export const textLine = (of: string): AnswerLine => ({ type: 'text', text: kept(of) })
export const errorLine = (code: string, message: string): AnswerLine => ({ type: 'error', code, message })
