import type { Request, Response } from 'express'
import type { Actor } from '../../kernel/contract/actor.ts'
import type { Call, Outcome } from '../../kernel/contract/call.ts'
import { isEndless } from '../../kernel/contract/file.ts'
import {
  type AnyOperation,
  bodyLimitOf,
  type Registered,
  readsBytes,
  takesKey,
} from '../../kernel/contract/operation.ts'
import type { Ports } from '../../kernel/contract/ports.ts'
import { Problem } from '../../kernel/contract/problem.ts'
import { takesFiles } from '../../kernel/contract/upload.ts'
import { asProblem } from '../../kernel/database/retry.ts'
import type { Execute } from '../../kernel/run/execute.ts'
import { clientOf } from '../../values/client-of.ts'
import { clock } from '../../values/clock.ts'
import { UploadSession } from '../uploads/upload-session.ts'
import type { Gate } from './authenticate.ts'
import { contentOf, invalid } from './body.ts'
import { type ReserveMemory, readBytes } from './body-bytes.ts'
import type { BodyMemory } from './body-memory.ts'
import type { CredentialWatch } from './credential-watch.ts'
import { endingOf, inBackground } from './ending.ts'
import { inputOf } from './input.ts'
import { pageOfProblem } from './page-of-problem.ts'
import { check, headersOf, type RateLimit } from './rate-limit.ts'
import { type HostOf, rawRequestOf } from './raw-request.ts'
import { type ReceiveFor, receiveSigned } from './receive-signed.ts'
import { type OwnUrls, type PageOrigins, presentedBy, single } from './request-credentials.ts'
import { baseHeaders, type Headers, keyOf, requestIdOf, send, sendProblem } from './respond.ts'
import type { Found } from './routes.ts'
import type { RunNamed } from './run-header.ts'

/** The log record of an answered request. It never contains headers, query or body. */
export interface Served {
  readonly requestId: string
  readonly method: string
  readonly operation: string | null
  readonly path: string | null
  readonly status: number
  readonly errorCode: string | null
  readonly milliseconds: number
  readonly ownerId: string | null
  readonly actorId: string | null
  readonly address: string | null
}

export interface Pipeline {
  readonly execute: Execute
  readonly find: (method: string, path: string) => Found
  readonly gate: Gate
  readonly credentialWatch: CredentialWatch
  readonly stopping: AbortSignal
  readonly bodies: BodyMemory
  /** Bodies with files have memory of their own, so that payments do not wait behind uploads. */
  readonly uploads: BodyMemory
  readonly ports: Pick<Ports, 'threads' | 'files' | 'viewer'>
  readonly addressOf: (request: Request) => string | null
  readonly hostOf: HostOf
  readonly pageOrigins: PageOrigins
  readonly ownUrls: OwnUrls
  /** True if this process sent the request itself. The request that caused it has already been counted. */
  readonly isOwn: (request: Request) => boolean
  readonly runNamed: RunNamed
  readonly rateLimit: RateLimit
  readonly receiveFor: ReceiveFor
  readonly onServed: (served: Served) => void
  readonly onFailure: (error: unknown, requestId: string) => void
}

interface Progress {
  readonly requestId: string
  readonly address: string | null
  readonly headers: Headers
  readonly response: Response
  registered?: Registered
  actor?: Actor
}

/** The order: request id → rate limit → authentication → caller and scope → body → run → parsing → handler → answer. */
export function pipeline(parts: Pipeline) {
  return async (request: Request, response: Response): Promise<void> => {
    const began = clock.ticks()
    const requestId = requestIdOf(request.headers['x-request-id'])
    const address = parts.addressOf(request)
    const headers = baseHeaders(requestId)
    const progress: Progress = { requestId, address, headers, response }
    let errorCode: string | undefined
    try {
      const outcome = await answer(parts, request, progress)
      errorCode = outcome.errorCode
      await send(response, headers, outcome)
    } catch (error) {
      const report = (failure: unknown) => parts.onFailure(failure, requestId)
      errorCode = await explain(error, response, {
        headers,
        asked: request,
        about: progress.registered,
        report,
      })
    }
    const { registered, actor } = progress
    parts.onServed({
      requestId,
      method: request.method,
      operation: registered?.key ?? null,
      path: registered?.operation.path ?? null,
      status: response.statusCode,
      errorCode: errorCode ?? null,
      milliseconds: Math.round((clock.ticks() - began) * 100) / 100,
      ownerId: actor?.tenant?.ownerId ?? null,
      actorId: actor?.id ?? null,
      address,
    })
  }
}

async function answer(parts: Pipeline, request: Request, progress: Progress): Promise<Outcome> {
  const { bodies, execute, find, gate, runNamed, rateLimit } = parts
  const { requestId, address, headers } = progress
  const [path, query] = splitTarget(request.url)
  const found = find(request.method, path)
  if (found && 'registered' in found) progress.registered = found.registered
  const client = clientOf(address ?? '')
  const count = async (): Promise<void> => {
    const allowance = await rateLimit(client)
    Object.assign(headers, headersOf(allowance))
    check(allowance)
  }
  if (isMetered(found) && !parts.isOwn(request)) await count()
  if (request.headers.host === undefined && request.httpVersion === '1.1')
    throw invalid('Host', 'it is missing')
  const { registered, params } = routeOf(found)
  const { operation } = registered
  const room = (bytes: number) => bodies.reserve(request, client, bytes)
  if (isSigned(registered)) {
    const { receiveFor } = parts
    const receiving = { registered, requestId, address, room, receiveFor, countUnsigned: count }
    const { outcome, actor } = await receiveSigned(request, receiving)
    if (actor) progress.actor = actor
    return outcome
  }
  const sent = presentedBy(request, parts.pageOrigins, parts.ownUrls)
  const openEnded = isEndless(operation.returns[1])
  const presented = openEnded ? inBackground(sent) : sent
  progress.actor = await gate(operation, presented)
  const reception = takesFiles(operation) ? receptionFor(parts, request, client, progress) : undefined
  const isThere = request.complete
  try {
    const { bytes, body } = reception
      ? { bytes: NO_BYTES, body: await reception.read(request, operation, progress.actor.tenant) }
      : await wholeBody(request, operation, room)
    // The credential may have ended while the body was being received.
    if (!isThere) progress.actor = await gate(operation, presented)
    const { actor } = progress
    const run = await runNamed(single(request.headers['x-run-id']), actor)
    const input = { params, ...inputOf(operation, query, body) }
    const idempotencyKey = takesKey(operation) ? keyOf(single(request.headers['idempotency-key'])) : null
    if (operation.http?.keyRequired && idempotencyKey === null) throw keyMissing()
    const raw = rawRequestOf(operation, request, bytes, parts.hostOf)
    const ending = openEnded && endingOf(progress.response, operation, presented, parts)
    const call: Call = { operation: registered, actor, input, requestId, address, idempotencyKey }
    await reception?.stage(actor.tenant)
    return await execute({
      ...call,
      ...(run && { run }),
      ...(raw && { request: raw }),
      ...(request.method === 'HEAD' && { isHead: true }),
      ...(ending && { ending }),
    })
  } finally {
    await reception?.end()
  }
}

const NO_BYTES = Buffer.alloc(0)

async function wholeBody(request: Request, operation: AnyOperation, room: ReserveMemory) {
  const bytes = await readBytes(request, bodyLimitOf(operation), room)
  return { bytes, body: readsBytes(operation) ? {} : contentOf(request, bytes, operation) }
}

const receptionFor = (
  { uploads, ports, onFailure }: Pipeline,
  request: Request,
  client: string,
  { actor, requestId }: Progress,
): UploadSession =>
  new UploadSession({
    ...ports,
    room: bytes => uploads.reserve(request, client, bytes),
    turn: actor?.tenant?.ownerId ?? client,
    onFailure: error => onFailure(error, requestId),
  })

const noQuery = new URLSearchParams()

function splitTarget(url: string): [path: string, query: URLSearchParams] {
  const mark = url.indexOf('?')
  return mark === -1 ? [url, noQuery] : [url.slice(0, mark), new URLSearchParams(url.slice(mark + 1))]
}

const isMetered = (found: Found): boolean =>
  !(
    found &&
    'registered' in found &&
    (found.registered.operation.limits?.unmetered || isSigned(found.registered))
  )

const isSigned = ({ operation }: Registered): boolean => operation.callers.includes('signed')

function routeOf(found: Found) {
  if (!found) throw new Problem('not_found')
  if ('allow' in found) throw new Problem('method_not_allowed', undefined, { Allow: found.allow.join(', ') })
  return found
}

const keyMissing = (): Problem =>
  new Problem(
    'invalid_request',
    'Idempotency-Key: this operation needs one. Send a new value for each payment, and the same one when you repeat.',
  )

interface Failed {
  readonly headers: Headers
  readonly asked: Request
  readonly about: Registered | undefined
  readonly report: (error: unknown) => void
}

/** Answers with the error, unless the answer has begun. In that case, the connection has been cut. */
async function explain(error: unknown, response: Response, failed: Failed): Promise<string> {
  const { headers, asked, about, report } = failed
  if (response.headersSent) {
    report(error)
    return 'cut_short'
  }
  const problem = asAnswer(error, report)
  const { url, headers: given } = asked
  const request = { url, headers: given, requestId: String(headers['X-Request-Id']) }
  const page = pageOfProblem(problem, about?.operation, request)
  await (page ? send(response, headers, page) : sendProblem(response, headers, problem))
  return problem.code
}

/**
 * A lost database is a 503 at any point of the request. Any other error that is not a Problem is a defect:
 * the log gets it, and the caller gets a plain 500.
 */
function asAnswer(error: unknown, report: (error: unknown) => void): Problem {
  const problem = asProblem(error)
  if (problem instanceof Problem) return problem
  report(error)
  return new Problem('internal')
}
