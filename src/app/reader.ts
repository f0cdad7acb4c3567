import { areas as allAreas } from '../areas.ts'
import { allOperations } from '../kernel/contract/area.ts'
import type { ApiCall, ApiResponse } from '../kernel/contract/call.ts'
import type { ByteStream } from '../kernel/contract/file.ts'
import { mediaTypeOf } from '../kernel/contract/file.ts'
import { Problem, type ProblemCode } from '../kernel/contract/problem.ts'
import type { CostlyReader } from '../kernel/run/runtime.ts'
import { type ThreadJob, WorkerThread } from '../platform/threads/thread.ts'
import type { ReadCall, ReadMessage } from './reader-thread.ts'
import type { ProcessState, ReaderParts } from './runtime.ts'

const MODULE = new URL('./reader-thread.ts', import.meta.url)
/** PostgreSQL ends a statement after seconds. A step that takes longer than this has no end. */
const STEP_LIMIT_MS = 300_000

interface OpenThread {
  readonly thread: WorkerThread
  readonly opened: Promise<unknown>
  isOpen: boolean
}

async function* noPages(): AsyncGenerator<never> {}

/**
 * Answers costly reads in a thread of its own, which starts with the first one and has its own connections. Until it
 * has started, the process itself answers what is not a file. A job ends when its client leaves.
 */
export class Reader implements CostlyReader {
  readonly #parts: ReaderParts
  readonly #known = new Set(allOperations(allAreas).map(({ operation }) => operation))
  #open: OpenThread | undefined

  constructor(parts: ReaderParts) {
    this.#parts = parts
  }

  read(call: ApiCall): Promise<ApiResponse> | undefined {
    const { operation } = call.operation
    // Only a test has others.
    if (!this.#known.has(operation)) return undefined
    const open = this.#opening()
    if (open.isOpen) return this.#readIn(open, call)
    const mediaType = mediaTypeOf(operation.returns[1])
    if (mediaType === undefined || mediaType === HTML) return undefined
    return open.opened.then(() => this.#readIn(open, call))
  }

  async stop(): Promise<void> {
    const open = this.#open
    this.#open = undefined
    if (!open) return
    await open.opened.then(() => this.#run(open.thread, 'closeReader', []).next()).catch(() => undefined)
    await open.thread.end()
  }

  #opening(): OpenThread {
    if (this.#open && !this.#open.thread.hasEnded) return this.#open
    const { settings, onFailure } = this.#parts
    const thread = new WorkerThread({ stepLimitMs: STEP_LIMIT_MS, onFailure })
    const opened = this.#run(thread, 'openReader', [settings]).next()
    const open: OpenThread = { thread, opened, isOpen: false }
    opened.then(
      () => {
        open.isOpen = true
      },
      error => {
        onFailure(error)
        if (this.#open === open) this.#open = undefined
        void thread.end()
      },
    )
    this.#open = open
    return open
  }

  #run(thread: WorkerThread, name: string, args: readonly unknown[], onBegin?: (job: ThreadJob) => void) {
    const job = thread.begin({ module: MODULE, name }, args, false)
    onBegin?.(job)
    return job.pieces(noPages())
  }

  async #readIn({ thread }: OpenThread, call: ApiCall): Promise<ApiResponse> {
    const { operation, whenGone, ending: _, ...plain } = call
    const temporal =
      mediaTypeOf(operation.operation.returns[1]) === HTML ? await this.#parts.temporal() : null
    const state: ProcessState = { ...this.#parts.state(), temporal }
    const asked: ReadCall = { ...plain, operation: operation.key }
    const gone = whenGone?.()
    const parts = this.#run(thread, 'answerRead', [asked, state], job => {
      gone?.addEventListener('abort', () => job.close(), { once: true })
      if (gone?.aborted) job.close()
    }) as AsyncGenerator<ReadMessage>
    const first = this.#understood((await parts.next()).value)
    if (!('head' in first)) throw new Error('an answer begins with its head')
    const { head, body, isStreamed } = first
    if (isStreamed) return { ...head, body: this.#piecesOf(parts) }
    await parts.return(undefined)
    return { ...head, body }
  }

  async *#piecesOf(parts: AsyncGenerator<ReadMessage>): ByteStream {
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
