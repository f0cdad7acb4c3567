import { isJsonObject, type JsonObject } from './base64url.ts'

/** What an operation costs, as its merchant publishes it. It is advice: only a challenge is paid. */
export interface PublishedOffer {
  /** In lower case; undefined if the merchant does not say. */
  readonly method: string | undefined
  readonly intent: string | undefined
  readonly currency: string | undefined
  /** In the smallest unit of the currency. Null if it depends on the request. */
  readonly amount: bigint | null
}

interface PaidOperation {
  readonly method: string
  /** Null stands for a parameter. Any text with one counts as one: a merchant’s pattern is never run. */
  readonly segments: readonly (string | null)[]
  readonly offers: readonly PublishedOffer[]
}

export type PaidOperations = readonly PaidOperation[]

/** A merchant chooses the size of its document, which blocks other requests while it is read, and is then kept. */
const MOST_PATHS = 2_000
const MOST_OPERATIONS = 200
const MOST_SERVERS = 3
const MOST_OFFERS = 10
const LONGEST_PATH = 500
const MOST_SEGMENTS = 50
const LONGEST_WORD = 64
const METHODS = ['get', 'post', 'put', 'patch', 'delete']

/** A merchant need not publish anything, so a document that cannot be read says nothing. */
export function readPaidOperations(body: Uint8Array): PaidOperations {
  try {
    return paidOperationsIn(JSON.parse(new TextDecoder().decode(body)))
  } catch {
    return []
  }
}

/** The operations of an OpenAPI document that have `x-payment-info`, with its offers or with the members of one. */
function paidOperationsIn(document: unknown): PaidOperations {
  if (!isJsonObject(document) || !isJsonObject(document.paths)) return []
  const bases = basesOf(document)
  const found: PaidOperation[] = []
  for (const [path, item] of Object.entries(document.paths).slice(0, MOST_PATHS)) {
    if (isJsonObject(item)) found.push(...operationsAt(path, item, bases))
    if (found.length >= MOST_OPERATIONS) break
  }
  return found.slice(0, MOST_OPERATIONS)
}

export function publishedOffers(
  operations: PaidOperations,
  { method, url }: { readonly method: string; readonly url: URL },
): readonly PublishedOffer[] {
  const path = url.pathname.split('/')
  const [best] = operations
    .filter(one => one.method === method && isPathOf(one, path))
    .sort((one, other) => parametersIn(one) - parametersIn(other))
  return best?.offers ?? []
}

const isPathOf = ({ segments }: PaidOperation, path: readonly string[]): boolean =>
  segments.length === path.length &&
  segments.every((segment, n) => (segment === null ? path[n] !== '' : segment === path[n]))

/** A path without parameters is matched before one with them. */
const parametersIn = ({ segments }: PaidOperation): number =>
  segments.filter(segment => segment === null).length

/** Only the paths of its servers count, and no host that they name: the merchant is the origin of the document. */
function basesOf({ servers }: JsonObject): readonly string[] {
  const given = Array.isArray(servers) ? servers.slice(0, MOST_SERVERS) : []
  const paths = given.flatMap((server: unknown) => {
    const url = isJsonObject(server) ? server.url : undefined
    const base = typeof url === 'string' ? URL.parse(url, 'https://origin.invalid')?.pathname : undefined
    return base === undefined || base.length > LONGEST_PATH ? [] : [base.replace(/\/$/, '')]
  })
  return paths.length > 0 ? [...new Set(paths)] : ['']
}

function operationsAt(path: string, item: JsonObject, bases: readonly string[]): PaidOperation[] {
  if (path.length > LONGEST_PATH) return []
  return METHODS.flatMap(method => {
    const operation = item[method]
    const info = isJsonObject(operation) ? operation['x-payment-info'] : undefined
    const offers = isJsonObject(info) ? offersIn(info) : []
    if (offers.length === 0) return []
    return bases.flatMap(base => {
      const names = `${base}${path}`.split('/', MOST_SEGMENTS + 1)
      if (names.length > MOST_SEGMENTS) return []
      const segments = names.map(segment => (segment.includes('{') ? null : segment))
      return [{ method: method.toUpperCase(), segments, offers }]
    })
  })
}

function offersIn(info: JsonObject): readonly PublishedOffer[] {
  const given = Array.isArray(info.offers) ? info.offers.slice(0, MOST_OFFERS) : [info]
  return given.filter(isJsonObject).map(({ method, intent, currency, amount }) => ({
    method: wordOf(method),
    intent: wordOf(intent),
    currency: wordOf(currency),
    amount: typeof amount === 'string' && /^(0|[1-9]\d{0,14})$/.test(amount) ? BigInt(amount) : null,
  }))
}

const wordOf = (value: unknown): string | undefined =>
  typeof value === 'string' && value.length <= LONGEST_WORD ? value.toLowerCase() : undefined
