import { type MessagePort, parentPort } from 'node:worker_threads'
import type { Answer, Order, Request } from './thread.ts'

/** What a thread of the pool runs: jobs, each over a port of its own, one step whenever the other side asks for it. */
parentPort?.on('message', (order: Order) => {
  new Job(order).listen()
})

class Job {
  readonly #order: Order
  readonly #port: MessagePort
  #pieces: AsyncIterator<unknown> | undefined
  #page = Promise.withResolvers<unknown>()

  constructor(order: Order) {
    this.#order = order
    this.#port = order.port
  }

  listen(): void {
    this.#port.on('message', (request: Request) => {
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
    const made = work(...args, this.#pages())
    return made?.[Symbol.asyncIterator]?.() ?? only(made)
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
