import { setImmediate as nextTurn } from 'node:timers/promises'
import { afterEach, describe, expect, test } from '@jest/globals'
import { type PoolOptions, ThreadPool } from '../../../src/platform/threads/pool.ts'
import type * as work from '../../support/thread-work.ts'
import { until } from '../../support/until.ts'

const failures: unknown[] = []
let pools: ThreadPool[] = []

function aPool(options: Partial<PoolOptions> = {}): ThreadPool {
  const pool = new ThreadPool({ onFailure: error => failures.push(error), ...options })
  pools.push(pool)
  return pool
}

afterEach(async () => {
  await Promise.all(pools.map(pool => pool.stop()))
  pools = []
})

const module = new URL('../../support/thread-work.ts', import.meta.url)
const task = (name: keyof typeof work, owner = 'one') => ({ module, name, owner })

const seenBy = () => new Int32Array(new SharedArrayBuffer(8))

async function* nothing(): AsyncGenerator<never> {}

/** An endless stream of this owner, and what has become of it in its thread. */
function counting(pool: ThreadPool, owner: string) {
  const seen = seenBy()
  const pieces = pool.stream(task('count', owner), [seen], nothing())[Symbol.asyncIterator]()
  return { seen, next: () => pieces.next(), leave: () => pieces.return?.() }
}

describe('a task', () => {
  test('has what it is given, and gives back what it returns', async () => {
    const at = new Date('2026-11-20')
    expect(await aPool().run<typeof work.double>(task('double'), { of: 21n, at })).toEqual({ of: 42n, at })
  })

  test('that throws is an error here, and the thread goes on', async () => {
    const pool = aPool()
    await expect(pool.run<typeof work.fail>(task('fail'))).rejects.toThrow('it cannot be done')
    expect(await pool.run<typeof work.variables>(task('variables'))).toEqual([])
  })

  test('sees nothing of the environment, where the secrets are', async () => {
    expect(await aPool().run<typeof work.variables>(task('variables'))).toEqual([])
  })

  test('is handed its pages one by one, when it asks for them', async () => {
    const read: string[] = []
    async function* pages() {
      for (const page of ['a', 'b', 'c']) {
        read.push(page)
        yield [page, page]
      }
    }
    const seen: string[] = []
    for await (const piece of aPool().stream(task('copy'), [null], pages())) {
      seen.push(Buffer.from(piece).toString())
      expect(read.length).toBeLessThanOrEqual(seen.length + 1)
    }
    expect(seen).toEqual(['a a', 'b b', 'c c'])
  })

  test('makes no more than is taken, and ends when nobody takes any more', async () => {
    const { seen, next, leave } = counting(aPool(), 'one')
    for (let n = 0; n < 5; n++) await next()
    expect(Atomics.load(seen, 0)).toBe(5)
    await leave()
    await until('it has ended', () => Atomics.load(seen, 1) === 1)
    expect(Atomics.load(seen, 0)).toBe(5)
  })
})

describe('of one owner', () => {
  test('one is at work at a time, beside those of others', async () => {
    const pool = aPool()
    const [first, second, other] = ['one', 'one', 'two'].map(owner => counting(pool, owner))
    await first?.next()
    const waiting = second?.next()
    await other?.next()
    expect([first, second, other].map(one => Atomics.load(one?.seen ?? seenBy(), 0))).toEqual([1, 0, 1])
    await first?.leave()
    await waiting
    expect(Atomics.load(second?.seen ?? seenBy(), 0)).toBe(1)
    await Promise.all([second?.leave(), other?.leave()])
  })

  test('so many wait and no more: the next is told so', async () => {
    const pool = aPool({ limits: { waitingOfOne: 2 } })
    const all = Array.from({ length: 4 }, () => counting(pool, 'one'))
    const [first, second, third, fourth] = all.map(({ next }) => next())
    await expect(fourth).rejects.toMatchObject({ status: 429, message: /^2 requests of yours wait/ })
    for (const [n, promise] of [first, second, third].entries()) {
      await promise
      await all[n]?.leave()
    }
  })

  test('nobody waits for ever', async () => {
    const pool = aPool({ limits: { waitMs: 20 } })
    const first = counting(pool, 'one')
    await first.next()
    await expect(counting(pool, 'one').next()).rejects.toMatchObject({
      status: 503,
      headers: { 'Retry-After': '5' },
    })
    await first.leave()
  })
})

describe('of all owners', () => {
  test('so many are at work at once, in the order in which they came', async () => {
    const pool = aPool({ limits: { atOnce: 2, waiting: 1 } })
    const [first, second, third] = ['one', 'two', 'three'].map(owner => counting(pool, owner))
    await Promise.all([first?.next(), second?.next()])
    const waiting = third?.next()
    await expect(counting(pool, 'four').next()).rejects.toMatchObject({ status: 503 })
    await second?.leave()
    expect((await waiting)?.done).toBe(false)
    await Promise.all([first?.leave(), third?.leave()])
  })

  test('a file is read though as many documents are being fetched as there may be', async () => {
    const pool = aPool({ limits: { atOnce: 1 } })
    const one = counting(pool, 'one')
    await one.next()
    expect(await pool.run<typeof work.variables>(task('variables', 'one'))).toEqual([])
    await one.leave()
  })
})

describe('what does not end', () => {
  test('is stopped after a limit, and the next one has a new thread', async () => {
    const pool = aPool({ stepLimitMs: 500 })
    await expect(pool.run<typeof work.burn>(task('burn'))).rejects.toMatchObject({
      status: 503,
      message: /took longer than/,
    })
    expect(await aPool().run<typeof work.variables>(task('variables'))).toEqual([])
  })

  test('is stopped where it takes too much memory, and the process goes on', async () => {
    failures.length = 0
    const pool = aPool({ memoryMb: 24 })
    await expect(pool.run<typeof work.hoard>(task('hoard'))).rejects.toMatchObject({ status: 503 })
    await until('its end is known', () => failures.length > 0)
    expect(failures).toEqual([expect.objectContaining({ code: 'ERR_WORKER_OUT_OF_MEMORY' })])
    expect(await pool.run<typeof work.variables>(task('variables'))).toEqual([])
  })

  test('gives its place away where its reader has stopped reading', async () => {
    const pool = aPool({ jobLimitMs: 400 })
    const asleep = counting(pool, 'one')
    await asleep.next()
    const next = counting(pool, 'one')
    // Were the place not given away, this would wait longer than a test may.
    await next.next().catch(() => undefined)
    await until('the thread has forgotten it', () => Atomics.load(asleep.seen, 1) === 1)
    await expect(asleep.next()).rejects.toMatchObject({ status: 503 })
    await next.leave()
  })
})

test('stopping the pool answers what is at work', async () => {
  const pool = aPool()
  const one = counting(pool, 'one')
  await one.next()
  await pool.stop()
  await nextTurn()
  await expect(one.next()).rejects.toMatchObject({ status: 503 })
})
