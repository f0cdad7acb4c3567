import './markdown.ts'
import { createHash } from 'node:crypto'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { describe, expect, test } from '@jest/globals'
import { areas } from '../../../../src/areas.ts'
import { API_PLACES } from '../../../../src/derive/docs/api-places.ts'
import { preferredEncoding } from '../../../../src/derive/http/respond.ts'
import { buildOpenapiInSlices, openapiDocument } from '../../../../src/derive/openapi/document.ts'
import { publishedOperations } from '../../../../src/kernel/contract/area.ts'
import { eventSchemas } from '../../../../src/kernel/contract/event-types.ts'
import { runInSlices } from '../../../../src/kernel/contract/time-slices.ts'
import { service } from '../docs-service.ts'
import { all, files, pages, raw, search } from './rendered-pages.ts'

const plain = async (path: string): Promise<string> => (await raw(path)).bytes.toString()

describe('the reference', () => {
  const anchors = new Set(
    pages.flatMap(([address, { content }]) => all(content, / id="([^"]+)"/g).map(id => `${address}#${id}`)),
  )

  test('has every operation and every event on exactly one page', () => {
    const places = (id: string) => [...anchors].filter(anchor => anchor.endsWith(`#${id}`))
    const keys = publishedOperations(areas).map(({ key }) => key)
    const events = [...eventSchemas(areas).keys()].map(name => `on.${name}`)
    expect(events.filter(id => places(id).length !== 1)).toEqual([])
    expect(keys.filter(key => !files.has(`/docs/api/${key}`))).toEqual([])
  })

  test('has no broken link', () => {
    const broken = pages.flatMap(([address, { content }]) =>
      all(content, / (?:href|src)="([^"]+)"/g)
        .map(link => (link.startsWith('#') ? address + link : link))
        .filter(link => link.startsWith('/docs'))
        .filter(link => !files.has(link) && !anchors.has(link)),
    )
    expect(broken).toEqual([])
  })

  test('is searched in all operations and events, without broken entries', () => {
    const documents = JSON.parse(search.documents) as { address: string }[]
    const addresses = documents.map(({ address }) => address)
    expect(addresses.filter(address => !anchors.has(address) && !files.has(address))).toEqual([])
    expect(addresses.filter((address, n) => addresses.indexOf(address) !== n)).toEqual([])
    for (const { key } of publishedOperations(areas)) expect(addresses).toContain(`/docs/api/${key}`)
    for (const name of eventSchemas(areas).keys()) expect(addresses).toContain(`/docs/event-types#on.${name}`)
  })

  test('has each tag in one place of the console, with intents first', () => {
    const { tags } = openapiDocument(areas)
    const places = API_PLACES.flatMap(place => place.tags)
    const inUse = new Set(publishedOperations(areas).map(({ tag }) => tag))
    expect(tags.map(({ name }) => name).filter(name => inUse.has(name) && !places.includes(name))).toEqual([])
    expect(places.filter((name, n) => places.indexOf(name) !== n)).toEqual([])
    expect([API_PLACES.length, places[0]]).toEqual([7, 'Intents'])
  })

  test('begins each page of an operation with at most 60 words', () => {
    const long = pages.flatMap(([address, { content }]) => {
      const [, first = ''] = /<article class="columns">[\s\S]*?<\/p><p>([\s\S]*?)<\/p>/.exec(content) ?? []
      const words = first.replace(/<[^>]+>/g, '').split(/\s+/).length
      return words > 60 ? [`${address}: ${words}`] : []
    })
    expect(long).toEqual([])
  })

  test('names the service by its own address, also where no script runs', async () => {
    expect(await plain('/docs')).toContain(` URL=${service.url}\n`)
  })

  test('has one first-level heading on each page, and skips no level', () => {
    for (const [, { content }] of pages) {
      const levels = all(content, /<h(\d)/g).map(Number)
      expect(levels.filter(level => level === 1)).toHaveLength(1)
      expect(levels.filter((level, n) => level > (levels[n - 1] ?? 0) + 1)).toEqual([])
    }
  })

  test('has no page larger than 40 KB compressed', async () => {
    const large = pages.filter(([, { content }]) => content.length > 40_000)
    expect(large).not.toEqual([])
    for (const [address] of large) {
      const { bytes } = await raw(address, { 'accept-encoding': 'br' })
      expect(bytes.length).toBeLessThan(40_000)
    }
  })
})

const script = async (): Promise<string> => /src="([^"]+\.js)"/.exec(await plain('/docs'))?.[1] ?? ''

describe.each([
  ['/openapi.json', 'application/json; charset=utf-8', 'public, no-cache', 'Accept-Encoding'],
  ['/docs', 'text/html; charset=utf-8', 'public, no-cache', 'Accept, Accept-Encoding'],
  ['/docs/agents', 'text/html; charset=utf-8', 'public, no-cache', 'Accept, Accept-Encoding'],
  ['/docs/agents.md', 'text/markdown; charset=utf-8', 'public, no-cache', 'Accept, Accept-Encoding'],
  ['/llms-full.txt', 'text/plain; charset=utf-8', 'public, no-cache', 'Accept-Encoding'],
  ['its script', 'text/javascript; charset=utf-8', 'public, max-age=31536000, immutable', 'Accept-Encoding'],
])('%s', (name, type, cache, vary) => {
  const address = async () => (name.startsWith('/') ? name : script())

  test('is compressed as the client accepts, with Vary', async () => {
    const path = await address()
    const plainAnswer = await raw(path)
    expect(plainAnswer.headers).toMatchObject({
      'content-type': type,
      'cache-control': cache,
      vary,
    })
    expect(plainAnswer.headers['content-encoding']).toBeUndefined()
    const unpack = { br: brotliDecompressSync, gzip: gunzipSync }
    for (const encoding of ['br', 'gzip'] as const) {
      const { headers, bytes } = await raw(path, { 'accept-encoding': encoding })
      expect(headers).toMatchObject({ 'content-encoding': encoding, 'x-data-residency': 'EU' })
      expect(Number(headers['content-length'])).toBe(bytes.length)
      expect(bytes.length).toBeLessThan(plainAnswer.bytes.length / 2)
      expect(unpack[encoding](bytes).equals(plainAnswer.bytes)).toBe(true)
    }
  })

  test('is answered with 304 to a client that has it', async () => {
    const path = await address()
    const tags = new Set<string>()
    for (const encoding of ['br', 'gzip', 'identity']) {
      const accept = { 'accept-encoding': encoding }
      const { etag = '' } = (await raw(path, accept)).headers
      tags.add(etag)
      for (const validator of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
        const again = await raw(path, { ...accept, 'if-none-match': validator })
        expect([again.status, again.bytes.length, again.headers.etag]).toEqual([304, 0, etag])
        expect(again.headers).toMatchObject({ vary, 'cache-control': cache })
      }
      expect((await raw(path, { ...accept, 'if-none-match': '"other"' })).status).toBe(200)
    }
    expect(tags.size).toBe(3)
  })

  test('answers HEAD with the headers of GET and no body', async () => {
    const path = await address()
    for (const encoding of ['br', 'identity']) {
      const accept = { 'accept-encoding': encoding }
      const [received, head] = [await raw(path, accept), await raw(path, accept, 'HEAD')]
      const sameHeaders = [
        'content-type',
        'content-length',
        'content-encoding',
        'etag',
        'cache-control',
        'vary',
      ]
      expect(head.bytes.length).toBe(0)
      for (const header of sameHeaders) expect(head.headers[header]).toBe(received.headers[header])
    }
  })
})

test('the name of an asset changes with its content', async () => {
  const path = await script()
  const [, version = ''] = /-([0-9a-f]{16})\.js$/.exec(path) ?? []
  expect(
    createHash('sha256')
      .update(await plain(path))
      .digest('hex'),
  ).toContain(version)
  const other = await service.http('GET', path.replace(version, '0'.repeat(16)))
  expect([other.status, other.headers.get('cache-control'), other.body]).toEqual([
    404,
    'no-store',
    { error: expect.stringContaining('/docs') },
  ])
  expect((await service.http('GET', '/docs/nowhere')).headers.get('x-error-code')).toBe('section_not_found')
  expect((await service.http('GET', '/docs/guides/nowhere')).headers.get('x-error-code')).toBe(
    'guide_not_found',
  )
  expect((await service.http('GET', '/docs/errors/nothing')).headers.get('x-error-code')).toBe(
    'code_not_found',
  )
})

test.each([
  ['', 'identity'],
  ['gzip, deflate, br, zstd', 'br'],
  ['gzip', 'gzip'],
  ['br;q=0.5, gzip', 'gzip'],
  ['br;q=0, *', 'gzip'],
  ['*', 'br'],
  ['identity, br;q=0.5', 'identity'],
  ['deflate', 'identity'],
  ['br;q=0, gzip;q=0', 'identity'],
  ['BR', 'br'],
  ['br;q=nonsense', 'identity'],
])('for Accept-Encoding “%s” the service chooses %s', (accepted, encoding) =>
  expect(preferredEncoding(accepted)).toBe(encoding),
)

describe('the OpenAPI document', () => {
  test('is generated in slices that do not block the event loop', async () => {
    const turns: number[] = []
    let isDone = false
    const making = runInSlices(buildOpenapiInSlices(areas)).finally(() => {
      isDone = true
    })
    while (!isDone) {
      const before = process.threadCpuUsage()
      await new Promise(setImmediate)
      const { user, system } = process.threadCpuUsage(before)
      turns.push((user + system) / 1_000)
    }
    expect(await making).toEqual(openapiDocument(areas))
    const plainAnswer = turns.reduce((sum, turn) => sum + turn, 0)
    expect(Math.max(...turns)).toBeLessThan(Math.max(25, plainAnswer / 4))
  })

  test('is generated once for concurrent requests', async () => {
    const other = await service.another()
    const versions = await Promise.all(
      Array.from({ length: 5 }, async () => (await fetch(`${other}/docs/agents`)).headers.get('etag')),
    )
    expect(new Set(versions).size).toBe(1)
  })
})
