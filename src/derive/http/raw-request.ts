import type { IncomingMessage } from 'node:http'
import { BlockList, isIP, isIPv6 } from 'node:net'
import { type AnyOperation, readsBytes } from '../../kernel/contract/operation.ts'
import type { RawRequest } from '../../kernel/contract/raw-request.ts'

/** The host and port at which a request asks the service. */
export type HostOf = (request: IncomingMessage) => string

/**
 * Believes what the client wrote where it is an address of ours, as it may be behind a proxy: anybody can write anything
 * into `Host`. Everything else counts as sent to the first address.
 */
export const hostAmong =
  (ownHosts: () => readonly [string, ...string[]]): HostOf =>
  ({ headers }) => {
    const asked = headers.host?.toLowerCase().replace(/:(80|443)$/, '')
    const own = ownHosts()
    return own.find(host => host === headers.host?.toLowerCase() || host === asked) ?? own[0]
  }

/** What the contract lets the handler read; undefined where it is the input alone. */
export function rawRequestOf(
  operation: AnyOperation,
  request: IncomingMessage,
  bytes: Uint8Array,
  hostOf: HostOf,
): RawRequest | undefined {
  const reads = operation.http?.reads
  if (!reads) return undefined
  const headers = Object.fromEntries(
    Object.keys(reads).map(name => {
      const value = request.headers[name]
      return [name, Array.isArray(value) ? value.join(', ') : value]
    }),
  )
  return { headers, body: readsBytes(operation) ? bytes : new Uint8Array(), host: hostOf(request) }
}

/** The trusted proxies: a number of hops, addresses, or none. */
type TrustProxy = number | readonly string[] | false

/** Whether the address, this many hops away, is a trusted proxy. */
export type IsProxy = (address: string, hops: number) => boolean

export function proxies(trust: TrustProxy): IsProxy {
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
 * Where a request comes from: the nearest address that is not a proxy of ours. What a proxy says of the hop before it
 * is believed where it is an address; anything else in `X-Forwarded-For` ends the search.
 */
export function clientAddress({ socket, headers }: IncomingMessage, isProxy: IsProxy): string | null {
  const forwarded = String(headers['x-forwarded-for'] ?? '').split(',')
  let client = addressIn(socket.remoteAddress ?? '')
  for (let hops = 0; client && isProxy(client, hops); hops++) {
    const before = addressIn(forwarded.pop() ?? '')
    if (!before) break
    client = before
  }
  return client ?? null
}

/** Parses an address as proxies write it, also with a port. IPv4-mapped IPv6 becomes IPv4. */
export function addressIn(text: string): string | undefined {
  const bare = /^\s*(?:\[([^\]]+)\](?::\d+)?|(\d+(?:\.\d+){3}):\d+|(\S+))\s*$/.exec(text)
  const address = (bare?.[1] ?? bare?.[2] ?? bare?.[3] ?? '').replace(/^::ffff:(?=\d+\.)/i, '')
  return isIP(address) === 0 ? undefined : address
}
