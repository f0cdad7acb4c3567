import { afterAll, describe, expect, test } from '@jest/globals'
import { createReference } from '../../../src/app/reference.ts'
import { areas } from '../../../src/areas.ts'
import { createRateLimit, inMemoryRequestCounter } from '../../../src/derive/http/rate-limit.ts'
import type { Problem } from '../../../src/kernel/contract/problem.ts'
import { ThreadPool } from '../../../src/platform/threads/pool.ts'
import type { Threads } from '../../../src/ports/threads.ts'
import { times } from '../../support/at-once.ts'

const { health, pages } = areas
const pool = new ThreadPool({
  limits: { waitingOfOne: 2 },
  onFailure: error => expect(error).toBeUndefined(),
})
afterAll(() => pool.stop())

/** How many characters each search sends to its thread. */
const sent: number[] = []
const threads: Threads = {
  run: (task, ...args) => {
    if (task.name === 'searchDocs') sent.push(JSON.stringify(args).length)
    return pool.run(task, ...args)
  },
  stream: (...args) => pool.stream(...args),
  feed: (...args) => pool.feed(...args),
}

const { searchDocs } = createReference({
  areas: { health, pages },
  rateLimit: createRateLimit(20, inMemoryRequestCounter()),
  threads,
  publicUrl: undefined,
  ownUrl: () => 'http://localhost:8080',
})
const search = (address: string) => searchDocs({ template: 'search', words: 'health' }, address)

describe('a search of the documentation', () => {
  test('sends the documents to a thread once, and then only queries', async () => {
    expect(await search('192.0.2.1')).toContain('<a href="/docs/')
    await times(3, () => search('192.0.2.1'))
    const [asked = 0, given = 0, ...more] = sent
    expect([asked < 100, given > 10_000]).toEqual([true, true])
    expect(more).toEqual([asked, asked, asked])
  })

  test('is refused as busy, with the time to wait, while too many others run', async () => {
    const all = await Promise.allSettled(Array.from({ length: 8 }, (_, n) => search(`192.0.2.${10 + n}`)))
    const refused = all.flatMap(one => (one.status === 'rejected' ? [one.reason as Problem] : []))
    expect(refused).toHaveLength(5)
    for (const { status, code, message, headers } of refused)
      expect({ status, code, message, headers }).toEqual({
        status: 503,
        code: 'busy',
        message: 'Too many searches of the documentation are running. Try again.',
        headers: { 'Retry-After': '5' },
      })
  })

  test('counts for its address, and not for others', async () => {
    for (let n = 0; n < 20; n++) await search('192.0.2.90')
    await expect(search('192.0.2.90')).rejects.toMatchObject({ status: 429, code: 'rate_limited' })
    expect(await search('192.0.2.91')).toContain('results for “health”')
  })
})
