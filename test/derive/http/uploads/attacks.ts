import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from '@jest/globals'
import { areas } from '../../../../src/areas.ts'
import { startTestService } from '../../../support/harness.ts'
import { exchange, rawClient, request } from '../../../support/http/raw.ts'
import { bestOf } from '../../../support/longest-turn.ts'
import { until } from '../../../support/until.ts'
import { PAPER_TABLES, papersArea } from '../../../support/uploading-noun.ts'
import { aPdf, form, lyingFiles, owner, pdfFile, send, service } from './service.ts'

const LIMIT_MS = 1_000
const MIB = 1_048_576

/** A service with little memory and short timeouts. */
const strict = await startTestService({
  areas: { ...areas, papers: papersArea },
  tables: PAPER_TABLES,
  env: { UPLOAD_MEMORY_MIB: '16' },
  patience: { bodyMs: LIMIT_MS, checkEveryMs: 20 },
})
const strictOwner = await strict.owner()

const broken = await startTestService({
  areas: { ...areas, papers: papersArea },
  tables: PAPER_TABLES,
  env: { FILES_DIR: '/dev/null/files' },
})

const memoryInUse = async (): Promise<number> => {
  const { text } = await strict.http('GET', '/metrics', {
    headers: { 'x-dashboard-secret': strict.dashboardSecret },
  })
  return Number(/^http_body_bytes (\d+)/m.exec(text)?.[1])
}

const asJson = (size: number): string =>
  `{"title":"A bill","paper":"${Buffer.from(aPdf(size)).toString('base64')}"}`

const headOf = (length: number, { key }: { key: string }, type = 'application/json'): string =>
  request('POST', '/papers', {
    Authorization: `Bearer ${key}`,
    'Content-Type': type,
    'Content-Length': String(length),
  })

describe('the event loop', () => {
  test.each([
    ['10 MiB in Base64', asJson(10 * MIB)],
    ['10 MiB that are no JSON', '['.repeat(10 * MIB)],
    ['10 MiB that are no Base64', `{"title":"A bill","paper":"${'!'.repeat(10 * MIB)}"}`],
  ])('is never held for 50 ms by %s', async (_, body) => {
    const message = headOf(Buffer.byteLength(body), owner) + body
    const longest = await bestOf(50, () => exchange(service.url, message))
    expect(longest).toBeLessThan(50)
  })
})

describe('many uploads at once', () => {
  test('of one client are all done, one after the other', async () => {
    const bodies = Array.from({ length: 4 }, (_, n) =>
      form({ title: 'many', paper: pdfFile(3 * MIB, 'a.pdf', n) }),
    )
    const sent = bodies.map(body => send(body))
    expect((await Promise.all(sent)).map(({ status }) => status)).toEqual([201, 201, 201, 201])
  })

  test('delay no large body of another kind', async () => {
    const slow = rawClient(strict.url)
    slow.socket.write(headOf(13 * MIB, strictOwner))
    await until('the memory is taken', async () => (await memoryInUse()) > 12 * MIB)
    const policy = {
      name: 'A',
      merchantAllowlist: Array.from({ length: 1_000 }, (_, n) => `Shop ${n} ${'x'.repeat(90)}`),
    }
    const { status } = await strictOwner.client.policies.create({ body: policy })
    expect(status).toBe(201)
    slow.socket.destroy()
    await until('the memory is given back', async () => (await memoryInUse()) === 0)
  })
})

test('a body that comes faster than it is read comes whole, however it ends', async () => {
  for (let n = 0; n < 12; n++) {
    const paper = Buffer.from(aPdf(3 * MIB + 41_000 * n, n)).toString('base64')
    const { status, body } = await send(JSON.stringify({ title: 'A bill', paper }), {
      'content-type': 'application/json',
    })
    expect([status, body.size]).toEqual([201, 3 * MIB + 41_000 * n])
  }
})

describe('an upload that never ends', () => {
  test('has the time that its length needs on a slow line, and no more', async () => {
    const slow = rawClient(strict.url)
    // At 125 bytes a millisecond: 200 ms more than any body has.
    slow.socket.write(headOf(25_000, strictOwner))
    const trickle = async () => {
      for (; slow.socket.writable; await sleep(20)) slow.socket.write(' ')
    }
    await Promise.all([trickle(), slow.closed])
    expect(slow.received()).toMatch(/^HTTP\/1\.1 408 .*X-Error-Code: body_too_slow/is)
    await until('the memory is given back', async () => (await memoryInUse()) === 0)
  })

  test('leaves no file, no row and no memory where its client hangs up', async () => {
    const before = lyingFiles().length
    const gone = rawClient(service.url)
    gone.socket.write(`${headOf(5 * MIB, owner, 'multipart/form-data; boundary=edge')}--edge\r\n`)
    await sleep(20)
    gone.socket.destroy()
    await gone.closed
    expect((await send(form({ title: 'taken', paper: pdfFile() }))).status).toBe(409)
    await until('nothing of it is left', () => lyingFiles().length === before)
  })
})

test('an upload that breaks off amid its file leaves nothing of what was written of it', async () => {
  const before = lyingFiles().length
  const gone = rawClient(service.url)
  const head = 'Content-Disposition: form-data; name="paper"; filename="a.pdf"\r\n\r\n%PDF-1.4'
  gone.socket.write(`${headOf(9 * MIB, owner, 'multipart/form-data; boundary=edge')}--edge\r\n${head}`)
  gone.socket.write(Buffer.alloc(4 * MIB, 'a'))
  await until('some of it is on disk', async () => lyingFiles().length > before)
  gone.socket.destroy()
  await gone.closed
  await until('it is gone', async () => lyingFiles().length === before)
  expect((await send(form({ title: 'taken', paper: pdfFile() }))).status).toBe(409)
})

test('a compressed upload is refused: what it would become is not known', async () => {
  const answer = await send(form({ title: 'A bill', paper: pdfFile() }), { 'content-encoding': 'gzip' })
  expect([answer.status, answer.code]).toEqual([415, 'unsupported_media_type'])
})

test('where the disk refuses, the upload is a 503 that says so, and nothing is kept', async () => {
  const { key } = await broken.owner()
  const response = await fetch(`${broken.url}/papers`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}` },
    body: form({ title: 'A bill', paper: pdfFile() }),
  })
  expect([response.status, response.headers.get('x-error-code')]).toEqual([503, 'files_unavailable'])
  expect(await broken.sql('select from papers')).toEqual([])
})
