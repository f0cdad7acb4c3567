/** What the secret of a console session begins with: it is taken from the cookie, and nowhere else. */
export const SESSION_PREFIX = 'con_'

/** Browsers keep `__Host-` cookies to the host that has set them, and take them by https only. */
const nameFor = (origin: string): string => (isSecure(origin) ? '__Host-session' : 'session')

const isSecure = (origin: string): boolean => origin.startsWith('https:')

/** The secret of a session in a `Cookie` header, where the console has this origin. */
export function sessionIn(cookies: string | undefined, origin: string): string | undefined {
  const start = `${nameFor(origin)}=${SESSION_PREFIX}`
  const found = cookies?.split(';').find(cookie => cookie.trim().startsWith(start))
  return found?.trim().slice(start.length - SESSION_PREFIX.length)
}

const attributesFor = (origin: string): string =>
  `Path=/; HttpOnly; SameSite=Lax${isSecure(origin) ? '; Secure' : ''}`

/** The `Set-Cookie` header that begins a session of this many seconds; with an empty secret and 0, the one that ends it. */
export const sessionCookie = (secret: string, seconds: number, origin: string): string =>
  `${nameFor(origin)}=${secret}; ${attributesFor(origin)}; Max-Age=${seconds}`
