import type { Context } from '../../kernel/contract/context.ts'
import { formatEuros } from '../../values/money.ts'
import { propose } from '../proposals/index.ts'
import type { Slots } from './interpreter/meaning.ts'
import { failure, type Line, say } from './lines.ts'

export type Given = Readonly<Record<string, unknown>>

/** A page of a list, as operations answer it. */
export interface Page<T> {
  readonly data: readonly T[]
  readonly hasMore: boolean
}

export type Speaking = Pick<
  Context,
  'actor' | 'tenant' | 'requestId' | 'address' | 'runId' | 'ports' | 'now' | 'ending' | 'readLater'
>

/** A longer answer of an operation is no line: the text says what there is to say. */
const LONGEST_RESULT = 20_000

/** Asks operations and proposes others for whoever speaks, and tells each step in a line. */
export class Speaker {
  readonly #context: Speaking
  #calls = 0

  constructor(context: Speaking) {
    this.#context = context
  }

  get now(): Date {
    return this.#context.now
  }

  pageOf(path: string): string {
    return this.#context.ports.pageUrl(path)
  }

  /** Asks an operation that reads; undefined where it was refused, which is told. `T` is what its contract answers. */
  async *ask<T>(operation: string, given: Given): AsyncGenerator<Line, T | undefined> {
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
    yield say(`That cannot be read: ${refusal.message}`)
    return undefined
  }

  /** Proposes what changes something. Nothing has changed before a person applies it. */
  async *propose(operation: string, given: Given): AsyncGenerator<Line> {
    const answer = await propose({ operation, given, reason: null }, this.#context)
    if ('code' in answer) return yield failure(answer.code, answer.message)
    const { proposal, isRepeated } = answer
    yield { type: 'proposal', proposal }
    const page = this.pageOf(`/console/proposals/${proposal.id}`)
    const begun = isRepeated ? 'This is proposed already' : `Proposed: ${proposal.summary}`
    yield say(`${begun}. Nothing has changed yet: it can be applied for fifteen minutes, here or at ${page}.`)
  }
}

/** Answers one of the things that owners ask. */
export type Answerer = (slots: Slots, speaker: Speaker) => AsyncGenerator<Line>

export const euros = (amount: number): string =>
  `${amount < 0 ? '-' : ''}${formatEuros(BigInt(Math.round(Math.abs(amount) * 100)))}`

/** How many lines a person reads. */
const FEW = 10

/** A list in words: what it is called, its lines, and that there are more. */
export function listed(
  items: readonly string[],
  { none, some }: { readonly none: string; readonly some: string },
  hasMore = false,
): Line {
  if (items.length === 0) return say(none)
  const lines = items.slice(0, FEW).map(item => `- ${item}`)
  const isCut = hasMore || items.length > FEW
  return say(`${some}\n${lines.join('\n')}${isCut ? '\n- and more' : ''}`)
}

/** `2026-11-22 09:30` */
export const minute = (at: string): string => at.slice(0, 16).replace('T', ' ')
