import { subscribe } from 'node:diagnostics_channel'
import type { Agent } from 'undici'
import type { OutboundAnswer, OutboundHttp, OutboundRequest, OwnerConcurrency } from '../../ports/outbound.ts'
import { memoizeBounded } from '../../values/bounded-cache.ts'
import { clock } from '../../values/clock.ts'
import { addressChecker } from './addresses.ts'
import { type HttpAnswer, RequestTimeout, sendHttpRequest } from './exchange.ts'
import { type DnsResolver, guardedDnsLookup, RefusedConnection, systemDnsResolver } from './lookup.ts'
import { type HttpTarget, isRefusedAddress, type OwnListener, ownListenerTarget, urlChecker } from './urls.ts'

interface Options {
  readonly allow?: readonly string[]
  readonly resolver?: DnsResolver
  readonly ca?: string
  readonly ownListener?: () => OwnListener | undefined
}

/**
 * The HTTP client that cannot reach internal addresses. The address of every new connection is checked; a
 * kept connection is reused, since it leads to the checked address. Redirects are not followed, and proxies
 * of the environment are ignored.
 */
export function guardedHttp({
  allow = [],
  resolver = systemDnsResolver(),
  ca,
  ownListener = () => undefined,
}: Options = {}): OutboundHttp {
  const judgePublic = memoizeBounded(urlChecker([]))
  const judgeOthers = memoizeBounded(urlChecker(allow))
  const judgeUrl = (url: string, ofOwn = false) =>
    (ofOwn ? ownListenerTarget(url, ownListener()) : undefined) ?? judgeOthers(url)
  const limited = concurrencyLimit()
  const lookup = guardedDnsLookup(resolver, addressChecker(allow))
  let agents: Promise<Agents> | undefined
  return {
    judge(url, { ownListener } = {}) {
      const judged = judgeUrl(url, ownListener)
      return isRefusedAddress(judged) ? judged : undefined
    },
    isAllowed: url => !isRefusedAddress(judgeUrl(url, true)) && isRefusedAddress(judgePublic(url)),
    async send(request) {
      const target = judgeUrl(request.url, request.ownListener)
      if (isRefusedAddress(target)) return { kind: 'refused', ...target }
      agents ??= agentsOf(lookup, ca)
      const attempt = answerTo.bind(null, agents, target, request)
      if (request.maxConcurrent === undefined) return attempt()
      return (await limited.within(target.origin, request.maxConcurrent, attempt)) ?? BUSY
    },
  }
}

const BUSY: OutboundAnswer = {
  kind: 'busy',
  message: 'Too many requests to this host are unanswered. Nothing was sent. Try again.',
}

type Agents = Readonly<Record<'keeping' | 'fresh', Agent>>

async function agentsOf(
  lookup: ReturnType<typeof guardedDnsLookup>,
  ca: string | undefined,
): Promise<Agents> {
  const { Agent } = await import('undici')
  const options: Agent.Options = {
    allowH2: false,
    // As many as are ever concurrent: waiting for a connection would use up the receiver's time, and many
    // owners may share an origin.
    connections: 256,
    // The lookup returns all addresses, so undici may try them one after another.
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: 1_000,
    keepAliveTimeout: 4_000,
    keepAliveMaxTimeout: 10_000,
    maxHeaderSize: 16_384,
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
  target: HttpTarget,
  request: OutboundRequest,
): Promise<OutboundAnswer> {
  const began = clock.ticks()
  const latencyMs = () => Math.round(clock.ticks() - began)
  try {
    const answer = await sendWithRetry(await agents, target, request)
    return { kind: 'answered', ...answer, latencyMs: latencyMs() }
  } catch (error) {
    if (error instanceof RefusedConnection) return { kind: 'refused', ...error.refused }
    const timedOut = error instanceof RequestTimeout
    const message = timedOut ? error.message : failureOf(error)
    return { kind: 'failed', message, timedOut, latencyMs: latencyMs() }
  }
}

/**
 * Sends once, and again if the receiver cannot have seen the first attempt and `retryHeaders` allows it, within one
 * time limit.
 */
async function sendWithRetry(
  { keeping, fresh }: Agents,
  target: HttpTarget,
  request: OutboundRequest,
): Promise<HttpAnswer> {
  const began = clock.ticks()
  try {
    return await sendHttpRequest(keeping, target, request)
  } catch (error) {
    if (!request.retryHeaders || !brokeBeforeAnswer(error)) throw error
    const secondsLeft = Math.ceil((request.timeoutMs - (clock.ticks() - began)) / 1_000)
    const timeoutMs = secondsLeft * 1_000
    return await sendHttpRequest(fresh, target, { ...request, headers: request.retryHeaders(), timeoutMs })
  }
}

/** Counts concurrent requests by owner and origin, so that a slow host blocks neither other hosts nor other owners. */
function concurrencyLimit() {
  const counts = new Map<string, number>()
  return {
    async within<T>(
      origin: string,
      { ownerId, most }: OwnerConcurrency,
      work: () => Promise<T>,
    ): Promise<T | undefined> {
      const name = `${ownerId} ${origin}`
      const count = counts.get(name) ?? 0
      if (count >= most) return undefined
      counts.set(name, count + 1)
      try {
        return await work()
      } finally {
        const left = (counts.get(name) ?? 1) - 1
        if (left === 0) counts.delete(name)
        else counts.set(name, left)
      }
    },
  }
}

const used = new WeakSet<object>()
/** Requests on a reused connection whose answers have not begun. */
const unanswered = new WeakSet<object>()
const unheard = new WeakSet<object>()

interface RequestMessage {
  readonly request: object
}

const CLOSED = ['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE']

// undici reports only on diagnostics channels which connection a request uses.
subscribe('undici:client:sendHeaders', message => {
  const { request, socket } = message as RequestMessage & { socket: object }
  if (used.has(socket)) unanswered.add(request)
  used.add(socket)
})
subscribe('undici:request:headers', message => {
  unanswered.delete((message as RequestMessage).request)
})
subscribe('undici:request:error', message => {
  const { request, error } = message as RequestMessage & { error: NodeJS.ErrnoException }
  if (unanswered.has(request) && CLOSED.includes(error.code ?? '')) unheard.add(error)
})

/**
 * Whether a kept connection broke before the answer began. Usually the receiver had closed it as idle while
 * the request was on its way, and has not seen the request.
 */
const brokeBeforeAnswer = (error: unknown): boolean => unheard.has(error as object)

/** For the customer who chose the URL. An error without a code is a defect of the service. */
function failureOf(error: unknown): string {
  const code = codeOf(error)
  if (code === '' || code === 'UND_ERR_INVALID_ARG') throw error
  return (
    KNOWN[code] ??
    PATTERNS.find(([pattern]) => pattern.test(code))?.[1] ??
    'The request failed (%).'
  ).replace('%', code)
}

const NO_NAME = 'The host’s name cannot be resolved.'
const AWAY = 'The host cannot be reached.'
const BROKEN = 'The connection was closed before the answer was complete.'

const KNOWN: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'The host refuses connections on this port.',
  ECONNRESET: BROKEN,
  EPIPE: BROKEN,
  UND_ERR_SOCKET: BROKEN,
  UND_ERR_CONNECT_TIMEOUT: AWAY,
  ETIMEDOUT: AWAY,
  EHOSTUNREACH: AWAY,
  ENETUNREACH: AWAY,
  UND_ERR_HEADERS_OVERFLOW: 'The answer’s headers are too large.',
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: 'The answer is longer or shorter than its Content-Length says.',
  ENOTFOUND: NO_NAME,
  ENODATA: NO_NAME,
  ESERVFAIL: NO_NAME,
  EREFUSED: NO_NAME,
  EBADNAME: NO_NAME,
  EBADRESP: NO_NAME,
  ETIMEOUT: 'The host’s name servers do not answer.',
}

const PATTERNS: readonly (readonly [RegExp, string])[] = [
  [/CERT|SIGNATURE|ISSUER|CRL|HOSTNAME_MISMATCH/, 'The host’s certificate is not valid (%).'],
  [/^(ERR_SSL|EPROTO)/, 'The TLS handshake failed (%).'],
  [/^(HPE_|HTTPParserError|UND_ERR_)/, 'The host’s answer is not HTTP (%).'],
]

function codeOf(error: unknown): string {
  if (typeof error !== 'object' || error === null) return ''
  if ('errors' in error && Array.isArray(error.errors)) return codeOf(error.errors[0])
  const { code, name = '' } = error as NodeJS.ErrnoException
  return 'code' in error ? (code ?? name) : ''
}
