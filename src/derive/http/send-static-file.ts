import type { IncomingMessage, ServerResponse } from 'node:http'
import type { CachedFile } from '../../kernel/contract/file.ts'

/** Headers are collected and written at once: ten calls of `setHeader` show in a profile. */
export type Headers = Record<string, string | number>

/** Versioned files are cached for good; others are revalidated at each use and answered 304. */
const CACHE = { forGood: 'public, max-age=31536000, immutable', asking: 'public, no-cache' } as const

/** Sends the smallest encoding that the client accepts; 304 where it has this version. */
export function sendCached(
  response: ServerResponse,
  headers: Headers,
  {
    status,
    content,
    cache,
  }: { readonly status: number; readonly content: Uint8Array | string; readonly cache: CachedFile },
): void {
  const { headers: asked } = response.req
  const wanted = preferred(asked['accept-encoding'])
  const encoding = wanted !== 'identity' && cache[wanted] ? wanted : 'identity'
  const tag = `"${cache.version}${encoding === 'identity' ? '' : `-${encoding}`}"`
  Object.assign(headers, {
    ETag: tag,
    Vary: [headers.Vary, 'Accept-Encoding'].filter(Boolean).join(', '),
    'Cache-Control': cache.isImmutable ? CACHE.forGood : CACHE.asking,
  })
  if (isKnown(asked, tag)) return void response.writeHead(304, withoutContent(headers)).end()
  const body = (encoding !== 'identity' && cache[encoding]) || content
  if (encoding !== 'identity') headers['Content-Encoding'] = encoding
  headers['Content-Length'] = Buffer.byteLength(body)
  response.writeHead(status, headers).end(body)
}

/** GET compares ETags weakly: a proxy may have marked ours as weak. */
export function isKnown({ 'if-none-match': asked }: IncomingMessage['headers'], tag: string): boolean {
  const known = (asked ?? '').split(',').map(one => one.trim().replace(/^W\//, ''))
  return known.includes(tag) || known.includes('*')
}

const withoutContent = ({ 'Content-Type': _, ...headers }: Headers): Headers => headers

type Encoding = 'br' | 'gzip' | 'identity'

const ENCODINGS: readonly Encoding[] = ['br', 'gzip', 'identity']

/** The encoding with the client's highest weight; among equals, the smallest. */
export function preferred(accepted = ''): Encoding {
  const weights = new Map(accepted.toLowerCase().split(',').map(weightOf))
  const weightFor = (encoding: Encoding): number =>
    weights.get(encoding) ?? (encoding === 'identity' ? LEAST : (weights.get('*') ?? 0))
  const [best = 'identity'] = ENCODINGS.toSorted((one, other) => weightFor(other) - weightFor(one))
  return weightFor(best) > 0 ? best : 'identity'
}

/** The weight of `identity` where the client does not name it. */
const LEAST = 0.0001

function weightOf(part: string): [name: string, weight: number] {
  const [name = '', ...parameters] = part.split(';').map(piece => piece.trim())
  const given = parameters.find(parameter => parameter.startsWith('q='))
  return [name, given === undefined ? 1 : Number(given.slice(2)) || 0]
}
