import { promises as dns, type LookupAddress } from 'node:dns'
import type { LookupFunction } from 'node:net'
import type { RefusedOutboundAddress } from '../../ports/outbound.ts'

/** Resolves names without `getaddrinfo`, which blocks one of Node's four threads: slow names could block them all. */
export type DnsResolver = Pick<dns.Resolver, 'resolve4' | 'resolve6'>

export const systemDnsResolver = (): DnsResolver => new dns.Resolver({ timeout: 2_000, tries: 2 })

export class RefusedConnection extends Error {
  readonly refused: RefusedOutboundAddress

  constructor(refused: RefusedOutboundAddress) {
    super(refused.message)
    this.refused = refused
  }
}

const MAX_ADDRESSES = 32

/**
 * Resolves the host of a new connection. The addresses are checked here, and the connection goes to one of
 * them, so no second DNS answer can intervene. One refused address refuses the host.
 */
export function guardedDnsLookup(
  resolver: DnsResolver,
  judge: (address: string) => RefusedOutboundAddress | undefined,
): LookupFunction {
  return (host, _options, callback) => {
    addressesOf(resolver, host)
      .then(found => {
        const refused = found.map(({ address }) => judge(address)).find(Boolean)
        if (refused) throw new RefusedConnection(refused)
        return found.slice(0, MAX_ADDRESSES)
      })
      .then(
        found => callback(null, found),
        error => callback(error, []),
      )
  }
}

async function addressesOf(resolver: DnsResolver, host: string): Promise<LookupAddress[]> {
  // RFC 6761: `localhost` is never looked up at a name server.
  if (/(^|\.)localhost\.?$/.test(host)) return [{ address: '127.0.0.1', family: 4 }]
  const [four, six] = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)])
  const found = [...answerOf(four, 4), ...answerOf(six, 6)]
  if (found.length > 0) return found
  throw four.status === 'rejected' ? four.reason : Object.assign(new Error(host), { code: 'ENODATA' })
}

const answerOf = (answer: PromiseSettledResult<string[]>, family: 4 | 6): LookupAddress[] =>
  answer.status === 'fulfilled' ? answer.value.map(address => ({ address, family })) : []
