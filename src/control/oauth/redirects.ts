/** Schemes of apps that are not a domain in reverse, and whose assistants connect. */
const KNOWN_APPS = new Set(['claude', 'cursor', 'vscode', 'vscode-insiders', 'windsurf'])

/** A domain in reverse, as apps own one (RFC 8252, 7.1). No scheme that a browser or a system runs itself has a dot. */
const OF_DOMAIN = /^[a-z][a-z\d-]*(\.[a-z\d-]+)+$/

const LOOPBACK = new Set(['127.0.0.1', '[::1]', 'localhost'])

export const MAX_REDIRECT_URI = 500

const isVisibleAscii = (text: string): boolean => /^[\x21-\x7e]+$/.test(text)

const isOfLoopback = ({ protocol, hostname }: URL): boolean => protocol === 'http:' && LOOPBACK.has(hostname)

/** An https address, an address of the person's own machine, or the scheme of an app (RFC 8252). */
export function isRedirectUri(text: string): boolean {
  if (text.length > MAX_REDIRECT_URI || !isVisibleAscii(text) || text.includes('#') || !URL.canParse(text))
    return false
  const url = new URL(text)
  if (url.username || url.password) return false
  if (url.protocol === 'https:') return true
  if (url.protocol === 'http:') return isOfLoopback(url)
  const scheme = url.protocol.slice(0, -1)
  return KNOWN_APPS.has(scheme) || OF_DOMAIN.test(scheme)
}

function withoutPort(text: string): string | undefined {
  const url = new URL(text)
  if (!isOfLoopback(url)) return undefined
  // Only an address that a browser would write the same way, so that nothing is hidden in its form.
  if (url.href !== text && url.href !== `${text}/`) return undefined
  url.port = ''
  return url.href
}

export const isOnThisMachine = (address: string): boolean => isOfLoopback(new URL(address))

/**
 * Whether answers go to the host that has published the client's metadata. Anyone can name the document of another, and
 * only that host decides who gets what is sent to it: not a program on the person's own machine.
 */
export function isAtHost(address: string, host: string | null): boolean {
  const url = new URL(address)
  return url.protocol === 'https:' && url.host === host
}

/** Where an answer goes, as people read it: the host, or the scheme of an app. */
export function redirectPlace(address: string): string {
  const { protocol, hostname, host } = new URL(address)
  if (protocol === 'https:') return host
  return protocol === 'http:' ? hostname : protocol
}

/** Compares exactly. On the person's own machine the port may be another one (RFC 8252, 7.3). */
export function isRegisteredRedirect(asked: string, registered: readonly string[]): boolean {
  if (!isRedirectUri(asked)) return false
  if (registered.includes(asked)) return true
  const portless = withoutPort(asked)
  return portless !== undefined && registered.some(one => isRedirectUri(one) && withoutPort(one) === portless)
}

export const withParameters = (
  address: string,
  parameters: Readonly<Record<string, string | undefined>>,
): string => {
  const given = Object.entries(parameters).filter(
    (entry): entry is [string, string] => entry[1] !== undefined,
  )
  return `${address}${address.includes('?') ? '&' : '?'}${new URLSearchParams(given)}`
}
