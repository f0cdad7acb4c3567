import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { isIP, isIPv6 } from 'node:net'
import { OWN_REQUEST_HEADER, type OwnListener } from '../adapters/guarded-http/urls.ts'
import type { RelyingParty } from '../ports/relying-party.ts'

export interface ServiceAddresses {
  /** `PUBLIC_URL`, or the address of this process; without a slash at its end. */
  publicUrl(): string
  hosts(): readonly [string, ...string[]]
  urls(): readonly string[]
  listener(): OwnListener | undefined
  isOwn(request: Pick<IncomingMessage, 'headers'>): boolean
  listensAt(address: string, port: number): void
  /** Undefined until the process listens. */
  listenAddress(): ListenAddress | undefined
}

export interface ListenAddress {
  readonly address: string
  readonly port: number
}

interface Configured {
  readonly publicUrl?: string | undefined
  readonly host: string
  readonly port: number
}

export function serviceAddresses({ publicUrl, host, port }: Configured): ServiceAddresses {
  let listener: OwnListener | undefined
  let at: ListenAddress | undefined
  const url = () => publicUrl ?? (listener ?? listenerAt(host, port)).origin
  return {
    publicUrl: url,
    hosts: () => [new URL(url()).host, ...(listener?.origins ?? []).map(origin => new URL(origin).host)],
    urls: () => [url(), ...(listener?.origins ?? [])],
    listener: () => listener,
    isOwn: ({ headers }) => listener !== undefined && headers[OWN_REQUEST_HEADER] === listener.pass,
    listensAt(address, port) {
      at = { address, port }
      listener = listenerAt(address, port)
    },
    listenAddress: () => at,
  }
}

/** A listener on all addresses is reached over the loopback. */
function listenerAt(host: string, port: number): OwnListener {
  const names = LOOPBACK[host] ?? [isIPv6(host) ? `[${host}]` : host]
  const origins = names.map(name => new URL(`http://${name}:${port}`).origin)
  const origin = String(origins[0])
  return { origin, origins, target: origins.find(hasIpAddress) ?? origin, pass: randomUUID() }
}

const hostOf = ({ hostname }: URL): string => hostname.replace(/^\[|\]$/g, '')

const hasIpAddress = (origin: string): boolean => isIP(hostOf(new URL(origin))) > 0

const LOOPBACK: Readonly<Record<string, readonly string[]>> = {
  localhost: ['localhost', '127.0.0.1', '[::1]'],
  '127.0.0.1': ['127.0.0.1', 'localhost'],
  '0.0.0.0': ['127.0.0.1', 'localhost'],
  '::1': ['[::1]', 'localhost'],
  '::': ['[::1]', '127.0.0.1', 'localhost'],
}

interface PagesConfigured {
  readonly publicUrl?: string | undefined
  readonly passkeyOrigins?: readonly string[] | undefined
}

interface Pages {
  publicUrl(): string
  relyingParty(): RelyingParty
  pageUrl(path: string): string
}

/** Pages for people are at `PUBLIC_URL`, or at `localhost`, as passkeys cannot exist for an IP address. */
export function browserPageAddresses(
  { publicUrl, passkeyOrigins = [] }: PagesConfigured,
  addresses: Pick<ServiceAddresses, 'publicUrl'>,
  warn: (message: string) => void,
): Pages {
  const base = (): string =>
    publicUrl === undefined
      ? `http://localhost:${new URL(addresses.publicUrl()).port || 80}`
      : addresses.publicUrl()
  const unavailable = whyUnavailable(new URL(base()))
  if (unavailable) warn(`Passkeys cannot be used here: ${unavailable}`)
  return {
    publicUrl: addresses.publicUrl,
    relyingParty() {
      const { hostname: id, origin } = new URL(base())
      return { id, name: 'Agent Payments', origin, origins: [origin, ...passkeyOrigins], unavailable }
    },
    pageUrl: path => `${base()}${path}`,
  }
}

function whyUnavailable(page: URL): string | null {
  const { protocol, hostname } = page
  if (isIP(hostOf(page)))
    return 'PUBLIC_URL names an IP address, but browsers support passkeys for host names only. Set it to a host name with https, or to http://localhost.'
  if (protocol === 'http:' && hostname !== 'localhost')
    return 'PUBLIC_URL begins with http, but browsers support passkeys with https only. Set it to an https address, or to http://localhost.'
  return null
}
