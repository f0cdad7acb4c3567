import type { IncomingMessage } from 'node:http'
import { BlockList, isIP, isIPv6 } from 'node:net'
import { type AnyOperation, readsRawBody } from '../../kernel/contract/operation.ts'
import type { RawRequest } from '../../kernel/contract/raw-request.ts'

export type RequestHost = (request: IncomingMessage) => string

/**
 * Uses the `Host` header if it is one of the service's own addresses, as there may be a proxy. Clients can
 * send any `Host`, so every other value counts as the first address.
 */
export const requestHostAmong =
  (ownHosts: () => readonly [string, ...string[]]): RequestHost =>
  ({ headers }) => {
    const asked = headers.host?.toLowerCase().replace(/:(80|443)$/, '')
    const own = ownHosts()
    return own.find(host => host === headers.host?.toLowerCase() || host === asked) ?? own[0]
  }

/** Undefined unless the contract lets the handler read the request itself. */
export function toRawRequest(
  operation: AnyOperation,
  request: IncomingMessage,
  bytes: Uint8Array,
  hostOf: RequestHost,
): RawRequest | undefined {
  const reads = operation.http?.reads
  if (!reads) return undefined
  const headers = Object.fromEntries(
    Object.keys(reads).map(name => {
      const value = request.headers[name]
      return [name, Array.isArray(value) ? value.join(', ') : value]
    }),
  )
  return { headers, body: readsRawBody(operation) ? bytes : new Uint8Array(), host: hostOf(request) }
}

type TrustProxy = number | readonly string[] | false

export type IsProxy = (address: string, hops: number) => boolean

export function trustedProxies(trust: TrustProxy): IsProxy {
  if (typeof trust !== 'object') return (_, hops) => hops < Number(trust)
  const list = new BlockList()
  for (const entry of trust) {
    const [address = '', prefix] = entry.split('/')
    if (prefix === undefined) list.addAddress(address, familyOf(address))
    else list.addSubnet(address, Number(prefix), familyOf(address))
  }
  return address => isIP(address) !== 0 && list.check(address, familyOf(address))
}

const familyOf = (address: string) => (isIPv6(address) ? 'ipv6' : 'ipv4')

/**
 * Finds the nearest address that is not a trusted proxy. A proxy's entry counts if it is an address; anything
 * else in `X-Forwarded-For` ends the search.
 */
export function clientAddress({ socket, headers }: IncomingMessage, isProxy: IsProxy): string | null {
  const forwarded = String(headers['x-forwarded-for'] ?? '').split(',')
  let client = parseForwardedAddress(socket.remoteAddress ?? '')
  for (let hops = 0; client && isProxy(client, hops); hops++) {
    const before = parseForwardedAddress(forwarded.pop() ?? '')
    if (!before) break
    client = before
  }
  return client ?? null
}

/** Reads an address as proxies write it, with or without a port. IPv4-mapped IPv6 becomes IPv4. */
export function parseForwardedAddress(text: string): string | undefined {
  const bare = /^\s*(?:\[([^\]]+)\](?::\d+)?|(\d+(?:\.\d+){3}):\d+|(\S+))\s*$/.exec(text)
  const address = (bare?.[1] ?? bare?.[2] ?? bare?.[3] ?? '').replace(/^::ffff:(?=\d+\.)/i, '')
  return isIP(address) === 0 ? undefined : address
}
