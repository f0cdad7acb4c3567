/** Describes a failed request for the customer who chose its URL. An error without a code is a defect of ours. */
export function failureOf(error: unknown): string {
  const code = codeOf(error)
  if (code === '' || code === 'UND_ERR_INVALID_ARG') throw error
  return (
    KNOWN[code] ??
    PATTERNS.find(([pattern]) => pattern.test(code))?.[1] ??
    'The request failed (%).'
  ).replace('%', code)
}

const NO_NAME = 'The host’s name cannot be resolved.'
const AWAY = 'The host cannot be reached.'
const BROKEN = 'The connection was closed before the answer was complete.'

const KNOWN: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'The host refuses connections on this port.',
  ECONNRESET: BROKEN,
  EPIPE: BROKEN,
  UND_ERR_SOCKET: BROKEN,
  UND_ERR_CONNECT_TIMEOUT: AWAY,
  ETIMEDOUT: AWAY,
  EHOSTUNREACH: AWAY,
  ENETUNREACH: AWAY,
  UND_ERR_HEADERS_OVERFLOW: 'The answer’s headers are too large.',
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: 'The answer is longer or shorter than its Content-Length says.',
  ENOTFOUND: NO_NAME,
  ENODATA: NO_NAME,
  ESERVFAIL: NO_NAME,
  EREFUSED: NO_NAME,
  EBADNAME: NO_NAME,
  EBADRESP: NO_NAME,
  ETIMEOUT: 'The host’s name servers do not answer.',
}

const PATTERNS: readonly (readonly [RegExp, string])[] = [
  [/CERT|SIGNATURE|ISSUER|CRL|HOSTNAME_MISMATCH/, 'The host’s certificate is not valid (%).'],
  [/^(ERR_SSL|EPROTO)/, 'No encrypted connection could be agreed on (%).'],
  [/^(HPE_|HTTPParserError|UND_ERR_)/, 'What the host answers is not HTTP (%).'],
]

/** Where several addresses were tried, the failure of the first. */
function codeOf(error: unknown): string {
  if (typeof error !== 'object' || error === null) return ''
  if ('errors' in error && Array.isArray(error.errors)) return codeOf(error.errors[0])
  const { code, name = '' } = error as NodeJS.ErrnoException
  return 'code' in error ? (code ?? name) : ''
}
