import type { Agent } from 'undici'
import { clock } from '../../kernel/clock.ts'
import type { Outbound, OutboundAnswer, OutboundRequest } from '../../kernel/outbound.ts'
import { remembered } from '../../kernel/remembered.ts'
import { addressJudge } from './addresses.ts'
import { exchange, TooLate } from './exchange.ts'
import { failureOf } from './failures.ts'
import { judgeHeaders } from './headers.ts'
import { guardedLookup, RefusedConnection, type Resolver, systemResolver } from './lookup.ts'
import { isRefused, type Target, urlJudge } from './urls.ts'

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
  const judgeUrl = remembered(urlJudge(allow))
  const lookup = guardedLookup(resolver, addressJudge(allow))
  let agent: Promise<Agent> | undefined
  return {
    judge(url) {
      const judged = judgeUrl(url)
      return isRefused(judged) ? judged : undefined
    },
    async send(request) {
      const target = judgeUrl(request.url)
      if (isRefused(target)) return { kind: 'refused', ...target }
      const refused = judgeHeaders(request)
      if (refused) return { kind: 'refused', ...refused }
      agent ??= agentOf(lookup, ca)
      return answerTo(agent, target, request)
    },
  }
}

/** Loaded with the first request: a start has no time for it. */
async function agentOf(lookup: ReturnType<typeof guardedLookup>, ca: string | undefined): Promise<Agent> {
  const { Agent } = await import('undici')
  return new Agent({
    allowH2: false,
    // As many as are ever under way: to wait for a connection costs time that a receiver has for its answer, and one
    // origin may be that of many owners.
    connections: 256,
    pipelining: 1,
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
  })
}

async function answerTo(
  agent: Promise<Agent>,
  target: Target,
  request: OutboundRequest,
): Promise<OutboundAnswer> {
  const began = clock.ticks()
  const latencyMs = () => Math.round(clock.ticks() - began)
  try {
    const answer = await exchange(await agent, target, request)
    return { kind: 'answered', ...answer, latencyMs: latencyMs() }
  } catch (error) {
    if (error instanceof RefusedConnection) return { kind: 'refused', ...error.refused }
    const timedOut = error instanceof TooLate
    const message = timedOut ? error.message : failureOf(error)
    return { kind: 'failed', message, timedOut, latencyMs: latencyMs() }
  }
}
