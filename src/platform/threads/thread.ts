import { MessageChannel, type MessagePort, Worker } from 'node:worker_threads'
import { Problem } from '../../kernel/contract/problem.ts'
import type { ThreadTask } from '../../ports/threads.ts'
import { detachBytes } from '../../values/free-memory.ts'
import type { ThreadAnswer, ThreadJobRequest, ThreadStepRequest } from './messages.ts'

/** Large enough that a message costs little compared with the work on its bytes. */
const BUFFER = 262_144
/** The first buffer suffices for a small body; a connection holds as much anyway. */
const FIRST_BUFFER = 65_536
/** The most buffers of one job, which bounds the memory on its way to the thread for any length of the input. */
const MOST_BUFFERS = 4

type Post = (message: ThreadStepRequest, memory: ArrayBuffer[]) => void

/**
 * Takes ownership of bytes and collects them in buffers. Full buffers move to the thread and return after it
 * has read them.
 */
class InputBuffer {
  readonly #post: Post
  readonly #free: ArrayBuffer[] = []
  #made = 0
  #hasEnded = false
  #filling: Uint8Array<ArrayBuffer> | undefined
  #length = 0
  #room: PromiseWithResolvers<void> | undefined

  constructor(post: Post) {
    this.#post = post
  }

  add(bytes: Uint8Array): Promise<void> | undefined {
    for (let rest = bytes; rest.length > 0; ) {
      this.#filling ??= this.#buffer()
      if (!this.#filling) return this.#whenFree().then(() => this.add(rest))
      const some = rest.subarray(0, this.#filling.length - this.#length)
      this.#filling.set(some, this.#length)
      this.#length += some.length
      rest = rest.subarray(some.length)
      if (this.#length === this.#filling.length) this.#send()
    }
    detachBytes(bytes)
    return undefined
  }

  end(): void {
    if (this.#length > 0) this.#send()
    this.#freeAll()
    this.#post({ bytes: null }, [])
  }

  breakOff(): void {
    this.#post({ isBrokenOff: true }, [])
  }

  giveBack(memory: ArrayBuffer): void {
    this.#free.push(memory)
    if (this.#hasEnded) this.#freeAll()
    this.#room?.resolve()
  }

  stop(reason: unknown): void {
    this.#freeAll()
    this.#room?.reject(reason)
  }

  #freeAll(): void {
    this.#hasEnded = true
    for (const memory of this.#free.splice(0)) detachBytes(new Uint8Array(memory))
  }

  #buffer(): Uint8Array<ArrayBuffer> | undefined {
    const memory = this.#free.pop()
    if (memory) return new Uint8Array(memory)
    if (this.#made === MOST_BUFFERS) return undefined
    const size = this.#made++ === 0 ? FIRST_BUFFER : BUFFER
    return new Uint8Array(Buffer.allocUnsafeSlow(size).buffer)
  }

  #send(): void {
    const filled = this.#filling
    if (!filled) return
    this.#filling = undefined
    const bytes = filled.subarray(0, this.#length)
    this.#length = 0
    this.#post({ bytes }, [filled.buffer])
  }

  #whenFree(): Promise<void> {
    this.#room = Promise.withResolvers()
    return this.#room.promise
  }
}

/** A thread that needs more memory is ended; the process continues. */
const MEMORY_MB = 256
/** A step is a page of a document or a bank file: normally well below a second. */
const STEP_LIMIT_MS = 30_000

const stopped = (): Problem =>
  new Problem('busy', 'What was making this has been stopped. Try again.', { 'Retry-After': '1' })

const tooLong = (limitMs: number): Problem =>
  new Problem('busy', `This took longer than ${limitMs / 1_000} seconds and was stopped. Ask for less.`, {
    'Retry-After': '60',
  })

export interface ThreadOptions {
  readonly stepLimitMs?: number
  readonly memoryMb?: number
  readonly onFailure: (error: unknown) => void
}

/** A worker thread that interleaves jobs. A job whose reader pauses costs memory only. */
export class WorkerThread {
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

  begin(
    { module, name, transfer = [] }: Omit<ThreadTask, 'owner'>,
    args: readonly unknown[],
    hasInput: boolean,
  ): ThreadJob {
    // A message to a thread that has ended is dropped, and nothing would answer.
    if (this.hasEnded) throw stopped()
    const { port1, port2 } = new MessageChannel()
    const order: ThreadJobRequest = { port: port2, module: module.href, name, args, hasInput }
    this.#worker.postMessage(order, [port2, ...transfer])
    return new ThreadJob(port1, this.#stepLimitMs, () => void this.end())
  }

  async end(): Promise<void> {
    this.hasEnded = true
    await this.#worker.terminate()
  }
}

export class ThreadJob {
  readonly #port: MessagePort
  readonly #limitMs: number
  readonly #kill: () => void
  #pending: PromiseWithResolvers<ThreadAnswer> | undefined
  #end: Problem | undefined
  readonly bytes: InputBuffer

  constructor(port: MessagePort, limitMs: number, kill: () => void) {
    this.#port = port
    this.#limitMs = limitMs
    this.#kill = kill
    this.bytes = new InputBuffer((message, memory) => port.postMessage(message, memory))
    port.on('message', (answer: ThreadAnswer) => {
      if ('room' in answer) this.bytes.giveBack(answer.room)
      else this.#pending?.resolve(answer)
    })
    port.on('close', () => {
      this.#end ??= stopped()
      this.#pending?.reject(this.#end)
      this.bytes.stop(this.#end)
    })
  }

  /** Sends bytes to the thread, and stops the thread if it does not read them in time. */
  add(bytes: Uint8Array): Promise<void> | undefined {
    if (this.#end) return Promise.reject(this.#end)
    return this.bytes.add(bytes)?.finally(this.#limited())
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

  async #ask(
    request: ThreadStepRequest,
  ): Promise<Exclude<ThreadAnswer, { failure: unknown } | { room: unknown }>> {
    if (this.#end) throw this.#end
    const pending = Promise.withResolvers<ThreadAnswer>()
    this.#pending = pending
    const endLimit = this.#limited()
    try {
      this.#port.postMessage(request)
      const answer = await pending.promise
      if ('room' in answer) throw new Error('memory is no answer')
      if ('failure' in answer) throw Object.assign(new Error(answer.failure.message), answer.failure)
      return answer
    } finally {
      endLimit()
    }
  }

  #limited(): () => void {
    const limit = setTimeout(() => {
      this.#end = tooLong(this.#limitMs)
      this.#kill()
      // The thread may have ended already, and then closes no port.
      this.close()
    }, this.#limitMs)
    return () => clearTimeout(limit)
  }
}
