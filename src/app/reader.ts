import { areas as allAreas } from '../areas.ts'
import { allOperations } from '../kernel/contract/area.ts'
import type { ApiCall, ApiResponse } from '../kernel/contract/call.ts'
import type { ByteStream } from '../kernel/contract/file.ts'
import { mediaTypeOf } from '../kernel/contract/file.ts'
import { csvFormOf, isCsvForm } from '../kernel/contract/operation.ts'
import { ClientGone, Problem, type ProblemCode } from '../kernel/contract/problem.ts'
import type { CostlyReader } from '../kernel/run/runtime.ts'
import { WorkerThread } from '../platform/threads/thread.ts'
import { clock } from '../values/clock.ts'
import type { ReadCall, ReadMessage } from './reader-thread.ts'
import type { ProcessState, ReaderParts } from './runtime.ts'

const MODULE = new URL('./reader-thread.ts', import.meta.url)
/** PostgreSQL ends a statement after seconds. A step that takes longer than this has no end. */
const STEP_LIMIT_MS = 300_000
const START_AGAIN_MS = 5_000
const TEMPORAL_KEPT_MS = 2_000

interface OpenThread {
  readonly thread: WorkerThread
  readonly hasOpened: Promise<boolean>
  isOpen: boolean
}

async function* noPages(): AsyncGenerator<never> {}

/**
 * Answers costly reads in a thread of its own, which starts with the first one and has its own connections. Until it
 * has started, the process itself answers what is not a file, and everything where it cannot start. What a client that
 * leaves has begun goes on to its next piece, and the owner's turn with it, so that hanging up piles up no work.
 */
export class Reader implements CostlyReader {
  readonly #parts: ReaderParts
  readonly #known = new Set(
    allOperations(allAreas).flatMap(({ operation }) => [operation, csvFormOf(operation)]),
  )
  #open: OpenThread | undefined
  #startAgainAt = 0
  #askAgainAt = 0
  #serving: Promise<boolean | null> = Promise.resolve(null)

  constructor(parts: ReaderParts) {
    this.#parts = parts
  }

  async read(call: ApiCall): Promise<ApiResponse | undefined> {
    const { operation } = call.operation
    // Only a test has others.
    if (!this.#known.has(operation)) return undefined
    const mediaType = mediaTypeOf(operation.returns[1])
    const temporal = mediaType === HTML ? await this.#temporal() : null
    const open = this.#opening()
    if (!open) return undefined
    const isFile = mediaType !== undefined && mediaType !== HTML
    if (!open.isOpen && !(isFile && (await open.hasOpened))) return undefined
    return this.#readIn(open.thread, call, { ...this.#parts.state(), temporal })
  }

  async stop(): Promise<void> {
    const open = this.#open
    this.#open = undefined
    if (!open) return
    if (await open.hasOpened)
      await this.#run(open.thread, 'closeReader', [])
        .next()
        .catch(() => undefined)
    await open.thread.end()
  }

  /** Undefined for some seconds after a start that failed, so that a lost database does not start one after another. */
  #opening(): OpenThread | undefined {
    if (this.#open && !this.#open.thread.hasEnded) return this.#open
    if (clock.ticks() < this.#startAgainAt) return undefined
    const { settings, onFailure } = this.#parts
    const thread = new WorkerThread({ stepLimitMs: STEP_LIMIT_MS, onFailure })
    const hasOpened = this.#run(thread, 'openReader', [settings])
      .next()
      .then(
        () => {
          open.isOpen = true
          return true
        },
        error => {
          onFailure(error)
          this.#startAgainAt = clock.ticks() + START_AGAIN_MS
          if (this.#open === open) this.#open = undefined
          void thread.end()
          return false
        },
      )
    const open: OpenThread = { thread, hasOpened, isOpen: false }
    this.#open = open
    return open
  }

  /** Every page asks, and Temporal may take a second to answer. */
  #temporal(): Promise<boolean | null> {
    if (clock.ticks() < this.#askAgainAt) return this.#serving
    this.#askAgainAt = clock.ticks() + TEMPORAL_KEPT_MS
    this.#serving = this.#parts.temporal()
    return this.#serving
  }

  #run(thread: WorkerThread, name: string, args: readonly unknown[]) {
    return thread.begin({ module: MODULE, name }, args, false).pieces(noPages())
  }

  async #readIn(thread: WorkerThread, call: ApiCall, state: ProcessState): Promise<ApiResponse> {
    const { operation, whenGone, ending: _, ...plain } = call
    const gone = whenGone?.()
    if (gone?.aborted) throw new ClientGone()
    const asked: ReadCall = { ...plain, operation: operation.key, asCsv: isCsvForm(operation.operation) }
    const parts = this.#run(thread, 'answerRead', [asked, state]) as AsyncGenerator<ReadMessage>
    try {
      const first = this.#understood((await parts.next()).value)
      if (!('head' in first)) throw new Error('an answer begins with its head')
      if (gone?.aborted) throw new ClientGone()
      const { head, body, isStreamed } = first
      if (isStreamed) return { ...head, body: this.#bodyOf(parts) }
      await parts.return(undefined)
      return { ...head, body }
    } catch (error) {
      await parts.return(undefined)
      throw error
    }
  }

  /** Ends the job also where its reader leaves before the first piece. */
  #bodyOf(parts: AsyncGenerator<ReadMessage>): ByteStream {
    const pieces = this.#piecesOf(parts)
    return {
      [Symbol.asyncIterator]: () => ({
        next: () => pieces.next(),
        async return() {
          await pieces.return(undefined)
          await parts.return(undefined)
          return { done: true, value: undefined }
        },
      }),
    }
  }

  async *#piecesOf(parts: AsyncGenerator<ReadMessage>): AsyncGenerator<string | Uint8Array> {
    try {
      for await (const part of parts) {
        const understood = this.#understood(part)
        if ('piece' in understood) yield understood.piece
      }
    } finally {
      await parts.return(undefined)
    }
  }

  #understood(part: ReadMessage): Exclude<ReadMessage, { problem: unknown } | { failure: unknown }> {
    for (const note of part.notes) this.#parts.onNote(note)
    if ('failure' in part) throw Object.assign(new Error(part.failure.message), part.failure)
    if (!('problem' in part)) return part
    const { code, message, headers } = part.problem
    throw new Problem(code as ProblemCode, message, headers)
  }
}

const HTML = 'text/html'
