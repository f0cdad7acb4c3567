import type { Actor } from '../../kernel/contract/actor.ts'
import type { Context } from '../../kernel/contract/context.ts'
import type { ToolAnswer } from '../../kernel/contract/tool.ts'
import { maskCardNumbersIn } from '../../values/mask-card-numbers.ts'

/** The members that a tool is given. */
export type Given = Readonly<Record<string, unknown>>

export interface ToolCall {
  readonly name: string
  readonly given: Given
  /** Whether the client can open an address for its person. */
  readonly canOpenUrls: boolean
  /** What the client's person has answered to what was asked of them. */
  readonly responses: Readonly<Record<string, unknown>> | undefined
  /** What we have given the client along with what was asked: nothing proves that it is the same. */
  readonly state?: unknown
}

/**
 * A model that reads a merchant's text must not be able to spend by being told to: an agent's token is bounded by its
 * policy, and a key changes something only where whoever made it has said so. What it may not do becomes a proposal.
 */
export const mayWrite = ({ type, toolWrites }: Actor): boolean => type === 'agent' || toolWrites === true

/** What a tool answers: for the model as a text, for programs as an object. */
export interface Result {
  readonly content: readonly { readonly type: 'text'; readonly text: string }[]
  readonly structuredContent?: Readonly<Record<string, unknown>>
  readonly isError?: true
  readonly [member: string]: unknown
}

const REPEATED =
  'This is the same call as one before it, and this is its answer: nothing was done again. To do it once more, give another idempotencyKey.'

const text = (content: string) => ({ type: 'text' as const, text: content })

/** An answer, with sentences for the model before it. */
export function succeeded(body: unknown, isRepeated = false, ...sentences: readonly string[]): Result {
  const said = [...(isRepeated ? [REPEATED] : []), ...sentences]
  const shown = body === undefined ? 'Done.' : typeof body === 'string' ? body : JSON.stringify(body)
  return {
    // In the order in which the protocol's own server writes them.
    ...(isRepeated ? { _meta: { 'agentpay/repeated': true } } : {}),
    content: [...said.map(text), text(shown)],
    ...(isRecord(body) ? { structuredContent: body } : {}),
  }
}

/** A refusal: its code, its sentence, and what would make it a yes. */
export function refused(
  code: string,
  message: string,
  remedies: readonly string[] = [],
  more: object = {},
): Result {
  const wish =
    remedies.length > 0 ? [`What would make it a yes:\n${remedies.map(one => `- ${one}`).join('\n')}`] : []
  return {
    content: [text(`${code}: ${message}`), ...wish.map(text)],
    structuredContent: { error: { code, message, remedies }, ...more },
    isError: true,
  }
}

export const resultOf = ({ body, refusal, isRepeated }: ToolAnswer): Result =>
  refusal ? refused(refusal.code, refusal.message) : succeeded(body, isRepeated)

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Fewer digits are no number of a card. */
const MANY_DIGITS = /\d(?:[ -]?\d){11}/

/** Whatever leaves by a tool leaves without numbers of cards; the operator hears of one that would have. */
export function withoutCardNumbers<T extends object>(
  leaving: T,
  name: string,
  { ports, requestId }: Pick<Context, 'ports' | 'requestId'>,
): T {
  if (!MANY_DIGITS.test(JSON.stringify(leaving))) return leaving
  const masked = maskCardNumbersIn(unfolded(leaving))
  if (JSON.stringify(masked) === JSON.stringify(leaving)) return leaving
  ports.tools.reportCardNumber(name, requestId)
  return masked as T
}

/** As it will be sent: a text that is JSON is looked at as a text, in which the numbers stand as they are read. */
const unfolded = (leaving: object): unknown => JSON.parse(JSON.stringify(leaving))
