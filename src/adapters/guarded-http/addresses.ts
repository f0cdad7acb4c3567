import { BlockList, isIPv4, isIPv6 } from 'node:net'
import type { RefusedOutboundAddress } from '../../ports/outbound.ts'

interface Reserved {
  readonly rule: string
  readonly what: string
  readonly blocks: readonly string[]
}

/**
 * Forbidden destinations: the special-purpose registries of IANA (RFC 6890 and its successors), and addresses
 * that lead to an IPv4 address in another way. Relays and sinks that the registries call globally reachable
 * are left out.
 */
const RESERVED: readonly Reserved[] = [
  { rule: 'loopback', what: 'this machine itself', blocks: ['127.0.0.0/8', '::1/128'] },
  { rule: 'unspecified', what: 'not an assignable address', blocks: ['0.0.0.0/8', '::/128'] },
  {
    rule: 'private',
    what: 'in a private network',
    // The last is site-local, which RFC 3879 withdrew and old networks still use.
    blocks: ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7', 'fec0::/10'],
  },
  { rule: 'shared', what: 'in the network of a carrier', blocks: ['100.64.0.0/10'] },
  { rule: 'link_local', what: 'a link-local address', blocks: ['169.254.0.0/16', 'fe80::/10'] },
  { rule: 'multicast', what: 'a multicast address', blocks: ['224.0.0.0/4', 'ff00::/8'] },
  {
    rule: 'translated',
    what: 'an embedded IPv4 address',
    // IPv4-compatible; NAT64 (RFC 6052, 8215); Teredo; 6to4, whose relays (192.88.99.0/24) RFC 7526 withdrew.
    blocks: ['::/96', '64:ff9b::/96', '64:ff9b:1::/48', '2001::/32', '2002::/16', '192.88.99.0/24'],
  },
  {
    rule: 'reserved',
    what: 'set aside for protocols, documentation and measurements',
    blocks: [
      ...['192.0.0.0/24', '198.18.0.0/15', '240.0.0.0/4'],
      // Documentation (RFC 5737, 3849, 9637): used inside networks only.
      ...['192.0.2.0/24', '198.51.100.0/24', '203.0.113.0/24', '2001:db8::/32', '3fff::/20'],
      // Protocol assignments: benchmarking, ORCHID, drones (RFC 2928).
      '2001::/23',
    ],
  },
]

/**
 * Services that give a machine's credentials to any process on it: of AWS (also of its containers), Google,
 * Azure and Alibaba. No setting allows them.
 */
const METADATA: Reserved = {
  rule: 'metadata',
  what: 'the metadata service of a cloud',
  blocks: [
    ...['169.254.169.254/32', '169.254.170.2/32', '169.254.170.23/32', '100.100.100.200/32'],
    ...['168.63.129.16/32', '192.0.0.192/32'],
    ...['fd00:ec2::254/128', 'fd00:ec2::23/128', 'fd20:ce::254/128'],
  ],
}

/** The only block from which IANA has assigned IPv6 addresses. */
const ASSIGNED = ['2000::/3']

const isV6 = (text: string) => text.includes(':')

function listOf(blocks: readonly string[], v6: boolean): BlockList {
  const list = new BlockList()
  for (const block of blocks.filter(one => isV6(one) === v6)) {
    const [address = '', prefix = v6 ? '128' : '32'] = block.split('/')
    list.addSubnet(address, Number(prefix), v6 ? 'ipv6' : 'ipv4')
  }
  return list
}

/** One list per family: a shared `BlockList` confuses IPv4 with IPv4-mapped IPv6. */
function within(blocks: readonly string[]): (address: string) => boolean {
  const four = listOf(blocks, false)
  const six = listOf(blocks, true)
  return address => (isV6(address) ? six.check(address, 'ipv6') : four.check(address, 'ipv4'))
}

const reserved = RESERVED.map(({ rule, what, blocks }) => ({ rule, what, holds: within(blocks) }))
const isMetadata = within(METADATA.blocks)
const isAssigned = within(ASSIGNED)

export function addressChecker(
  allowed: readonly string[],
): (address: string) => RefusedOutboundAddress | undefined {
  const isAllowed = within(allowed)
  return given => {
    const address = unmapped(given)
    if (isMetadata(address)) return refusal(METADATA.rule, given, METADATA.what)
    if (isAllowed(address)) return undefined
    const found = reserved.find(({ holds }) => holds(address))
    if (found) return refusal(found.rule, given, found.what, OPENING)
    if (isV6(address) && !isAssigned(address)) return refusal('reserved', given, 'not assigned yet', OPENING)
    return undefined
  }
}

const OPENING = ' Use a public address; the operator can allow others with the setting OUTBOUND_ALLOW_CIDRS.'

const refusal = (rule: string, address: string, what: string, remedy = ' Use a public address.') => ({
  rule,
  message: `The address ${address} is refused: it is ${what}.${remedy}`,
})

/** An IPv4 address written as IPv6 (::ffff:7f00:1) is checked as IPv4. */
function unmapped(address: string): string {
  if (isIPv4(address)) return address
  if (!isIPv6(address)) throw new Error(`Not an address: ${address}`)
  const mapped = /^\[::ffff:([\da-f]{1,4}):([\da-f]{1,4})\]$/.exec(new URL(`http://[${address}]`).hostname)
  if (!mapped) return address
  const [high = 0, low = 0] = mapped.slice(1).map(part => Number.parseInt(part, 16))
  return [high >> 8, high & 255, low >> 8, low & 255].join('.')
}
