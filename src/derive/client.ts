export {
  type ApprovalProof,
  ApprovalRejected,
  type ProvenApproval,
  verifyApproval,
} from './verify-approval.ts'
export { SignatureRejected, UnknownSigningKey, verifySigned } from './verify-signed.ts'
export { verifyWebhook, type WebhookMessage, WebhookRejected } from './verify-webhook.ts'

import type { z } from 'zod'
import type { Area, Areas } from '../kernel/contract/area.ts'
import type { AnyOperation, Operation, PathParam } from '../kernel/contract/operation.ts'
import { serverSentEvents } from '../values/server-sent-events.ts'

export interface Answer<T> {
  readonly status: number
  readonly headers: Headers
  /**
   * The result; for a status of 400 and above, `{ error }`. A stream is read with `for await`, and leaving the loop hangs up.
   */
  readonly body: T
  readonly error: string | undefined
  readonly code: string | undefined
}

type Members<P extends string, Q, B> = ([PathParam<P>] extends [never]
  ? { params?: never }
  : { params: Record<PathParam<P>, string> }) &
  (Record<never, never> extends Q ? { query?: Q } : { query: Q }) &
  (Record<never, never> extends B ? { body?: B } : { body: B })

interface Extras {
  readonly idempotencyKey?: string
  readonly headers?: Readonly<Record<string, string>>
}

type Arguments<T> = Record<never, never> extends T ? [input?: T & Extras] : [input: T & Extras]

type CallOf<O> =
  O extends Operation<infer P, infer Q, infer B, infer R, infer _F, infer _E, infer _K>
    ? (...input: Arguments<Members<P, z.input<Q>, z.input<B>>>) => Promise<Answer<z.input<R>>>
    : never

/** `client.policies.create({ body: { name: 'Books' } })`: every operation, with the types of its contract. */
export type Client<A extends Areas> = {
  readonly [Noun in keyof A]: A[Noun] extends Area<infer Operations>
    ? { readonly [Verb in keyof Operations]: CallOf<Operations[Verb]> }
    : never
}

export interface ClientOptions {
  readonly url: string
  /** A key or an agent's token. */
  readonly token?: string
  readonly dashboardSecret?: string
  /** Sent with each request. A page of the service needs none: the browser sends the cookie of the session by itself. */
  readonly headers?: Readonly<Record<string, string>>
}

interface Input extends Extras {
  readonly params?: Readonly<Record<string, string>>
  readonly query?: Readonly<Record<string, unknown>>
  readonly body?: unknown
}

export function client<A extends Areas>(areas: A, options: ClientOptions): Client<A> {
  const nouns = Object.entries(areas).map(([noun, { api }]) => [
    noun,
    Object.fromEntries(
      Object.entries(api).map(([verb, operation]) => [
        verb,
        (input?: Input) => call(options, operation, input ?? {}),
      ]),
    ),
  ])
  return Object.fromEntries(nouns) as Client<A>
}

async function call(options: ClientOptions, operation: AnyOperation, input: Input): Promise<Answer<unknown>> {
  const response = await fetch(addressOf(options.url, operation.path, input), {
    method: operation.method,
    headers: headersOf(options, input),
    ...(input.body === undefined ? {} : { body: JSON.stringify(input.body) }),
  })
  const body = await contentOf(response)
  const error = response.ok ? undefined : (body as { error?: string } | undefined)?.error
  const code = response.headers.get('x-error-code') ?? undefined
  return { status: response.status, headers: response.headers, body, error, code }
}

/** `.` and `..` would lead to another address, however they are written. */
function segmentOf(value: string): string {
  if (/^\.{0,2}$/.test(value)) throw new TypeError(`'${value}' names nothing`)
  return encodeURIComponent(value)
}

function addressOf(base: string, path: string, { params = {}, query = {} }: Input): URL {
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => segmentOf(params[name] ?? ''))
  const url = new URL(filled, base)
  for (const [name, value] of Object.entries(query))
    if (value !== undefined) url.searchParams.set(name, String(value))
  return url
}

function headersOf(
  { token, dashboardSecret, headers: own }: ClientOptions,
  { body, idempotencyKey, headers }: Input,
) {
  return {
    ...(token ? { authorization: `Bearer ${token}` } : {}),
    ...(dashboardSecret ? { 'x-dashboard-secret': dashboardSecret } : {}),
    ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    ...(idempotencyKey ? { 'idempotency-key': idempotencyKey } : {}),
    ...own,
    ...headers,
  }
}

const STREAM_TYPE = /^text\/event-stream/

/** The records of a stream, one after the other, until it ends or the reader has enough. */
async function* recordsOf({ body }: Response): AsyncGenerator<unknown> {
  if (body) for await (const { data } of serverSentEvents(body)) yield JSON.parse(data)
}

const JSON_TYPE = /^application\/(problem\+)?json/

async function contentOf(response: Response): Promise<unknown> {
  if (response.headers.get('content-type')?.match(STREAM_TYPE)) return recordsOf(response)
  const text = await response.text()
  if (text === '') return undefined
  return response.headers.get('content-type')?.match(JSON_TYPE) ? JSON.parse(text) : text
}
