import type { IncomingMessage, ServerResponse } from 'node:http'
import type { CachedFile } from '../../kernel/contract/file.ts'

/** Gathered while a request is at work and written in one go: ten times `setHeader` shows in a profile. */
export type Headers = Record<string, string | number>

/** What a client keeps is asked for again each time, and answered in a line; what never changes is not asked for. */
const CACHE = { forGood: 'public, max-age=31536000, immutable', asking: 'public, no-cache' } as const

/** The best of the forms that the client can unpack; nothing where it has this very one. */
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
  const encoding = preferred(asked['accept-encoding'])
  const tag = `"${cache.version}${encoding === 'identity' ? '' : `-${encoding}`}"`
  Object.assign(headers, {
    ETag: tag,
    Vary: 'Accept-Encoding',
    'Cache-Control': cache.isImmutable ? CACHE.forGood : CACHE.asking,
  })
  if (isKnown(asked, tag)) return void response.writeHead(304, withoutContent(headers)).end()
  const body = encoding === 'identity' ? content : cache[encoding]
  if (encoding !== 'identity') headers['Content-Encoding'] = encoding
  headers['Content-Length'] = Buffer.byteLength(body)
  response.writeHead(status, headers).end(body)
}

/** A comparison of validators is weak for a read: what a proxy has marked so is the same content. */
function isKnown({ 'if-none-match': asked }: IncomingMessage['headers'], tag: string): boolean {
  const known = (asked ?? '').split(',').map(one => one.trim().replace(/^W\//, ''))
  return known.includes(tag) || known.includes('*')
}

const withoutContent = ({ 'Content-Type': _, ...headers }: Headers): Headers => headers

type Encoding = 'br' | 'gzip' | 'identity'

const ENCODINGS: readonly Encoding[] = ['br', 'gzip', 'identity']

/** What the client takes, by its own weights; of those that it likes as much, the smallest. */
export function preferred(accepted = ''): Encoding {
  const weights = new Map(accepted.toLowerCase().split(',').map(weightOf))
  const weightFor = (encoding: Encoding): number =>
    weights.get(encoding) ?? (encoding === 'identity' ? LEAST : (weights.get('*') ?? 0))
  const [best = 'identity'] = ENCODINGS.toSorted((one, other) => weightFor(other) - weightFor(one))
  return weightFor(best) > 0 ? best : 'identity'
}

/** Of sending it as it is, where the client does not speak of that. */
const LEAST = 0.0001

function weightOf(part: string): [name: string, weight: number] {
  const [name = '', ...parameters] = part.split(';').map(piece => piece.trim())
  const given = parameters.find(parameter => parameter.startsWith('q='))
  return [name, given === undefined ? 1 : Number(given.slice(2)) || 0]
}
