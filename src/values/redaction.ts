/** Enough for the first line of an error. */
const MAX_LENGTH = 200

/** Tokens, credentials, and numbers as long as those of cards and accounts. */
const SECRETS = [
  /\bwhsec_[\w+/]{8,}=?/g,
  /\b(?:sk|at|mer|pk|rk|cst|pt|lnk|dlg|dvc|oac|ort|ephkey)_\w{8,}/g,
  /\b(?:bearer|basic)\s+[\w.~+/=-]{8,}/gi,
  /\beyJ[\w-]{8,}\.[\w-]+\.?[\w-]*/g,
  /\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?\b/g,
  /\b\d(?:[ -]?\d){11,18}\b/g,
  /(?<=(?:password|passwd|secret|token|api[_-]?key)["']?\s*[:=]\s*["']?)[^\s"',}]{4,}/gi,
]

/** The beginning of a response body for display: printable, on one line, with secrets redacted. */
export function redactExcerpt(body: Uint8Array): string | null {
  if (body.length === 0) return null
  const text = new TextDecoder()
    .decode(body)
    .replace(/[\p{C}\p{Z}\uFFFD]+/gu, ' ')
    .trim()
  const redacted = SECRETS.reduce((redacted, secret) => redacted.replace(secret, '[redacted]'), text)
  return redacted === '' ? null : redacted.slice(0, MAX_LENGTH).replace(/[\uD800-\uDBFF]$/, '')
}
