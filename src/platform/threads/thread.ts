import { MessageChannel, type MessagePort, Worker } from 'node:worker_threads'
import { Problem } from '../../kernel/contract/problem.ts'

/** A job as it is given to a thread, with the port over which it is asked for each step. */
export interface Order {
  readonly port: MessagePort
  readonly module: string
  readonly name: string
  readonly args: readonly unknown[]
}

/** What the event loop asks for: the next piece, or what was wanted for it. No page is the end of the pages. */
export type Request = { readonly next: true } | { readonly page: unknown }

export type Answer =
  | { readonly piece: unknown }
  | { readonly end: true }
  | { readonly wantsPage: true }
  | { readonly failure: { readonly message: string; readonly stack: string | undefined } }

/** A thread that has too much in memory ends alone, and the process goes on. */
const MEMORY_MB = 256
/** One step is a page of a document, or one file of a bank: a second is long for it. */
const STEP_LIMIT_MS = 30_000

const stopped = (): Problem =>
  new Problem('busy', 'What was making this has been stopped. Try again.', { 'Retry-After': '1' })

const tooLong = (): Problem =>
  new Problem(
    'busy',
    `This took longer than ${STEP_LIMIT_MS / 1_000} seconds and was stopped. Ask for less.`,
    {
      'Retry-After': '60',
    },
  )

export interface ThreadOptions {
  readonly stepLimitMs?: number
  readonly memoryMb?: number
  /** A thread that ended by itself: it had a defect, or too much in memory. */
  readonly onFailure: (error: unknown) => void
}

/** A worker thread that is at many jobs by turns: what nobody takes holds nothing but memory. */
export class Thread {
  readonly #worker: Worker
  readonly #stepLimitMs: number
  jobs = 0
  hasEnded = false

  constructor({ stepLimitMs = STEP_LIMIT_MS, memoryMb = MEMORY_MB, onFailure }: ThreadOptions) {
    this.#stepLimitMs = stepLimitMs
    this.#worker = new Worker(new URL('./entry.ts', import.meta.url), {
      env: {},
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: memoryMb },
    })
    this.#worker.unref()
    this.#worker.on('error', onFailure)
    this.#worker.on('exit', () => {
      this.hasEnded = true
    })
  }

  begin(module: URL, name: string, args: readonly unknown[]): Job {
    const { port1, port2 } = new MessageChannel()
    const order: Order = { port: port2, module: module.href, name, args }
    this.#worker.postMessage(order, [port2])
    return new Job(port1, this.#stepLimitMs, () => void this.end())
  }

  async end(): Promise<void> {
    this.hasEnded = true
    await this.#worker.terminate()
  }
}

/** This side of a job: asks for a step, and has the answer or the reason why there is none. */
export class Job {
  readonly #port: MessagePort
  readonly #limitMs: number
  readonly #kill: () => void
  #asked: PromiseWithResolvers<Answer> | undefined
  #end: Problem | undefined

  constructor(port: MessagePort, limitMs: number, kill: () => void) {
    this.#port = port
    this.#limitMs = limitMs
    this.#kill = kill
    port.on('message', (answer: Answer) => this.#asked?.resolve(answer))
    port.on('close', () => {
      this.#end ??= stopped()
      this.#asked?.reject(this.#end)
    })
  }

  async *pieces(pages: AsyncIterable<unknown>): AsyncGenerator<unknown> {
    const source = pages[Symbol.asyncIterator]()
    try {
      for (let answer = await this.#ask({ next: true }); !('end' in answer); ) {
        if ('piece' in answer) {
          yield answer.piece
          answer = await this.#ask({ next: true })
        } else {
          const { done, value } = await source.next()
          answer = await this.#ask({ page: done ? undefined : value })
        }
      }
    } finally {
      this.close()
      await source.return?.()
    }
  }

  close(): void {
    this.#port.close()
  }

  async #ask(request: Request): Promise<Exclude<Answer, { failure: unknown }>> {
    if (this.#end) throw this.#end
    const asked = Promise.withResolvers<Answer>()
    this.#asked = asked
    const limit = setTimeout(() => {
      this.#end = tooLong()
      this.#kill()
    }, this.#limitMs)
    try {
      this.#port.postMessage(request)
      const answer = await asked.promise
      if ('failure' in answer) throw Object.assign(new Error(answer.failure.message), answer.failure)
      return answer
    } finally {
      clearTimeout(limit)
    }
  }
}
