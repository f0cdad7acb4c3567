import { once } from 'node:events'
import { request } from 'node:http'
import { expect, test } from '@jest/globals'
import { areas } from '../../../src/areas.ts'
import { area } from '../../../src/kernel/contract/area.ts'
import { file } from '../../../src/kernel/contract/file.ts'
import { get, implement } from '../../../src/kernel/contract/operation.ts'
import { Problem } from '../../../src/kernel/contract/problem.ts'
import { startTestService } from '../../support/harness.ts'
import { until } from '../../support/until.ts'

const piece = 'x'.repeat(65_536)

/** What has become of the last reading. */
const seen = { pieces: 0, ended: false }

async function* endless() {
  Object.assign(seen, { pieces: 0, ended: false })
  try {
    for (; ; seen.pieces++) yield piece
  } finally {
    seen.ended = true
  }
}

async function* brokenAfter(count: number, error: Error) {
  for (let made = 0; made < count; made++) yield piece
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
    returns: [200, file('text/plain')],
  }),
}

const streams = implement(streamsApi, {
  read: ({ params }) => ({
    ...{ type: 'text/plain; charset=utf-8', name: 'x.txt' },
    content: contents[params.name]?.() ?? '',
  }),
})

const service = await startTestService({
  areas: { ...areas, streams: area('Streams', 'Only here.', streams) },
})
const read = (name: string, method = 'GET') => service.http(method, `/streams/${name}`)

/** A client that reads only when it is told to. */
async function slow(name: string) {
  const asking = request(`${service.url}/streams/${name}`).end()
  const [answer] = await once(asking, 'response')
  return { asking, answer }
}

test('what comes in pieces arrives whole', async () => {
  const { status, text, headers } = await read('whole')
  expect([status, text, headers.get('transfer-encoding')]).toEqual([200, 'one två', 'chunked'])
  expect((await read('nothing')).text).toBe('')
})

test.each([
  ['refused', 503, 'unavailable'],
  ['lost', 503, 'unavailable'],
  ['defect', 500, 'internal'],
])('%s before the first piece is an answer like any other', async (name, status, code) => {
  const { headers, body, ...answer } = await read(name)
  expect([answer.status, headers.get('x-error-code')]).toEqual([status, code])
  expect(body).toEqual({ error: expect.any(String) })
  expect(headers.get('content-disposition')).toBeNull()
})

test('what goes wrong in the middle cuts the connection', async () => {
  await expect(read('broken')).rejects.toThrow()
  expect((await read('whole')).status).toBe(200)
})

test('no more is made than somebody reads, and nothing when he has gone', async () => {
  const { asking, answer } = await slow('endless')
  await until('it waits for the reader', async () => {
    const before = seen.pieces
    await new Promise(resolve => setTimeout(resolve, 50))
    return seen.pieces > 0 && seen.pieces === before
  })
  expect(seen).toMatchObject({ ended: false })
  // What the two kernels hold for the sockets, and little besides.
  expect(seen.pieces * piece.length).toBeLessThan(20_000_000)
  answer.destroy()
  asking.destroy()
  await until('the reading has ended', () => seen.ended)
})

test('for HEAD nothing is made that nobody wants', async () => {
  const { status, text } = await read('endless', 'HEAD')
  expect([status, text, seen.ended]).toEqual([200, '', true])
})
