import type { Agent } from 'undici'
import type { Outbound, OutboundAnswer, OutboundRequest } from '../../ports/outbound.ts'
import { boundedCache } from '../../values/bounded-cache.ts'
import { clock } from '../../values/clock.ts'
import { addressJudge } from './addresses.ts'
import { type Answer, exchange, TooLate } from './exchange.ts'
import { failureOf } from './failures.ts'
import { guardedLookup, RefusedConnection, type Resolver, systemResolver } from './lookup.ts'
import { type OwnListener, ownTarget } from './own-listener.ts'
import { underWay } from './under-way.ts'
import { isRefused, type Target, urlJudge } from './urls.ts'
import { wasUnheard } from './used-connections.ts'

interface Options {
  /** Blocks of non-public addresses that are allowed. */
  readonly allow?: readonly string[]
  readonly resolver?: Resolver
  /** Trusted certificate authorities, in place of the system's. */
  readonly ca?: string
  /** The listener of this process, once it listens. */
  readonly ownListener?: () => OwnListener | undefined
}

/**
 * The guard. Every new connection is judged by the address it goes to; one that is kept open is used again, for it
 * still leads where it was judged. Redirects are not followed, and no proxy of the environment is asked.
 */
export function guardedHttp({
  allow = [],
  resolver = systemResolver(),
  ca,
  ownListener = () => undefined,
}: Options = {}): Outbound {
  const judgePublic = boundedCache(urlJudge([]))
  const judgeOthers = boundedCache(urlJudge(allow))
  const judgeUrl = (url: string, ofOwn = false) =>
    (ofOwn ? ownTarget(url, ownListener()) : undefined) ?? judgeOthers(url)
  const limited = underWay()
  const lookup = guardedLookup(resolver, addressJudge(allow))
  let agents: Promise<Agents> | undefined
  return {
    judge(url, { ownListener } = {}) {
      const judged = judgeUrl(url, ownListener)
      return isRefused(judged) ? judged : undefined
    },
    isOpened: url => !isRefused(judgeUrl(url, true)) && isRefused(judgePublic(url)),
    async send(request) {
      const target = judgeUrl(request.url, request.ownListener)
      if (isRefused(target)) return { kind: 'refused', ...target }
      agents ??= agentsOf(lookup, ca)
      const ask = answerTo.bind(null, agents, target, request)
      if (request.atOnce === undefined) return ask()
      return (await limited.within(target.origin, request.atOnce, ask)) ?? BUSY
    },
  }
}

const BUSY: OutboundAnswer = {
  kind: 'busy',
  message: 'Too many requests to this host are still without an answer. Nothing was sent; try again.',
}

/** Whether connections are kept open for the next request. */
type Agents = Readonly<Record<'keeping' | 'fresh', Agent>>

/** Loaded with the first request, to keep the start short. */
async function agentsOf(lookup: ReturnType<typeof guardedLookup>, ca: string | undefined): Promise<Agents> {
  const { Agent } = await import('undici')
  const options: Agent.Options = {
    allowH2: false,
    // As many as are ever under way: to wait for a connection costs time that a receiver has for its answer, and one
    // origin may be that of many owners.
    connections: 256,
    // The lookup gives all addresses, so undici may try them one after another.
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: 1_000,
    keepAliveTimeout: 4_000,
    keepAliveMaxTimeout: 10_000,
    maxHeaderSize: 16_384,
    // One time limit covers the whole request.
    headersTimeout: 0,
    bodyTimeout: 0,
    connect: { lookup, timeout: 5_000, rejectUnauthorized: true, ...(ca === undefined ? {} : { ca }) },
  }
  return {
    keeping: new Agent({ ...options, pipelining: 1 }),
    fresh: new Agent({ ...options, pipelining: 0 }),
  }
}

async function answerTo(
  agents: Promise<Agents>,
  target: Target,
  request: OutboundRequest,
): Promise<OutboundAnswer> {
  const began = clock.ticks()
  const latencyMs = () => Math.round(clock.ticks() - began)
  try {
    const answer = await ask(await agents, target, request)
    return { kind: 'answered', ...answer, latencyMs: latencyMs() }
  } catch (error) {
    if (error instanceof RefusedConnection) return { kind: 'refused', ...error.refused }
    const timedOut = error instanceof TooLate
    const message = timedOut ? error.message : failureOf(error)
    return { kind: 'failed', message, timedOut, latencyMs: latencyMs() }
  }
}

/**
 * Sends once, and again where the receiver cannot have seen the first attempt and `again` allows it, within one limit.
 */
async function ask({ keeping, fresh }: Agents, target: Target, request: OutboundRequest): Promise<Answer> {
  const began = clock.ticks()
  try {
    return await exchange(keeping, target, request)
  } catch (error) {
    if (!request.again || !wasUnheard(error)) throw error
    const secondsLeft = Math.ceil((request.timeoutMs - (clock.ticks() - began)) / 1_000)
    const timeoutMs = secondsLeft * 1_000
    return await exchange(fresh, target, { ...request, headers: request.again(), timeoutMs })
  }
}
