import type { IncomingMessage } from 'node:http'
import { BlockList, isIP, isIPv6 } from 'node:net'

/** The trusted proxies: a number of hops, addresses, or none. */
export type TrustProxy = number | readonly string[] | false

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
