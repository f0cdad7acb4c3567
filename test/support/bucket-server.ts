import { createHmac, hash, timingSafeEqual } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll } from '@jest/globals'

export const ACCESS = {
  filesRegion: 'eu-test-1',
  filesAccessKeyId: 'AKTEST',
  filesSecretKey: 'the-secret-of-the-store',
}
export const BUCKET = 'papers'

export type Mood = 'well' | 'away' | 'slow' | 'full'

const PAGE = 2

/**
 * An S3-compatible store: it verifies each signature (AWS Signature Version 4, in headers and in addresses),
 * stores objects whole, and lists them in pages of two.
 */
export async function startBucket() {
  const objects = new Map<string, { bytes: Buffer; at: Date }>()
  const asked: string[] = []
  const store = { mood: 'well' as Mood, objects, asked }
  const server = createServer(async (request, response) => {
    const bytes = await bytesOf(request)
    const url = new URL(request.url ?? '', `http://${request.headers.host}`)
    asked.push(`${request.method} ${url.pathname}`)
    if (store.mood === 'away') return void request.socket.destroy()
    if (store.mood === 'slow') return
    if (!isSigned(request, url)) return answer(response, 403, '<Code>SignatureDoesNotMatch</Code>')
    const [, bucket, ...names] = url.pathname.split('/')
    if (bucket !== BUCKET) return answer(response, 404, '<Code>NoSuchBucket</Code>')
    const key = names.join('/')
    if (request.method === 'PUT' && store.mood === 'full') return answer(response, 507, '<Code>Full</Code>')
    if (request.method === 'PUT') objects.set(key, { bytes, at: new Date() })
    if (request.method === 'DELETE') objects.delete(key)
    if (request.method !== 'GET') return answer(response, request.method === 'DELETE' ? 204 : 200, '')
    if (key === '') return answer(response, 200, listed(objects, url.searchParams))
    const found = objects.get(key)
    return found ? answer(response, 200, found.bytes) : answer(response, 404, '<Code>NoSuchKey</Code>')
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  afterAll(() => void server.closeAllConnections())
  afterAll(() => void server.close())
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return Object.assign(store, { url })
}

async function bytesOf(request: IncomingMessage): Promise<Buffer> {
  const pieces: Buffer[] = []
  for await (const piece of request) pieces.push(piece)
  return Buffer.concat(pieces)
}

const answer = (response: ServerResponse, status: number, body: string | Buffer): void =>
  void response.writeHead(status).end(status === 204 ? undefined : body)

function listed(objects: ReadonlyMap<string, { at: Date }>, query: URLSearchParams): string {
  const after = query.get('continuation-token') ?? ''
  const keys = [...objects.keys()]
    .filter(key => key.startsWith(query.get('prefix') ?? '') && key > after)
    .sort()
  const page = keys.slice(0, PAGE).map(key => {
    const at = objects.get(key)?.at.toISOString()
    return `<Contents><Key>${key}</Key><LastModified>${at}</LastModified></Contents>`
  })
  const next = keys.length > PAGE ? `<NextContinuationToken>${keys[PAGE - 1]}</NextContinuationToken>` : ''
  return `<ListBucketResult>${page.join('')}${next}</ListBucketResult>`
}

const escaped = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*]/g, sign => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`)

function isSigned({ method, headers }: IncomingMessage, url: URL): boolean {
  const inAddress = url.searchParams.get('X-Amz-Signature')
  const header = /^AWS4-HMAC-SHA256 Credential=([^,]+), ?SignedHeaders=([^,]+), ?Signature=(\w+)$/.exec(
    headers.authorization ?? '',
  )
  const [, credential = '', names = '', given = ''] = inAddress
    ? [
        '',
        url.searchParams.get('X-Amz-Credential') ?? '',
        url.searchParams.get('X-Amz-SignedHeaders') ?? '',
        inAddress,
      ]
    : (header ?? [])
  const at = inAddress ? (url.searchParams.get('X-Amz-Date') ?? '') : String(headers['x-amz-date'])
  const lasts = Number(url.searchParams.get('X-Amz-Expires') ?? 900)
  if (Math.abs(Date.now() - instantOf(at)) > lasts * 1_000) return false
  const query = [...url.searchParams]
    .filter(([name]) => name !== 'X-Amz-Signature')
    .map(([name, value]) => `${escaped(name)}=${escaped(value)}`)
    .sort()
    .join('&')
  const heads = names.split(';').map(name => `${name}:${String(headers[name]).trim()}\n`)
  const content = inAddress
    ? 'UNSIGNED-PAYLOAD'
    : String(headers['x-amz-content-sha256'] ?? hash('sha256', ''))
  const asked = [method, url.pathname, query, heads.join(''), names, content].join('\n')
  const [key, ...scope] = credential.split('/')
  if (
    key !== ACCESS.filesAccessKeyId ||
    scope.join('/') !== `${at.slice(0, 8)}/${ACCESS.filesRegion}/s3/aws4_request`
  )
    return false
  const signingKey = scope.reduce<string | Buffer>(
    (secret, part) => createHmac('sha256', secret).update(part).digest(),
    `AWS4${ACCESS.filesSecretKey}`,
  )
  const text = ['AWS4-HMAC-SHA256', at, scope.join('/'), hash('sha256', asked)].join('\n')
  const wanted = createHmac('sha256', signingKey).update(text).digest('hex')
  return given.length === wanted.length && timingSafeEqual(Buffer.from(given), Buffer.from(wanted))
}

/** `20261122T010203Z` */
const instantOf = (text: string): number =>
  Date.parse(text.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, '$1-$2-$3T$4:$5:$6Z'))
