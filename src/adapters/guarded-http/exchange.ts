import type { Dispatcher } from 'undici'
import type { OutboundRequest } from '../../ports/outbound.ts'
import { memoizeBounded } from '../../values/bounded-cache.ts'
import { clock } from '../../values/clock.ts'
import { RefusedConnection } from './lookup.ts'
import type { HttpTarget } from './urls.ts'

export interface HttpAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly headerLists: Readonly<Record<string, readonly string[]>>
  readonly body: Uint8Array
  readonly cut: boolean
}

export class RequestTimeout extends Error {
  constructor({ timeoutMs }: OutboundRequest) {
    super(`There was no complete answer within ${timeoutMs / 1000} s.`)
  }
}

/** Bounded in time and size. Streams would add a third to the time. */
export function sendHttpRequest(
  agent: Dispatcher,
  target: HttpTarget,
  request: OutboundRequest,
): Promise<HttpAnswer> {
  return new Promise((resolve, reject) => {
    const { method, body = null } = request
    const { origin, path } = target
    const headers = { ...headersOf(request.headers ?? {}), ...target.headers }
    const reader = new Reader(request, resolve, reject)
    agent.dispatch({ origin, path, method, headers, body: body as string | Buffer }, reader)
  })
}

class Reader implements Dispatcher.DispatchHandler {
  readonly #maxBytes: number
  readonly #resolve: (answer: HttpAnswer) => void
  readonly #reject: (error: unknown) => void
  readonly #stopAlarm: () => void
  readonly #chunks: Uint8Array[] = []
  #connection: Dispatcher.DispatchController | undefined
  #over: Error | undefined
  #status = 0
  #headers: Readonly<Record<string, string>> = {}
  #headerLists: Readonly<Record<string, readonly string[]>> = {}
  #size = 0

  constructor(
    request: OutboundRequest,
    resolve: (answer: HttpAnswer) => void,
    reject: (error: unknown) => void,
  ) {
    this.#maxBytes = request.maxBytes
    this.#resolve = resolve
    this.#reject = reject
    this.#stopAlarm = clock.alarm(request.timeoutMs, () => {
      const late = new RequestTimeout(request)
      reject(late)
      this.#end(late)
    })
  }

  /** The time limit may have passed while the request waited for a connection. */
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
    this.#headerLists = listsOf(headers)
    this.#headers = joined(this.#headerLists)
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
    const [status, headers, headerLists] = [this.#status, this.#headers, this.#headerLists]
    this.#resolve({ status, headers, headerLists, body, cut })
  }

  #end(reason: Error): void {
    this.#over ??= reason
    this.#connection?.abort(this.#over)
  }
}

const RESERVED_HEADERS =
  /^(host|connection|content-length|transfer-encoding|keep-alive|upgrade|expect|te|trailer|proxy-.*)$/i

const NAME = /^[\w!#$%&'*+.^`|~-]+$/

/** A tab and the visible characters of ASCII: nothing that could end a line. */
const VALUE = /^[\t\x20-\x7e]*$/

/** Cached, as few names are in use. Undefined for a forbidden name. */
const freeName = memoizeBounded(name =>
  NAME.test(name) && !RESERVED_HEADERS.test(name) ? name.toLowerCase() : undefined,
)

/** Each header once. Asks for an uncompressed answer: a compressed one can grow without bound. */
function headersOf(headers: Readonly<Record<string, string>>): Record<string, string> {
  const sent: Record<string, string> = { 'accept-encoding': 'identity' }
  let isNamed = false
  for (const [name, value] of Object.entries(headers)) {
    const known = freeName(name)
    if (known === undefined || !VALUE.test(value)) throw refused(name)
    isNamed ||= known === 'user-agent'
    if (known !== 'accept-encoding') sent[name] = value
  }
  if (!isNamed) sent['user-agent'] = 'agent-payments'
  return sent
}

/** Refuses names and values that could smuggle another request (header injection). */
const refused = (name: string) =>
  new RefusedConnection({
    rule: 'header',
    message: `The header ${JSON.stringify(name)} is refused: its name is reserved, or its value is not plain text.`,
  })

const listsOf = (headers: Record<string, string | string[] | undefined>): Record<string, string[]> =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value = '']) => [name.toLowerCase(), [value].flat()]),
  )

const joined = (lists: Readonly<Record<string, readonly string[]>>): Record<string, string> =>
  Object.fromEntries(Object.entries(lists).map(([name, values]) => [name, values.join(', ')]))
