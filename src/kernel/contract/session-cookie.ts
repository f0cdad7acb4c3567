/** The prefix of a console session's secret, which is accepted from the cookie only. */
export const SESSION_SECRET_PREFIX = 'con_'

/** Browsers keep `__Host-` cookies to the host that has set them, and accept them by https only. */
const nameFor = (origin: string): string => (isSecure(origin) ? '__Host-session' : 'session')

const isSecure = (origin: string): boolean => origin.startsWith('https:')

export function readSessionCookie(cookies: string | undefined, origin: string): string | undefined {
  const start = `${nameFor(origin)}=${SESSION_SECRET_PREFIX}`
  const found = cookies?.split(';').find(cookie => cookie.trim().startsWith(start))
  return found?.trim().slice(start.length - SESSION_SECRET_PREFIX.length)
}

const attributesFor = (origin: string): string =>
  `Path=/; HttpOnly; SameSite=Lax${isSecure(origin) ? '; Secure' : ''}`

/** The `Set-Cookie` header that begins a session of this many seconds; an empty secret and 0 end it. */
export const buildSessionCookie = (secret: string, seconds: number, origin: string): string =>
  `${nameFor(origin)}=${secret}; ${attributesFor(origin)}; Max-Age=${seconds}`
