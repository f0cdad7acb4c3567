import { beforeEach, describe, expect, test } from '@jest/globals'
import pg from 'pg'
import { filesInBucket } from '../../src/adapters/files-in-bucket/files-in-bucket.ts'
import { writeSealed } from '../../src/adapters/files-in-bucket/thread.ts'
import { guardedHttp } from '../../src/adapters/guarded-http/guarded-http.ts'
import { createFileStore } from '../../src/app/files.ts'
import { sweepFiles } from '../../src/kernel/background/sweep-files.ts'
import { readSettings } from '../../src/platform/settings/settings.ts'
import { DamagedFileError } from '../../src/ports/files.ts'
import { openVault } from '../../src/ports/vault.ts'
import { ACCESS, BUCKET, startBucket } from '../support/bucket-server.ts'
import { bodyOf } from '../support/factories.ts'
import { startTestService } from '../support/harness.ts'

const bucket = await startBucket()
const env = {
  FILES_URL: bucket.url,
  FILES_BUCKET: BUCKET,
  FILES_REGION: ACCESS.filesRegion,
  FILES_ACCESS_KEY_ID: ACCESS.filesAccessKeyId,
  FILES_SECRET_KEY: ACCESS.filesSecretKey,
}
const storeWith = (more: object = {}) =>
  createFileStore(readSettings({ ...env, ...more }), openVault('7e'.repeat(32)))
const store = storeWith()
const service = await startTestService({ env })

const owner = { ownerId: 'owner_1', mode: 'test' }
const content = (size: number): Uint8Array => Uint8Array.from({ length: size }, (_, at) => (at * 7) % 251)

async function read(sha256: string, of = owner): Promise<Buffer | undefined> {
  const opened = await store.open(of, sha256)
  const pieces: Uint8Array[] = []
  for await (const piece of opened?.content ?? []) pieces.push(piece)
  return opened && Buffer.concat(pieces)
}

beforeEach(() => {
  bucket.mood = 'well'
})

describe('a file in a bucket', () => {
  test.each([1, 1_048_576, 3_200_000])(
    'of %i bytes comes back as it was, sealed in the store',
    async size => {
      const { sha256 } = await store.put(owner, content(size))
      expect((await read(sha256))?.equals(content(size))).toBe(true)
      const stored = bucket.objects.get(`owner_1/test/${sha256}`)
      const longer = Buffer.concat([content(Math.min(size, 64)), Buffer.alloc(size === 1 ? 8 : 0)])
      expect(stored?.bytes.includes(longer)).toBe(false)
      expect(await store.keptAt(owner, sha256)).toBeInstanceOf(Date)
    },
  )

  test('a file is found only by its owner, and gone once erased', async () => {
    const { sha256 } = await store.put(owner, content(99))
    expect(await read(sha256, { ownerId: 'owner_2', mode: 'test' })).toBeUndefined()
    await store.erase(owner, sha256)
    expect(await read(sha256)).toBeUndefined()
    expect(await store.keptAt(owner, sha256)).toBeUndefined()
  })

  test('a file that was altered, truncated or moved to another owner is damaged', async () => {
    const { sha256 } = await store.put(owner, content(2_000_000))
    const key = `owner_1/test/${sha256}`
    const whole = bucket.objects.get(key)?.bytes ?? Buffer.alloc(0)
    const flip = (at: number) => {
      const bytes = Buffer.from(whole)
      bytes.writeUInt8((bytes[at] ?? 0) ^ 1, at)
      return bytes
    }
    for (const bytes of [flip(3), flip(30), flip(1_500_000), flip(whole.length - 1), whole.subarray(0, -1)]) {
      bucket.objects.set(key, { bytes, at: new Date() })
      await expect(read(sha256)).rejects.toThrow(DamagedFileError)
    }
    bucket.objects.set(`owner_2/test/${sha256}`, { bytes: whole, at: new Date() })
    await expect(read(sha256, { ownerId: 'owner_2', mode: 'test' })).rejects.toThrow(DamagedFileError)
  })

  test.each([
    ['another secret', { FILES_SECRET_KEY: 'guessed' }],
    ['another key', { FILES_ACCESS_KEY_ID: 'AKOTHER' }],
    ['another region', { FILES_REGION: 'us-east-1' }],
  ])('is neither written nor read with %s: the store checks signatures', async (_, wrong) => {
    const { sha256 } = await store.put(owner, content(5))
    const stranger = storeWith(wrong)
    await expect(stranger.put(owner, content(6))).rejects.toThrow('answered 403')
    await expect(stranger.open(owner, sha256)).rejects.toThrow('answered 403')
  })

  test('wants a bucket that there is', async () => {
    await expect(storeWith({ FILES_BUCKET: 'others' }).put(owner, content(5))).rejects.toThrow(
      'no such bucket',
    )
  })

  test('times out on reads and writes if the bucket never answers', async () => {
    const options = {
      url: bucket.url,
      bucket: BUCKET,
      region: ACCESS.filesRegion,
      accessKey: ACCESS.filesAccessKeyId,
      secretKey: ACCESS.filesSecretKey,
      outbound: guardedHttp({ allow: ['127.0.0.0/8'] }),
      timeoutMs: 50,
    }
    const impatient = filesInBucket(options, openVault('7e'.repeat(32)))
    bucket.mood = 'slow'
    const { sink, named } = impatient.staging(owner)
    const arriving = writeSealed(...(sink.args as Parameters<typeof writeSealed>))
    await arriving.write(content(5))
    await arriving.end('a'.repeat(64))
    const { finish } = await named('a'.repeat(64))
    await expect(arriving.finish(...finish)).rejects.toThrow(/timeout/)
    await expect(impatient.put(owner, content(5))).rejects.toThrow('cannot be reached')
    await expect(impatient.open(owner, 'a'.repeat(64))).rejects.toThrow('cannot be reached')
  })

  test('is listed by age in all pages, and nothing else in the bucket is', async () => {
    bucket.objects.clear()
    const old = new Date('2026-01-01T00:00:00Z')
    for (const size of [1, 2, 3, 4, 5]) await store.put(owner, content(size))
    for (const object of bucket.objects.values()) object.at = old
    await store.put(owner, content(6))
    bucket.objects.set('others/data.txt', { bytes: Buffer.from('a'), at: old })
    const found: string[] = []
    for await (const { owner: of, sha256s } of store.keptBefore(new Date('2026-02-01')))
      found.push(...sha256s.map(sha256 => `${of.ownerId}/${of.mode}/${sha256}`))
    expect(found).toHaveLength(5)
    expect(found.every(key => bucket.objects.has(key))).toBe(true)
  })
})

const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)

describe('a service whose files lie in a bucket', () => {
  const upload = (client: Awaited<ReturnType<typeof service.owner>>['client']) =>
    client.receipts.create({ body: { file: PNG.toString('base64') } })

  test('stores an upload, returns it, and erases unreferenced files', async () => {
    const { client, key, ownerId } = await service.owner()
    const { id } = await bodyOf(upload(client))
    const objects = () => [...bucket.objects].filter(([name]) => name.startsWith(`${ownerId}/test/`))
    expect(objects().length).toBeGreaterThan(1)
    const headers = { authorization: `Bearer ${key}` }
    const answer = await fetch(`${service.url}/receipts/${id}/file`, { headers })
    expect(Buffer.from(await answer.arrayBuffer())).toEqual(PNG)
    expect((await client.receipts.delete({ params: { id } })).status).toBe(204)
    const pool = new pg.Pool({ connectionString: service.databaseUrl, max: 1 })
    await sweepFiles({ pool } as never, store)
    expect(objects().length).toBeGreaterThan(1)
    for (const [, object] of objects()) object.at = new Date(Date.now() - 7_200_000)
    await sweepFiles({ pool } as never, store)
    await pool.end()
    expect(objects()).toEqual([])
  })

  test.each(['away', 'full'] as const)('is a 503 while the store is %s, and nothing is half', async mood => {
    const { client, ownerId } = await service.owner()
    bucket.mood = mood
    expect(await upload(client)).toMatchObject({ status: 503, code: 'files_unavailable' })
    for (const table of ['receipts', 'stored_files'])
      expect(await service.sql(`select from ${table} where owner_id = $1`, [ownerId])).toEqual([])
    bucket.mood = 'well'
    expect((await upload(client)).status).toBe(201)
  })

  test('answers file_away while the bucket is unreachable', async () => {
    const { client, key } = await service.owner()
    const { id } = await bodyOf(upload(client))
    bucket.mood = 'away'
    const headers = { authorization: `Bearer ${key}` }
    const answer = await fetch(`${service.url}/receipts/${id}/file`, { headers })
    expect([answer.status, answer.headers.get('x-error-code')]).toEqual([503, 'file_away'])
    expect(await bodyOf(client.receipts.get({ params: { id } }))).toMatchObject({ id })
  })
})
