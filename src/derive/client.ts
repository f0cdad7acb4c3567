export {
  type ApprovalProof,
  ApprovalRejected,
  type ProvenApproval,
  verifyApproval,
} from './verify-approval.ts'
export {
  type AuditGrowth,
  type AuditProof,
  AuditRejected,
  type VerifiedAudit,
  verifyAudit,
  verifyAuditGrowth,
  verifyAuditProof,
} from './verify-audit.ts'
export { SignatureRejected, UnknownSigningKey, verifySigned } from './verify-signed.ts'
export { verifyWebhook, type WebhookMessage, WebhookRejected } from './verify-webhook.ts'

import type { PathParameterName } from '../kernel/contract/addresses.ts'
import type { Area, Areas } from '../kernel/contract/area.ts'
import type { AnyOperation, Operation } from '../kernel/contract/operation.ts'
import type { JsonOf } from '../values/json-names.ts'
import { serverSentEvents } from '../values/server-sent-events.ts'
import {
  buildApiRequest,
  type CallAnswer,
  type CallCredentials,
  type CallInput,
  parseCallAnswer,
} from './call.ts'
import { formDataFromBody } from './form.ts'

export type { CallAnswer }

type Members<P extends string, Q, B> = ([PathParameterName<P>] extends [never]
  ? { params?: never }
  : { params: Record<PathParameterName<P>, string> }) &
  (Record<never, never> extends Q ? { query?: Q } : { query: Q }) &
  (Record<never, never> extends B ? { body?: B } : { body: B })

interface Extras {
  readonly idempotencyKey?: string
  readonly headers?: Readonly<Record<string, string>>
}

type Arguments<T> = Record<never, never> extends T ? [input?: T & Extras] : [input: T & Extras]

type CallOf<O> =
  O extends Operation<infer P, infer Q, infer B, infer R, infer _F, infer _E, infer _K>
    ? (...input: Arguments<Members<P, JsonOf<Q>, JsonOf<B>>>) => Promise<CallAnswer<JsonOf<R>>>
    : never

/** Every operation with the types of its contract: `client.policies.create({ body: { name: 'Books' } })`. */
export type Client<A extends Areas> = {
  readonly [Noun in keyof A]: A[Noun] extends Area<infer Operations>
    ? { readonly [Verb in keyof Operations]: CallOf<Operations[Verb]> }
    : never
}

export type ClientOptions = CallCredentials

export function client<A extends Areas>(areas: A, options: ClientOptions): Client<A> {
  const nouns = Object.entries(areas).map(([noun, { api }]) => [
    noun,
    Object.fromEntries(
      Object.entries(api).map(([verb, operation]) => [
        verb,
        (input?: CallInput) => call(options, operation, input ?? {}),
      ]),
    ),
  ])
  return Object.fromEntries(nouns) as Client<A>
}

async function call(
  options: ClientOptions,
  operation: AnyOperation,
  input: CallInput,
): Promise<CallAnswer<unknown>> {
  const { body, ...others } = input
  const form = formDataFromBody(body)
  const { url, ...request } = buildApiRequest(options, operation, form ? others : input)
  const response = await fetch(url, form ? { ...request, body: form } : request)
  const { status, headers } = response
  if (!headers.get('content-type')?.match(STREAM_TYPE))
    return parseCallAnswer(status, headers, await response.text())
  return { ...parseCallAnswer(status, headers, ''), body: recordsOf(response) }
}

const STREAM_TYPE = /^text\/event-stream/

async function* recordsOf({ body }: Response): AsyncGenerator<unknown> {
  if (body) for await (const { data } of serverSentEvents(body)) yield JSON.parse(data)
}
