import type { Context } from '../../kernel/contract/context.ts'
import { formatMoney, roundCents } from '../../values/money.ts'
import { createProposal } from '../proposals/index.ts'
import { type AnswerLine, errorLine, textLine } from './lines.ts'
import type { IntentSlots } from './parser/parsed-intent.ts'

export type OperationMembers = Readonly<Record<string, unknown>>

export interface CanvasPage<T> {
  readonly data: readonly T[]
  readonly hasMore: boolean
}

export type ResponderContext = Context

const LONGEST_RESULT = 20_000

export class CanvasResponder {
  readonly #context: ResponderContext
  #calls = 0

  constructor(context: ResponderContext) {
    this.#context = context
  }

  get now(): Date {
    return this.#context.now
  }

  pageOf(path: string): string {
    return this.#context.ports.pageUrl(path)
  }

  /**
   * Calls an operation that reads. A refusal becomes a line, and the result is undefined. `T` is the answer
   * of its contract.
   */
  async *ask<T>(operation: string, given: OperationMembers): AsyncGenerator<AnswerLine, T | undefined> {
    const id = String(++this.#calls)
    yield { type: 'tool_call', id, operation, input: { ...given } }
    const answer = await this.#context.ports.tools.call(this.#context, operation, given, null)
    const { refusal, body } = answer
    const result = refusal ?? body ?? null
    const isLong = JSON.stringify(result).length > LONGEST_RESULT
    yield {
      type: 'tool_result',
      id,
      operation,
      isError: refusal !== undefined,
      result: isLong ? null : result,
    }
    if (!refusal) return body as T
    yield textLine(`That cannot be read: ${refusal.message}`)
    return undefined
  }

  async *propose(operation: string, given: OperationMembers): AsyncGenerator<AnswerLine> {
    const answer = await createProposal({ operation, given, reason: null }, this.#context)
    if ('code' in answer) return yield errorLine(answer.code, answer.message)
    const { proposal, isRepeated } = answer
    yield { type: 'proposal', proposal }
    const page = this.pageOf(`/console/proposals/${proposal.id}`)
    const begun = isRepeated ? 'This is already proposed' : `Proposed: ${proposal.summary}`
    yield textLine(
      `${begun}. Nothing has changed yet: it can be applied for fifteen minutes, here or at ${page}.`,
    )
  }
}

export type IntentAnswerer = (slots: IntentSlots, responder: CanvasResponder) => AsyncGenerator<AnswerLine>

export const formatEuros = (amount: number): string =>
  `${amount < 0 ? '-' : ''}${formatMoney(roundCents(Math.abs(amount) * 100))}`

const FEW = 10

export function listLine(
  items: readonly string[],
  { none, some }: { readonly none: string; readonly some: string },
  hasMore = false,
): AnswerLine {
  if (items.length === 0) return textLine(none)
  const lines = items.slice(0, FEW).map(item => `- ${item}`)
  const isCut = hasMore || items.length > FEW
  return textLine(`${some}\n${lines.join('\n')}${isCut ? '\n- and more' : ''}`)
}

export const formatMinuteUtc = (at: string): string => at.slice(0, 16).replace('T', ' ')
