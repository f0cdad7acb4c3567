import type { Request, RequestHandler, Response } from 'express'
import type { Actor } from '../../kernel/contract/actor.ts'
import type { ApiCall, ApiResponse } from '../../kernel/contract/call.ts'
import { CSV_TYPE } from '../../kernel/contract/csv-file.ts'
import { isEndlessResponse } from '../../kernel/contract/file.ts'
import {
  type AnyOperation,
  csvFormOf,
  maxBodyBytes,
  type RegisteredOperation,
  readsRawBody,
  takesIdempotencyKey,
} from '../../kernel/contract/operation.ts'
import type { Systems } from '../../kernel/contract/ports.ts'
import { ClientGone, Problem } from '../../kernel/contract/problem.ts'
import { acceptsFiles } from '../../kernel/contract/upload.ts'
import { problemOf } from '../../kernel/database/retry.ts'
import type { ExecuteCall } from '../../kernel/run/execute.ts'
import { OwnerQueue, type OwnerQueueLimits } from '../../kernel/run/owner-queue.ts'
import { clientAddressKey } from '../../values/client-of.ts'
import { clock } from '../../values/clock.ts'
import { lazily } from '../../values/lazily.ts'
import { UploadSession } from '../uploads/upload-session.ts'
import type { Authenticator } from './authenticate.ts'
import { invalidRequest, parseRequestContent } from './body.ts'
import { readRequestBody } from './body-bytes.ts'
import type { BodyMemory } from './body-memory.ts'
import type { CredentialWatch } from './credential-watch.ts'
import { asBackgroundRequest, goneSignal, streamEnding } from './ending.ts'
import { parseInput } from './input.ts'
import { renderProblemPage } from './page-of-problem.ts'
import {
  type CountedClient,
  countedFor,
  type RateLimit,
  rateLimitHeaders,
  requireWithinRateLimit,
} from './rate-limit.ts'
import { type RequestHost, toRawRequest } from './raw-request.ts'
import { type FindSignedReceiver, receiveSignedRequest } from './receive-signed.ts'
import { removedAddressMessage } from './removed.ts'
import {
  type OwnUrls,
  type PageOrigins,
  readRequestCredentials,
  singleHeader,
} from './request-credentials.ts'
import {
  acceptRequestId,
  baseHeaders,
  parseIdempotencyKey,
  type ResponseHeaders,
  sendOutcome,
  sendProblem,
} from './respond.ts'
import { allowedMethods } from './routes.ts'
import type { FindNamedRun } from './run-header.ts'
import { inSpanOfRequest } from './traced.ts'

/** The log record of an answered request. It never contains headers, query or body. */
export interface RequestLogRecord {
  readonly requestId: string
  readonly method: string
  readonly operation: string | null
  readonly path: string | null
  readonly status: number
  readonly errorCode: string | null
  readonly milliseconds: number
  /** The part of it that other systems took. */
  readonly externalMilliseconds?: number | undefined
  readonly ownerId: string | null
  readonly actorId: string | null
  readonly address: string | null
}

export interface RequestPipelineParts {
  readonly execute: ExecuteCall
  readonly gate: Authenticator
  readonly credentialWatch: CredentialWatch
  readonly stopping: AbortSignal
  readonly bodies: BodyMemory
  /** Bodies with files have memory of their own, so that payments do not wait behind uploads. */
  readonly uploads: BodyMemory
  readonly systems: Pick<Systems, 'threads' | 'files' | 'viewer' | 'tracing'>
  readonly addressOf: (request: Request) => string | null
  readonly hostOf: RequestHost
  readonly pageOrigins: PageOrigins
  readonly ownUrls: OwnUrls
  /** True if this process sent the request itself. The request that caused it has already been counted. */
  readonly isOwn: (request: Request) => boolean
  readonly runNamed: FindNamedRun
  readonly rateLimit: RateLimit
  readonly receiveFor: FindSignedReceiver
  readonly onServed: (served: RequestLogRecord) => void
  readonly onFailure: (error: unknown, requestId: string) => void
}

interface Progress {
  readonly requestId: string
  readonly address: string | null
  readonly headers: ResponseHeaders
  readonly response: Response
  actor?: Actor
}

type Answer = (request: Request, progress: Progress) => Promise<ApiResponse>

export interface RequestPipeline {
  /** The order: request id → rate limit → authentication → caller and scope → body → run → parsing → handler → answer. */
  serve(registered: RegisteredOperation): RequestHandler
  /** Answers a request that no route did: there is none, it has other methods, or a middleware failed. */
  refuse(request: Request, response: Response, error: unknown): Promise<void>
}

export function requestPipeline(parts: RequestPipelineParts): RequestPipeline {
  const answering = { ...parts, parsing: parseInTurns() }
  return {
    serve(registered) {
      const answered = (request: Request, progress: Progress) =>
        answer(answering, inWantedForm(registered, request), request, progress)
      return inSpanOfRequest(parts.systems, registered.operation, serving(parts, registered, answered))
    },
    refuse(request, response, error) {
      const refused: Answer = (_, progress) => refusal(parts, request, progress, error)
      return inSpanOfRequest(parts.systems, undefined, serving(parts, undefined, refused))(request, response)
    },
  }
}

function serving(
  { addressOf, onServed, onFailure }: RequestPipelineParts,
  registered: RegisteredOperation | undefined,
  answerWith: Answer,
) {
  return async (request: Request, response: Response): Promise<void> => {
    const began = clock.ticks()
    const requestId = acceptRequestId(request.headers['x-request-id'])
    const address = addressOf(request)
    const headers = baseHeaders(requestId)
    const progress: Progress = { requestId, address, headers, response }
    let errorCode: string | undefined
    let externalMs: number | undefined
    try {
      const outcome = await answerWith(request, progress)
      errorCode = outcome.errorCode
      externalMs = outcome.externalMs
      if (response.destroyed) throw new ClientGone()
      await sendOutcome(response, headers, outcome)
    } catch (error) {
      const report = (failure: unknown) => onFailure(failure, requestId)
      errorCode = await explain(error, response, { headers, asked: request, about: registered, report })
    }
    const { actor } = progress
    onServed({
      requestId,
      method: request.method,
      operation: registered?.key ?? null,
      path: registered?.operation.path ?? null,
      status: response.statusCode,
      errorCode: errorCode ?? null,
      milliseconds: toHundredths(clock.ticks() - began),
      externalMilliseconds: externalMs === undefined ? undefined : toHundredths(externalMs),
      ownerId: actor?.tenant?.ownerId ?? null,
      actorId: actor?.id ?? null,
      address,
    })
  }
}

const FORMS = ['application/json', CSV_TYPE]

/** JSON where the client takes both alike, or neither. */
const inWantedForm = (registered: RegisteredOperation, request: Request): RegisteredOperation =>
  registered.operation.csv && request.accepts(FORMS) === CSV_TYPE
    ? { ...registered, operation: csvFormOf(registered.operation) }
    : registered

const toHundredths = (milliseconds: number): number => Math.round(milliseconds * 100) / 100

async function answer(
  parts: RequestPipelineParts & { readonly parsing: Parse },
  registered: RegisteredOperation,
  request: Request,
  progress: Progress,
): Promise<ApiResponse> {
  const { bodies, execute, gate, runNamed } = parts
  const { requestId, address, headers } = progress
  const { operation } = registered
  const client = clientAddressKey(address ?? '')
  const meter = meterFor(parts, client, headers)
  const isCounted = isMetered(operation) && !parts.isOwn(request)
  const countsLater = isCounted && operation.http?.issuesTokens === true
  if (isCounted && !countsLater) await meter.countAddress()
  requireHost(request)
  const room = (bytes: number) => bodies.reserve(request, client, bytes)
  if (isSigned(operation)) {
    const { receiveFor } = parts
    const receiving = { registered, requestId, address, room, receiveFor, countUnsigned: meter.countAddress }
    const { outcome, actor } = await receiveSignedRequest(request, receiving)
    if (actor) progress.actor = actor
    return outcome
  }
  const sent = readRequestCredentials(request, parts.pageOrigins, parts.ownUrls)
  const openEnded = isEndlessResponse(operation.returns[1])
  const presented = openEnded ? asBackgroundRequest(sent) : sent
  const admitted = gate(operation, presented)
  progress.actor = countsLater ? await meter.countAssistant(admitted) : await admitted
  if (isCounted) await meter.countCredential(progress.actor)
  const reception = acceptsFiles(operation) ? receptionFor(parts, request, client, progress) : undefined
  const isThere = request.complete
  try {
    const bytes = reception ? NO_BYTES : await readRequestBody(request, maxBodyBytes(operation), room)
    const received = await reception?.read(request, operation, progress.actor.tenant)
    // The credential may have ended while the body was being received.
    if (!isThere) progress.actor = await gate(operation, presented)
    const { actor } = progress
    const run = await runNamed(singleHeader(request.headers['x-run-id']), actor)
    const params = request.params as Record<string, string>
    const query = queryOf(request)
    const parsed = () => {
      const body = received ?? bodyOf(request, bytes, operation)
      return { body, input: { params, ...parseInput(operation, query, body) } }
    }
    const { body, input } = await parts.parsing(bytes.length, actor.tenant?.ownerId ?? client, parsed)
    const idempotencyKey = takesIdempotencyKey(operation)
      ? parseIdempotencyKey(singleHeader(request.headers['idempotency-key']))
      : null
    if (operation.http?.keyRequired && idempotencyKey === null) throw keyMissing()
    const raw = toRawRequest(operation, request, bytes, parts.hostOf)
    const ending = openEnded && streamEnding(progress.response, operation, presented, parts)
    const call: ApiCall = { operation: registered, actor, input, requestId, address, idempotencyKey }
    await reception?.stage(actor.tenant)
    const outcome = await execute({
      ...call,
      ...(idempotencyKey !== null && { sent: { query: Object.fromEntries(query), body } }),
      ...(run && { run }),
      ...(raw && { request: raw }),
      ...(request.method === 'HEAD' && { isHead: true }),
      ...(ending && { ending }),
      ...(operation.accepted && { prefersAsync: prefersAsync(request.headers) }),
      whenGone: lazily(() => goneSignal(progress.response)),
    })
    return withWayOn(operation, outcome)
  } finally {
    await reception?.end()
  }
}

/** What goes on after its answer says where, also in a repetition of that answer. */
function withWayOn({ goesOnAt }: AnyOperation, outcome: ApiResponse): ApiResponse {
  if (goesOnAt === undefined || outcome.status !== 202) return outcome
  const { id } = JSON.parse(String(outcome.body)) as { readonly id: string }
  const headers = { 'Preference-Applied': 'respond-async', Location: goesOnAt.replace('{id}', id) }
  return { ...outcome, headers: { ...outcome.headers, ...headers } }
}

/** `Prefer: respond-async`, alone or beside other preferences (RFC 7240). */
const prefersAsync = ({ prefer }: Request['headers']): boolean =>
  String(prefer ?? '')
    .split(',')
    .some(one => one.split(';')[0]?.trim().toLowerCase() === 'respond-async')

/** Counts a request for its address, and for its credential, which may be used from many addresses. */
function meterFor({ rateLimit }: RequestPipelineParts, client: string, headers: ResponseHeaders) {
  let least = Number.POSITIVE_INFINITY
  const count = async ({ name, of, shares }: CountedClient): Promise<void> => {
    const allowance = await rateLimit(name, shares)
    const left = allowance.limit - allowance.used
    // The headers tell of the limit that is nearest.
    if (left < least) Object.assign(headers, rateLimitHeaders(allowance))
    least = Math.min(left, least)
    requireWithinRateLimit(allowance, of)
  }
  const countAddress = () => count({ name: client, of: 'address' })
  return {
    countAddress,
    async countCredential(actor: Actor): Promise<void> {
      for (const counted of countedFor(actor)) await count(counted)
    },
    /** A hosted assistant sends the requests of many owners from one address, so its tokens count for their owner. */
    async countAssistant(admitted: Promise<Actor>): Promise<Actor> {
      const actor = await admitted.catch(async (refusal: unknown) => {
        await countAddress()
        throw refusal
      })
      if (actor.onlyAt === undefined) await countAddress()
      return actor
    },
  }
}

const NO_BYTES = Buffer.alloc(0)

const bodyOf = (request: Request, bytes: Buffer, operation: AnyOperation): unknown =>
  readsRawBody(operation) ? {} : parseRequestContent(request, bytes, operation)

/** A larger body takes some milliseconds to parse. */
const QUICK_BYTES = 4_096

const PARSING: OwnerQueueLimits = {
  atOnceOfOne: 1,
  atOnce: 1,
  waitingOfOne: 1_000,
  waiting: 4_000,
  waitMs: 30_000,
}

type Parse = <T>(bytes: number, whose: string, parse: () => T) => Promise<T>

/** Parses large bodies one at a time, the owners in turn, and lets other requests come in between. */
function parseInTurns(): Parse {
  const turns = new OwnerQueue(PARSING)
  return async (bytes, whose, parse) => {
    if (bytes <= QUICK_BYTES) return parse()
    const end = await turns.acquire(whose)
    try {
      return parse()
    } finally {
      end()
    }
  }
}

const receptionFor = (
  { uploads, systems, onFailure }: RequestPipelineParts,
  request: Request,
  client: string,
  { actor, requestId }: Progress,
): UploadSession =>
  new UploadSession({
    ...systems,
    room: bytes => uploads.reserve(request, client, bytes),
    turn: actor?.tenant?.ownerId ?? client,
    onFailure: error => onFailure(error, requestId),
  })

const noQuery = new URLSearchParams()

function queryOf({ url }: Request): URLSearchParams {
  const mark = url.indexOf('?')
  return mark === -1 ? noQuery : new URLSearchParams(url.slice(mark + 1))
}

const isMetered = (operation: AnyOperation): boolean => !operation.limits?.unmetered && !isSigned(operation)

const isSigned = ({ callers }: AnyOperation): boolean => callers.includes('signed')

/** RFC 9112, 3.2. Node keeps the first of several. */
function requireHost({ headersDistinct: { host }, httpVersion }: Request): void {
  if (host === undefined && httpVersion === '1.1') throw invalidRequest('Host', 'it is missing')
  if (host && host.length > 1) throw invalidRequest('Host', 'there are several. Send one')
}

/** The router could not decode a parameter. A middleware's own error has no status. */
const isUndecodable = (error: unknown): boolean =>
  error instanceof URIError && 'status' in error && error.status === 400

async function refusal(
  parts: RequestPipelineParts,
  request: Request,
  { address, headers, response }: Progress,
  error: unknown,
): Promise<never> {
  if (!parts.isOwn(request)) await meterFor(parts, clientAddressKey(address ?? ''), headers).countAddress()
  requireHost(request)
  if (error && !isUndecodable(error)) throw error
  const allow = error ? [] : allowedMethods(response)
  if (allow.length === 0) throw new Problem('not_found', removedAddressMessage(request.url))
  throw new Problem('method_not_allowed', undefined, { Allow: allow.join(', ') })
}

const keyMissing = (): Problem =>
  new Problem(
    'invalid_request',
    'Idempotency-Key: this operation requires one. Send a new value for each payment, and the same one when you repeat it.',
  )

interface Failed {
  readonly headers: ResponseHeaders
  readonly asked: Request
  readonly about: RegisteredOperation | undefined
  readonly report: (error: unknown) => void
}

/** Only in log and metrics, as nginx has it: a status of the client, which reads no answer. */
const CLIENT_GONE = 499

function clientGone(response: Response): string {
  response.statusCode = CLIENT_GONE
  response.destroy()
  return 'client_gone'
}

/** Answers with the error, unless the answer has begun. In that case, the connection has been cut. */
async function explain(error: unknown, response: Response, failed: Failed): Promise<string> {
  const { headers, asked, about, report } = failed
  if (error instanceof ClientGone) return clientGone(response)
  if (response.headersSent) {
    report(error)
    return 'cut_short'
  }
  const problem = problemOf(error, report)
  if (response.destroyed) return clientGone(response)
  // The browser’s address: the router takes `/v1` away.
  const { originalUrl: url, headers: given } = asked
  const request = { url, headers: given, requestId: String(headers['X-Request-Id']) }
  const page = renderProblemPage(problem, about?.operation, request)
  await (page ? sendOutcome(response, headers, page) : sendProblem(response, headers, problem))
  return problem.code
}
