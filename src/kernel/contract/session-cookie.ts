/** The prefix of a console session's secret, which is accepted from the cookie only. */
export const SESSION_SECRET_PREFIX = 'con_'

interface HostCookie {
  readonly name: string
  /** With which its secrets begin. */
  readonly prefix: string
}

/** Browsers keep `__Host-` cookies to the host that has set them, and accept them by https only. */
const nameFor = (name: string, origin: string): string => (isSecure(origin) ? `__Host-${name}` : name)

const isSecure = (origin: string): boolean => origin.startsWith('https:')

export function readHostCookie(
  { name, prefix }: HostCookie,
  cookies: string | undefined,
  origin: string,
): string | undefined {
  const start = `${nameFor(name, origin)}=${prefix}`
  const found = cookies?.split(';').find(cookie => cookie.trim().startsWith(start))
  return found?.trim().slice(start.length - prefix.length)
}

const attributesFor = (origin: string): string =>
  `Path=/; HttpOnly; SameSite=Lax${isSecure(origin) ? '; Secure' : ''}`

/** The `Set-Cookie` header of a secret for this many seconds; an empty secret and 0 remove it. */
export const buildHostCookie = (
  { name }: HostCookie,
  secret: string,
  seconds: number,
  origin: string,
): string => `${nameFor(name, origin)}=${secret}; ${attributesFor(origin)}; Max-Age=${seconds}`

const SESSION = { name: 'session', prefix: SESSION_SECRET_PREFIX }

export const readSessionCookie = (cookies: string | undefined, origin: string): string | undefined =>
  readHostCookie(SESSION, cookies, origin)

/** The `Set-Cookie` header that begins a session of this many seconds; an empty secret and 0 end it. */
export const buildSessionCookie = (secret: string, seconds: number, origin: string): string =>
  buildHostCookie(SESSION, secret, seconds, origin)
