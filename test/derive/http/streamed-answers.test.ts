import { once } from 'node:events'
import { request } from 'node:http'
import { expect, test } from '@jest/globals'
import { areas } from '../../../src/areas.ts'
import { area } from '../../../src/kernel/contract/area.ts'
import { fileSchema } from '../../../src/kernel/contract/file.ts'
import { bindHandlers, get } from '../../../src/kernel/contract/operation.ts'
import { Problem } from '../../../src/kernel/contract/problem.ts'
import { DASHBOARD_SECRET, startTestService } from '../../support/harness.ts'
import { until } from '../../support/until.ts'

const piece = 'x'.repeat(65_536)

const reading = { pieces: 0, ended: false }

async function* endless() {
  Object.assign(reading, { pieces: 0, ended: false })
  try {
    for (; ; reading.pieces++) yield piece
  } finally {
    reading.ended = true
  }
}

async function* brokenAfter(count: number, error: Error) {
  for (let n = 0; n < count; n++) yield piece
  throw error
}

const contents: Readonly<Record<string, () => AsyncIterable<string>>> = {
  endless,
  whole: async function* () {
    yield 'one '
    yield 'två'
  },
  nothing: async function* () {},
  refused: () => brokenAfter(0, new Problem('unavailable')),
  lost: () => brokenAfter(0, Object.assign(new Error('gone'), { code: 'ECONNREFUSED' })),
  defect: () => brokenAfter(0, new Error('a defect')),
  broken: () => brokenAfter(3, new Error('in the middle')),
}

const streamsApi = {
  read: get('/streams/{name}', {
    summary: 'Content that is made while it is sent',
    callers: ['public'],
    returns: [200, fileSchema('text/plain')],
  }),
}

const streams = bindHandlers(streamsApi, {
  read: ({ params }) => ({
    type: 'text/plain; charset=utf-8',
    name: 'x.txt',
    content: contents[params.name]?.() ?? '',
  }),
})

const service = await startTestService({
  areas: { ...areas, streams: area('Streams', 'Only here.', streams) },
})
const read = (name: string, method = 'GET') => service.http(method, `/streams/${name}`)

/** A client that reads only when the test does. */
async function openSlowly(name: string) {
  const outgoing = request(`${service.url}/streams/${name}`).end()
  const [answer] = await once(outgoing, 'response')
  return { outgoing, answer }
}

test('a streamed answer arrives complete', async () => {
  const { status, text, headers } = await read('whole')
  expect([status, text, headers.get('transfer-encoding')]).toEqual([200, 'one två', 'chunked'])
  expect((await read('nothing')).text).toBe('')
})

test.each([
  ['refused', 503, 'unavailable'],
  ['lost', 503, 'unavailable'],
  ['defect', 500, 'internal'],
])(
  'a streamed answer that fails as “%s” before its first chunk is an ordinary error answer',
  async (name, status, code) => {
    const { headers, body, ...answer } = await read(name)
    expect([answer.status, headers.get('x-error-code')]).toEqual([status, code])
    expect(body).toEqual({ error: expect.any(String) })
    expect(headers.get('content-disposition')).toBeNull()
  },
)

test('a streamed answer that fails after its first chunk breaks the connection', async () => {
  await expect(read('broken')).rejects.toThrow()
  expect((await read('whole')).status).toBe(200)
})

test('a streamed answer is generated only as fast as it is read, and ends when its reader leaves', async () => {
  const { outgoing, answer } = await openSlowly('endless')
  await until('it waits for the reader', async () => {
    const before = reading.pieces
    await new Promise(resolve => setTimeout(resolve, 50))
    return reading.pieces > 0 && reading.pieces === before
  })
  expect(reading).toMatchObject({ ended: false })
  // The size of the socket buffers and little more.
  expect(reading.pieces * piece.length).toBeLessThan(20_000_000)
  answer.destroy()
  outgoing.destroy()
  await until('the reading has ended', () => reading.ended)
  await until('it is counted as left by its client', async () => {
    const { text } = await service.http('GET', '/metrics', {
      headers: { 'x-dashboard-secret': DASHBOARD_SECRET },
    })
    return /^http_requests_total\{operation="streams.read",status="499"/m.test(text)
  })
})

test('a streamed answer is not generated for HEAD', async () => {
  const { status, text } = await read('endless', 'HEAD')
  expect([status, text, reading.ended]).toEqual([200, '', true])
})
