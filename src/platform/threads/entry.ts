import { type MessagePort, parentPort } from 'node:worker_threads'
import type { ThreadAnswer, ThreadJobRequest, ThreadStepRequest } from './messages.ts'

/** The bytes of a job with input, in order. Each buffer's memory is returned when the next one is requested. */
class ReceivedBytes implements AsyncIterable<Uint8Array> {
  readonly #giveBack: (memory: ArrayBuffer) => void
  readonly #waiting: Uint8Array<ArrayBuffer>[] = []
  #isWhole = false
  #failure: Error | undefined
  #news = Promise.withResolvers<void>()

  constructor(giveBack: (memory: ArrayBuffer) => void) {
    this.#giveBack = giveBack
  }

  /** Null ends the input. */
  take(bytes: Uint8Array<ArrayBuffer> | null): void {
    if (bytes) this.#waiting.push(bytes)
    else this.#isWhole = true
    this.#news.resolve()
  }

  breakOff(failure: Error): void {
    if (!this.#isWhole) this.#failure ??= failure
    this.#news.resolve()
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    for (;;) {
      if (this.#failure) throw this.#failure
      const bytes = this.#waiting.shift()
      if (bytes) {
        yield bytes
        this.#giveBack(bytes.buffer)
      } else if (this.#isWhole) return
      else {
        await this.#news.promise
        this.#news = Promise.withResolvers()
      }
    }
  }
}

/** The entry of a pool thread. It runs jobs, each over a port of its own, one step per request of the event loop. */
parentPort?.on('message', (order: ThreadJobRequest) => {
  new Job(order).listen()
})

class Job {
  readonly #order: ThreadJobRequest
  readonly #port: MessagePort
  #pieces: AsyncIterator<unknown> | undefined
  #page = Promise.withResolvers<unknown>()
  readonly #bytes: ReceivedBytes
  #first: Promise<IteratorResult<unknown>> | undefined
  #isClosed = false

  constructor(order: ThreadJobRequest) {
    this.#order = order
    this.#port = order.port
    this.#bytes = new ReceivedBytes(memory => this.#port.postMessage({ room: memory }, [memory]))
  }

  listen(): void {
    this.#port.on('message', (request: ThreadStepRequest) => {
      if ('page' in request) this.#page.resolve(request.page)
      else if ('bytes' in request) this.#bytes.take(request.bytes)
      else if ('isBrokenOff' in request) this.#bytes.breakOff(new Error('The rest has not come.'))
      else void this.#step()
    })
    this.#port.on('close', () => {
      this.#isClosed = true
      const gone = new Error('The caller no longer waits for the result.')
      this.#page.reject(gone)
      this.#page.promise.catch(() => undefined)
      this.#bytes.breakOff(gone)
      this.#pieces?.return?.().catch(() => undefined)
    })
    if (!this.#order.hasInput) return
    this.#first = this.#next()
    this.#first.catch(() => undefined)
  }

  async #next(): Promise<IteratorResult<unknown>> {
    this.#pieces ??= await this.#begin()
    if (!this.#isClosed) return this.#pieces.next()
    await this.#pieces.return?.()
    return { done: true, value: undefined }
  }

  async #step(): Promise<void> {
    try {
      const next = this.#first ?? this.#next()
      this.#first = undefined
      const { done, value } = await next
      this.#tell(done ? { end: true } : { piece: value })
    } catch (error) {
      const { message, stack } = error as Error
      this.#tell({ failure: { message, stack } })
    }
  }

  async #begin(): Promise<AsyncIterator<unknown>> {
    const { module, name, args, hasInput } = this.#order
    const work = (await import(module))[name]
    const result = work(...args, ...(hasInput ? [this.#bytes] : []), this.#pages())
    return result?.[Symbol.asyncIterator]?.() ?? only(result)
  }

  async *#pages(): AsyncGenerator<unknown> {
    for (;;) {
      this.#page = Promise.withResolvers()
      this.#tell({ wantsPage: true })
      const page = await this.#page.promise
      if (page === undefined) return
      yield page
    }
  }

  #tell(answer: ThreadAnswer): void {
    this.#port.postMessage(answer)
  }
}

async function* only(value: unknown): AsyncGenerator<unknown> {
  yield await value
}
