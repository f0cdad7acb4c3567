import { type MessagePort, parentPort } from 'node:worker_threads'
import type { Answer, JobRequest, StepRequest } from './thread.ts'

/** The entry of a pool thread: runs jobs, each over a port of its own, one step per request of the event loop. */
parentPort?.on('message', (order: JobRequest) => {
  new Job(order).listen()
})

class Job {
  readonly #order: JobRequest
  readonly #port: MessagePort
  #pieces: AsyncIterator<unknown> | undefined
  #page = Promise.withResolvers<unknown>()

  constructor(order: JobRequest) {
    this.#order = order
    this.#port = order.port
  }

  listen(): void {
    this.#port.on('message', (request: StepRequest) => {
      if ('page' in request) this.#page.resolve(request.page)
      else void this.#step()
    })
    this.#port.on('close', () => {
      this.#page.reject(new Error('Nobody waits for this any more.'))
      this.#page.promise.catch(() => undefined)
      this.#pieces?.return?.().catch(() => undefined)
    })
  }

  async #step(): Promise<void> {
    try {
      this.#pieces ??= await this.#begin()
      const { done, value } = await this.#pieces.next()
      this.#tell(done ? { end: true } : { piece: value })
    } catch (error) {
      const { message, stack } = error as Error
      this.#tell({ failure: { message, stack } })
    }
  }

  async #begin(): Promise<AsyncIterator<unknown>> {
    const { module, name, args } = this.#order
    const work = (await import(module))[name]
    const result = work(...args, this.#pages())
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

  #tell(answer: Answer): void {
    this.#port.postMessage(answer)
  }
}

async function* only(value: unknown): AsyncGenerator<unknown> {
  yield await value
}
