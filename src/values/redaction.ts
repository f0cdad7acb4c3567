/** So much of an answer is kept: enough for an error's first line. */
const KEPT = 200

/** What must not lie about in anybody's list: secrets, credentials, long numbers as cards and accounts have. */
const SECRETS = [
  /\b(?:whsec|sk|at|pk|rk)_\w{8,}/g,
  /\b(?:bearer|basic)\s+[\w.~+/=-]{8,}/gi,
  /\beyJ[\w-]{8,}\.[\w-]+\.?[\w-]*/g,
  /\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?\b/g,
  /\b\d(?:[ -]?\d){11,18}\b/g,
  /(?<=(?:password|passwd|secret|token|api[_-]?key)["']?\s*[:=]\s*["']?)[^\s"',}]{4,}/gi,
]

/** How an answer begins, as it can be shown: printable, in one line, without what others have put into it by mistake. */
export function redactedExcerpt(body: Uint8Array): string | null {
  if (body.length === 0) return null
  const text = new TextDecoder()
    .decode(body)
    .replace(/[\p{C}\p{Z}\uFFFD]+/gu, ' ')
    .trim()
  const redacted = SECRETS.reduce((rest, secret) => rest.replace(secret, '[redacted]'), text)
  return redacted === '' ? null : redacted.slice(0, KEPT).replace(/[\uD800-\uDBFF]$/, '')
}
