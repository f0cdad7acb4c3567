import { hash } from 'node:crypto'

export interface MerchantRequest {
  readonly url: string
  readonly method: MerchantMethod
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | null
}

export const merchantMethods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const
type MerchantMethod = (typeof merchantMethods)[number]

export const MAX_MERCHANT_HEADERS = 50
export const MAX_MERCHANT_HEADER_LENGTH = 4_096
/** In characters, for all names and values together. Merchants' servers accept no more. */
const MAX_HEADERS_LENGTH = 12_288
export const MAX_MERCHANT_BODY_LENGTH = 131_072

const NAME = /^[\w!#$%&'*+.^`|~-]+$/
/** A tab and the visible characters of ASCII, which cannot end a line. */
const VALUE = /^[\t\x20-\x7e]*$/

/** Hop-by-hop headers (RFC 9110, 7.6.1), and those that the HTTP client sets. */
const HOP_BY_HOP =
  /^(host|connection|content-length|transfer-encoding|keep-alive|upgrade|expect|te|trailer|accept-encoding|proxy-.*)$/i

const PAYMENT_HEADERS = /^(payment-.*|accept-payment|x-payment|x-payment-.*)$/i

function headerProblem(name: string, value: string): string | undefined {
  if (!NAME.test(name)) return 'is not a header name'
  if (HOP_BY_HOP.test(name)) return 'is set by the connection; leave it out'
  if (PAYMENT_HEADERS.test(name)) return 'belongs to the payment, which this service makes; leave it out'
  if (!VALUE.test(value)) return 'has a value that is not plain ASCII text'
  return /^authorization$/i.test(name) && /^\s*payment\b/i.test(value)
    ? 'holds a payment; this service makes it, so leave it out'
    : undefined
}

export function merchantHeadersProblem(headers: Readonly<Record<string, string>>): string | undefined {
  const names = new Set<string>()
  let size = 0
  for (const [name, value] of Object.entries(headers)) {
    const problem = names.has(name.toLowerCase()) ? 'occurs twice' : headerProblem(name, value)
    if (problem) return `${JSON.stringify(name.slice(0, 100))} ${problem}`
    names.add(name.toLowerCase())
    size += name.length + value.length
  }
  return size > MAX_HEADERS_LENGTH ? `more than ${MAX_HEADERS_LENGTH} characters together` : undefined
}

interface RequestBody {
  readonly url: string
  readonly method?: MerchantMethod | undefined
  readonly headers?: Readonly<Record<string, string>> | undefined
  readonly body?: string | Readonly<Record<string, unknown>> | undefined
}

const hasHeader = (headers: Readonly<Record<string, string>>, name: string): boolean =>
  Object.keys(headers).some(other => other.toLowerCase() === name)

/** Sends an object as JSON. A request with a body is a POST unless it names a method. */
export function buildMerchantRequest({ url, method, headers = {}, body }: RequestBody): MerchantRequest {
  const isText = body === undefined || typeof body === 'string'
  const type = isText || hasHeader(headers, 'content-type') ? {} : { 'content-type': 'application/json' }
  return {
    url,
    method: method ?? (body === undefined ? 'GET' : 'POST'),
    headers: { ...headers, ...type },
    body: isText ? (body ?? null) : JSON.stringify(body),
  }
}

export const merchantRequestDigest = ({ method, url, body }: Omit<MerchantRequest, 'headers'>): string =>
  `sha-256=${hash('sha256', JSON.stringify([method, url, body]), 'base64url')}`

/** Omits query and fragment, which may contain secrets. */
export function urlWithoutQuery(url: URL): string {
  return `${url.origin}${url.pathname}`
}

export const merchantRequestHeaders = (
  headers: Readonly<Record<string, string>>,
  credentialHeader: string,
): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => name.toLowerCase() !== credentialHeader))
