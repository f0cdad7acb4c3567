import type { Agent, Dispatcher } from 'undici'
import { clock } from '../../kernel/clock.ts'
import type { Outbound, OutboundAnswer, OutboundRequest } from '../../kernel/outbound.ts'
import { addressJudge } from './addresses.ts'
import { failureOf } from './failures.ts'
import { flat, headersOf } from './headers.ts'
import { guardedLookup, RefusedConnection, type Resolver, systemResolver } from './lookup.ts'
import { isRefused, type Target, urlJudge } from './urls.ts'
import { wasUnheard } from './used-connections.ts'

interface Options {
  /** Blocks that are allowed though they are not public. */
  readonly allow?: readonly string[]
  readonly resolver?: Resolver
  /** Certificates of authorities that are believed, in place of the system's. */
  readonly ca?: string
}

/**
 * The guard. Every new connection is judged by the address it goes to; one that is kept open is used again, for it
 * still leads where it was judged. Redirects are not followed, and no proxy of the environment is asked.
 */
export function guardedHttp({ allow = [], resolver = systemResolver(), ca }: Options = {}): Outbound {
  const judgeUrl = urlJudge(allow)
  const lookup = guardedLookup(resolver, addressJudge(allow))
  let agents: Promise<Agents> | undefined
  return {
    judge(url) {
      const judged = judgeUrl(url)
      return isRefused(judged) ? judged : undefined
    },
    async send(request) {
      const target = judgeUrl(request.url)
      if (isRefused(target)) return { kind: 'refused', ...target }
      agents ??= agentsOf(lookup, ca)
      return exchange(agents, target, request)
    },
  }
}

/** Whether connections are kept open for the next request, or made for one alone. */
type Agents = Readonly<Record<'keeping' | 'fresh', Agent>>

/** Loaded with the first request: a start has no time for it. */
async function agentsOf(lookup: ReturnType<typeof guardedLookup>, ca: string | undefined): Promise<Agents> {
  const { Agent } = await import('undici')
  const options: Agent.Options = {
    allowH2: false,
    // So many at once to one origin; the rest waits, within its own time limit.
    connections: 32,
    // The lookup answers with all addresses at once, whatever the process was started with.
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: 1_000,
    keepAliveTimeout: 4_000,
    keepAliveMaxTimeout: 10_000,
    maxHeaderSize: 16_384,
    // Each request has one limit for all of it.
    headersTimeout: 0,
    bodyTimeout: 0,
    connect: { lookup, timeout: 5_000, rejectUnauthorized: true, ...(ca === undefined ? {} : { ca }) },
  }
  return {
    keeping: new Agent({ ...options, pipelining: 1 }),
    fresh: new Agent({ ...options, pipelining: 0 }),
  }
}

async function exchange(
  agents: Promise<Agents>,
  target: Target,
  request: OutboundRequest,
): Promise<OutboundAnswer> {
  const began = clock.ticks()
  // AbortSignal.timeout would live on for its whole time after a quick answer.
  const patience = new AbortController()
  const { signal } = patience
  const stopAlarm = clock.alarm(request.timeoutMs, () => patience.abort())
  const latencyMs = () => Math.round(clock.ticks() - began)
  try {
    const answer = await ask(await agents, target, request, signal)
    const { body, cut } = await read(answer, request.maxBytes)
    const { statusCode: status, headers } = answer
    return { kind: 'answered', status, headers: flat(headers), body, cut, latencyMs: latencyMs() }
  } catch (error) {
    if (error instanceof RefusedConnection) return { kind: 'refused', ...error.refused }
    if (signal.aborted)
      return { kind: 'failed', message: late(request), timedOut: true, latencyMs: latencyMs() }
    return { kind: 'failed', message: failureOf(error), timedOut: false, latencyMs: latencyMs() }
  } finally {
    stopAlarm()
  }
}

/** Twice at the most: a request that went unheard goes out once more, where it may. */
async function ask(
  { keeping, fresh }: Agents,
  target: Target,
  request: OutboundRequest,
  signal: AbortSignal,
) {
  const { method, body = null, headers = {}, again } = request
  try {
    return await keeping.request({ ...target, method, headers: headersOf(headers), body, signal })
  } catch (error) {
    if (!again || !wasUnheard(error)) throw error
    return await fresh.request({ ...target, method, headers: headersOf(again()), body, signal })
  }
}

const late = ({ timeoutMs }: OutboundRequest) => `There was no whole answer within ${timeoutMs / 1000} s.`

/** Leaving the loop early ends the connection: whatever is still on its way is thrown away. */
async function read({ body, headers }: Dispatcher.ResponseData, maxBytes: number) {
  const chunks: Uint8Array[] = []
  const isWhole = (size: number) => headers['content-length'] === String(size)
  let size = 0
  for await (const chunk of body as AsyncIterable<Buffer>) {
    chunks.push(chunk)
    size += chunk.length
    if (size > maxBytes || (size === maxBytes && !isWhole(size)))
      return { body: Buffer.concat(chunks).subarray(0, maxBytes), cut: true }
  }
  return { body: Buffer.concat(chunks), cut: false }
}
