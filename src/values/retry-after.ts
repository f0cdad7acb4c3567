/** The date format of HTTP. `Date.parse` by itself accepts almost any text. */
const HTTP_DATE = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/

/** The pause in milliseconds that a `Retry-After` asks for, at most `mostMs`; null if it asks for none. */
export function parseRetryAfter(value: string | undefined, now: Date, mostMs: number): number | null {
  const ms = value === undefined ? Number.NaN : millisecondsOf(value, now)
  return ms > 0 ? Math.min(ms, mostMs) : null
}

function millisecondsOf(value: string, now: Date): number {
  if (/^\d+$/.test(value)) return Number(value) * 1_000
  return HTTP_DATE.test(value) ? Date.parse(value) - now.getTime() : Number.NaN
}
