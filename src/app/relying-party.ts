import { isIP } from 'node:net'
import type { RelyingParty } from '../ports/relying-party.ts'
import type { OwnAddresses } from './own-addresses.ts'

interface Configured {
  readonly publicUrl?: string | undefined
  readonly passkeyOrigins?: readonly string[] | undefined
}

/** The addresses that we give to others. */
export interface Pages {
  publicUrl(): string
  relyingParty(): RelyingParty
  /** The address of a page, under an origin where passkeys work. */
  pageUrl(path: string): string
}

/** Where the pages for people are: at `PUBLIC_URL`, or at `localhost`, as no passkey exists for an IP address. */
export function pagesOf(
  { publicUrl, passkeyOrigins = [] }: Configured,
  addresses: Pick<OwnAddresses, 'publicUrl'>,
  warn: (message: string) => void,
): Pages {
  const base = (): string =>
    publicUrl === undefined
      ? `http://localhost:${new URL(addresses.publicUrl()).port || 80}`
      : addresses.publicUrl()
  const unavailable = whyUnavailable(new URL(base()))
  if (unavailable) warn(`Nobody can use a passkey here: ${unavailable}`)
  return {
    publicUrl: addresses.publicUrl,
    relyingParty() {
      const { hostname: id, origin } = new URL(base())
      return { id, name: 'Agent Payments', origin, origins: [origin, ...passkeyOrigins], unavailable }
    },
    pageUrl: path => `${base()}${path}`,
  }
}

function whyUnavailable({ protocol, hostname }: URL): string | null {
  if (isIP(hostname.replace(/^\[|\]$/g, '')))
    return 'PUBLIC_URL names an IP address, and browsers keep passkeys for host names only: set it to a host name with https, or to http://localhost.'
  if (protocol === 'http:' && hostname !== 'localhost')
    return 'PUBLIC_URL begins with http, and browsers allow passkeys under https only: set it to an https address, or to http://localhost.'
  return null
}
