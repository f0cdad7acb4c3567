import { isIP } from 'node:net'
import type { RefusedOutboundAddress } from '../../ports/outbound.ts'
import { addressChecker } from './addresses.ts'

export interface HttpTarget {
  readonly origin: string
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
}

export const isRefusedAddress = (
  judged: HttpTarget | RefusedOutboundAddress,
): judged is RefusedOutboundAddress => 'rule' in judged

const MAX_LENGTH = 2048

/** Ports of services that are not HTTP and might interpret a request (those that browsers refuse, and more). */
const PORTS = new Set(
  (
    '0 1 7 9 11 13 15 17 19 20 21 22 23 25 37 42 43 53 69 77 79 87 95 101 102 103 104 109 110 111 113 115 117 119 ' +
    '123 135 137 139 143 161 179 389 427 445 465 512 513 514 515 526 530 531 532 540 548 554 556 563 587 601 636 ' +
    '989 990 993 995 1719 1720 1723 2049 3306 3389 3659 4045 4190 5060 5061 5432 5900 6000 6379 6566 6665 6666 ' +
    '6667 6668 6669 6679 6697 10080 11211'
  ).split(' '),
)

/** Cloud metadata services, which reveal a machine's secrets. No setting allows them. */
const METADATA = /^(metadata|metadata\.google\.internal|metadata\.goog|instance-data(\.ec2\.internal)?)$/

const LOCALHOST = /(^|\.)localhost(\.localdomain)?$/

/** Names that mean something else in each network (RFC 6761, 6762, 7686, 8375, ICANN's `internal`), or lack a dot. */
const INTERNAL =
  /^[^.]+$|\.(local|localdomain|internal|intranet|private|corp|home|lan|home\.arpa|onion|invalid)$/

const LABEL = /^[a-z\d_]([a-z\d_-]{0,61}[a-z\d_])?$/

/**
 * Checks a URL without a network request. Once the operator allows addresses, internal names are checked by
 * their addresses; those of this machine are known.
 */
export function urlChecker(
  allowed: readonly string[],
): (text: string) => HttpTarget | RefusedOutboundAddress {
  const judgeAddress = addressChecker(allowed)
  const reaches = {
    inside: allowed.length > 0,
    thisMachine: ['127.0.0.1', '::1'].some(address => judgeAddress(address) === undefined),
  }
  return text => {
    const misspelt = spelling(text)
    if (misspelt) return misspelt
    const url = URL.parse(text)
    if (!url) return refused('malformed', 'The URL is not valid: its host or port cannot be read.')
    if (PORTS.has(url.port))
      return refused('port', `Port ${url.port} is refused: it is not one of HTTP. Use 443, or another.`)
    const host = url.hostname.replace(/^\[|\]$/g, '')
    const wrong = isIP(host) ? judgeAddress(host) : judgeName(host, reaches)
    return wrong ?? { origin: url.origin, path: url.pathname + url.search }
  }
}

const refused = (rule: string, message: string): RefusedOutboundAddress => ({ rule, message })

/** Characters that URL parsers repair, each in a different way. */
function spelling(text: string): RefusedOutboundAddress | undefined {
  if (text.length > MAX_LENGTH) return refused('too_long', `The URL is longer than ${MAX_LENGTH} characters.`)
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  if (/[\u0000-\u0020\u007f-\u00a0\u2028\u2029\ufeff\\]/.test(text))
    return refused('malformed', 'The URL contains a space, a control character or a backslash. Remove it.')
  const scheme = /^([a-z][a-z\d+.-]*):/i.exec(text)?.[1]?.toLowerCase()
  if (scheme !== 'http' && scheme !== 'https')
    return refused('scheme', 'The URL must begin with https:// or http://.')
  const authority = /^\w+:\/\/([^/?#]+)/.exec(text)?.[1]
  if (!authority) return refused('malformed', 'The URL has no host. Write https://host/path.')
  if (authority.includes('@'))
    return refused('userinfo', 'The URL contains a user name or password (before @). Remove it.')
  return undefined
}

interface Reaches {
  /** Some address of a network. */
  readonly inside: boolean
  readonly thisMachine: boolean
}

function judgeName(host: string, reaches: Reaches): RefusedOutboundAddress | undefined {
  const name = host.replace(/\.$/, '')
  if (name.length > 253 || !name.split('.').every(label => LABEL.test(label)))
    return refused('malformed', 'The URL’s host is not a valid host name.')
  if (METADATA.test(name))
    return refused('metadata', `The host ${name} is refused: it is the metadata service of a cloud.`)
  if (LOCALHOST.test(name) && !reaches.thisMachine)
    return refused('loopback', `The host ${name} is refused: it is this machine itself.${OPENING}`)
  if (INTERNAL.test(name) && !reaches.inside)
    return refused('internal_name', `The host ${name} is refused: it exists only inside a network.${OPENING}`)
  return undefined
}

const OPENING = ' Use a public host; the operator can allow others with the setting OUTBOUND_ALLOW_CIDRS.'

export interface OwnListener {
  readonly origin: string
  readonly origins: readonly string[]
  /** Where its requests are sent: an IP address, since a name would be looked up and then refused as loopback. */
  readonly target: string
  /**
   * Marks a request as the service's own, so that it does not count against the rate limit of an address that
   * all owners share.
   */
  readonly pass: string
}

export const OWN_REQUEST_HEADER = 'x-own-request'

const PATHS = /^\/(simulate\/mpp|collect\/402)(\/[\w-][\w.-]*)+$/

/**
 * The target of a URL of the service's own listener. The URL must be in canonical form: one that a parser has
 * to repair is checked like any other.
 */
export function ownListenerTarget(text: string, listener: OwnListener | undefined): HttpTarget | undefined {
  const url = URL.parse(text)
  if (!url || !listener?.origins.includes(url.origin) || !PATHS.test(url.pathname)) return undefined
  const path = url.pathname + url.search
  const headers = { host: url.host, [OWN_REQUEST_HEADER]: listener.pass }
  return text === url.origin + path ? { origin: listener.target, path, headers } : undefined
}
