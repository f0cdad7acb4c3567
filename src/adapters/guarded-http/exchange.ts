import type { Dispatcher } from 'undici'
import type { OutboundRequest } from '../../ports/outbound.ts'
import { clock } from '../../values/clock.ts'
import { flat, headersOf } from './headers.ts'
import type { Target } from './urls.ts'

/** What came back. */
export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
  readonly cut: boolean
}

/** The time for the whole answer is over. */
export class TooLate extends Error {
  constructor({ timeoutMs }: OutboundRequest) {
    super(`There was no whole answer within ${timeoutMs / 1000} s.`)
  }
}

/** One request and its answer, bounded in time and size. Without streams in between: they took a quarter of the time. */
export function exchange(agent: Dispatcher, target: Target, request: OutboundRequest): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const { method, body = null } = request
    const headers = headersOf(request.headers ?? {})
    const reader = new Reader(request, resolve, reject)
    agent.dispatch({ ...target, method, headers, body: body as string | Buffer }, reader)
  })
}

/** Hears an answer as far as it is wanted. What is still on its way then ends with its connection. */
class Reader implements Dispatcher.DispatchHandler {
  readonly #maxBytes: number
  readonly #resolve: (answer: Answer) => void
  readonly #reject: (error: unknown) => void
  readonly #stopAlarm: () => void
  readonly #chunks: Uint8Array[] = []
  #connection: Dispatcher.DispatchController | undefined
  #over: Error | undefined
  #status = 0
  #headers: Readonly<Record<string, string>> = {}
  #size = 0

  constructor(request: OutboundRequest, resolve: (answer: Answer) => void, reject: (error: unknown) => void) {
    this.#maxBytes = request.maxBytes
    this.#resolve = resolve
    this.#reject = reject
    this.#stopAlarm = clock.alarm(request.timeoutMs, () => {
      const late = new TooLate(request)
      reject(late)
      this.#end(late)
    })
  }

  /** It may have waited for a connection until nobody waited for it any more. */
  onRequestStart(connection: Dispatcher.DispatchController): void {
    this.#connection = connection
    if (this.#over) connection.abort(this.#over)
  }

  onResponseStart(
    _: Dispatcher.DispatchController,
    status: number,
    headers: Dispatcher.ResponseData['headers'],
  ) {
    if (status < 200) return
    this.#status = status
    this.#headers = flat(headers)
  }

  onResponseData(_: Dispatcher.DispatchController, chunk: Uint8Array): void {
    this.#chunks.push(chunk)
    this.#size += chunk.length
    if (this.#size < this.#maxBytes || (this.#size === this.#maxBytes && this.#isWhole())) return
    this.#answer(true)
    this.#end(new Error('Enough has been read.'))
  }

  onResponseEnd(): void {
    this.#answer(false)
  }

  onResponseError(_: Dispatcher.DispatchController, error: Error): void {
    this.#stopAlarm()
    this.#reject(error)
  }

  #isWhole(): boolean {
    return this.#headers['content-length'] === String(this.#size)
  }

  #answer(cut: boolean): void {
    this.#stopAlarm()
    const body = Buffer.concat(this.#chunks).subarray(0, this.#maxBytes)
    this.#resolve({ status: this.#status, headers: this.#headers, body, cut })
  }

  #end(reason: Error): void {
    this.#over ??= reason
    this.#connection?.abort(this.#over)
  }
}
