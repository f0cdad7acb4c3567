import { setImmediate as nextTurn } from 'node:timers/promises'
import { afterEach, describe, expect, test } from '@jest/globals'
import { ThreadPool, type ThreadPoolOptions } from '../../../src/platform/threads/pool.ts'
import type * as work from '../../support/thread-work.ts'
import { until } from '../../support/until.ts'

const failures: unknown[] = []
let pools: ThreadPool[] = []

function aPool(options: Partial<ThreadPoolOptions> = {}): ThreadPool {
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

const newCounters = () => new Int32Array(new SharedArrayBuffer(8))

async function* noPages(): AsyncGenerator<never> {}

/** An endless stream of this owner, and the counters of its thread. */
function startCounting(pool: ThreadPool, owner: string) {
  const counters = newCounters()
  const pieces = pool.stream(task('count', owner), [counters], noPages())[Symbol.asyncIterator]()
  return { counters, next: () => pieces.next(), leave: () => pieces.return?.() }
}

describe('a task in a thread', () => {
  test('receives its arguments and returns its result', async () => {
    const at = new Date('2026-11-20')
    expect(await aPool().run<typeof work.double>(task('double'), { of: 21n, at })).toEqual({ of: 42n, at })
  })

  test('that throws rejects, and the thread serves the next task', async () => {
    const pool = aPool()
    await expect(pool.run<typeof work.fail>(task('fail'))).rejects.toThrow('it cannot be done')
    expect(await pool.run<typeof work.environmentNames>(task('environmentNames'))).toEqual([])
  })

  test('sees no environment variables, where secrets might be', async () => {
    expect(await aPool().run<typeof work.environmentNames>(task('environmentNames'))).toEqual([])
  })

  test('receives its pages one by one, as it asks for them', async () => {
    const requestedPages: string[] = []
    async function* pages() {
      for (const page of ['a', 'b', 'c']) {
        requestedPages.push(page)
        yield [page, page]
      }
    }
    const counters: string[] = []
    for await (const piece of aPool().stream(task('copy'), [null], pages())) {
      counters.push(Buffer.from(piece).toString())
      expect(requestedPages.length).toBeLessThanOrEqual(counters.length + 1)
    }
    expect(counters).toEqual(['a a', 'b b', 'c c'])
  })

  test('generates only as much as is read, and ends when its reader leaves', async () => {
    const { counters, next, leave } = startCounting(aPool(), 'one')
    for (let n = 0; n < 5; n++) await next()
    expect(Atomics.load(counters, 0)).toBe(5)
    await leave()
    await until('it has ended', () => Atomics.load(counters, 1) === 1)
    expect(Atomics.load(counters, 0)).toBe(5)
  })
})

describe('the tasks of one owner', () => {
  test('run one at a time, beside those of other owners', async () => {
    const pool = aPool()
    const [first, second, other] = ['one', 'one', 'two'].map(owner => startCounting(pool, owner))
    await first?.next()
    const waiting = second?.next()
    await other?.next()
    expect([first, second, other].map(stream => Atomics.load(stream?.counters ?? newCounters(), 0))).toEqual([
      1, 0, 1,
    ])
    await first?.leave()
    await waiting
    expect(Atomics.load(second?.counters ?? newCounters(), 0)).toBe(1)
    await Promise.all([second?.leave(), other?.leave()])
  })

  test('may wait up to a number; a further one is refused', async () => {
    const pool = aPool({ limits: { waitingOfOne: 2 } })
    const all = Array.from({ length: 4 }, () => startCounting(pool, 'one'))
    const [first, second, third, fourth] = all.map(({ next }) => next())
    await expect(fourth).rejects.toMatchObject({ status: 429, message: /^2 requests of yours wait/ })
    for (const [n, promise] of [first, second, third].entries()) {
      await promise
      await all[n]?.leave()
    }
  })

  test('wait for a limited time', async () => {
    const pool = aPool({ limits: { waitMs: 20 } })
    const first = startCounting(pool, 'one')
    await first.next()
    await expect(startCounting(pool, 'one').next()).rejects.toMatchObject({
      status: 429,
      message: expect.stringMatching(/behind your other requests/),
      headers: { 'Retry-After': '5' },
    })
    await first.leave()
  })
})

describe('the tasks of all owners', () => {
  test('run up to a number at once, in the order of arrival', async () => {
    const pool = aPool({ limits: { atOnce: 2, waiting: 1 } })
    const [first, second, third] = ['one', 'two', 'three'].map(owner => startCounting(pool, owner))
    await Promise.all([first?.next(), second?.next()])
    const waiting = third?.next()
    await expect(startCounting(pool, 'four').next()).rejects.toMatchObject({ status: 503 })
    await second?.leave()
    expect((await waiting)?.done).toBe(false)
    await Promise.all([first?.leave(), third?.leave()])
  })

  test('take turns: an owner with many tasks delays another by one', async () => {
    const pool = aPool({ limits: { atOnce: 1 } })
    const first = startCounting(pool, 'one')
    await first.next()
    const tasks = ['one', 'one', 'two'].map(owner => startCounting(pool, owner))
    const begun: number[] = []
    const steps = tasks.map(async ({ next }, at) => {
      await next()
      begun.push(at)
    })
    await first.leave()
    for (const at of [0, 2, 1]) {
      await steps[at]
      await tasks[at]?.leave()
    }
    expect(begun).toEqual([0, 2, 1])
  })

  test('that are short run even while all streams are in use', async () => {
    const pool = aPool({ limits: { atOnce: 1 } })
    const stream = startCounting(pool, 'one')
    await stream.next()
    expect(await pool.run<typeof work.environmentNames>(task('environmentNames', 'one'))).toEqual([])
    await stream.leave()
  })
})

describe('a task that does not end', () => {
  test('is stopped at the time limit, and the next task has a new thread', async () => {
    const pool = aPool({ stepLimitMs: 500 })
    await expect(pool.run<typeof work.loopForever>(task('loopForever'))).rejects.toMatchObject({
      status: 503,
      message: /took longer than/,
    })
    expect(await aPool().run<typeof work.environmentNames>(task('environmentNames'))).toEqual([])
  })

  test('is stopped at the memory limit, and the process goes on', async () => {
    failures.length = 0
    const pool = aPool({ memoryMb: 24 })
    await expect(pool.run<typeof work.exhaustMemory>(task('exhaustMemory'))).rejects.toMatchObject({
      status: 503,
    })
    await until('its end is known', () => failures.length > 0)
    expect(failures).toEqual([expect.objectContaining({ code: 'ERR_WORKER_OUT_OF_MEMORY' })])
    expect(await pool.run<typeof work.environmentNames>(task('environmentNames'))).toEqual([])
  })

  test('as a stream loses its slot when its reader stops reading', async () => {
    const pool = aPool({ jobLimitMs: 1_000 })
    // On a busy machine a thread takes longer than the limit to start.
    const hasThread = () =>
      pool.run<typeof work.environmentNames>(task('environmentNames')).then(
        () => true,
        () => false,
      )
    await until('a thread to have started', hasThread)
    const notReading = startCounting(pool, 'one')
    await notReading.next()
    const next = startCounting(pool, 'one')
    // Without the released slot, this would wait longer than the test's time limit.
    await next.next().catch(() => undefined)
    await until('the thread has forgotten it', () => Atomics.load(notReading.counters, 1) === 1)
    await expect(notReading.next()).rejects.toMatchObject({ status: 503 })
    // On a busy machine the limit has stopped this one, too.
    await next.leave()?.catch(() => undefined)
  })
})

test('stopping the pool answers the tasks under way', async () => {
  const pool = aPool()
  const stream = startCounting(pool, 'one')
  await stream.next()
  await pool.stop()
  await nextTurn()
  await expect(stream.next()).rejects.toMatchObject({ status: 503 })
})

describe('a job that is fed', () => {
  const fed = async (pool: ThreadPool, isOpen = true) => {
    const gate = newCounters()
    Atomics.store(gate, 0, isOpen ? 1 : 0)
    const open = () => {
      Atomics.store(gate, 0, 1)
      Atomics.notify(gate, 0)
    }
    return { open, feed: await pool.feed(task('weigh'), [gate], noPages()) }
  }

  test('gets all bytes in order of their coming, however they are cut', async () => {
    const { feed } = await fed(aPool())
    for (const size of [1, 0, 65_535, 300_000, 2_000_000]) await feed.add(new Uint8Array(size).fill(1))
    feed.end()
    expect(await feed.next()).toBe('2365536 bytes, 2365536')
    expect(await feed.next()).toBeUndefined()
    feed.close()
  })

  test('has the sender wait once a few buffers are full', async () => {
    const { feed, open } = await fed(aPool(), false)
    let [added, isBehind] = [0, undefined as Promise<void> | undefined]
    for (; !isBehind && added < 100; added++) isBehind = feed.add(new Uint8Array(65_536).fill(1))
    expect(added).toBeLessThan(20)
    open()
    await isBehind
    feed.end()
    expect(await feed.next()).toBe(`${added * 65_536} bytes, ${added * 65_536}`)
    feed.close()
  })

  test('hears that the rest does not come', async () => {
    const { feed } = await fed(aPool())
    await feed.add(new Uint8Array(100_000))
    feed.breakOff()
    expect(await feed.next()).toBe('The rest has not come.')
    feed.close()
  })

  test('may be one of eight of its owner, and the ninth waits for one of them to end', async () => {
    const pool = aPool()
    const feeds = await Promise.all(Array.from({ length: 8 }, () => fed(pool)))
    const ninth = fed(pool)
    expect(await Promise.race([ninth, nextTurn('it waits')])).toBe('it waits')
    feeds[0]?.feed.close()
    ;(await ninth).feed.close()
    for (const { feed } of feeds) feed.close()
  })

  test('ends with its thread: nobody waits for room in vain', async () => {
    const pool = aPool()
    const { feed } = await fed(pool, false)
    let isBehind: Promise<void> | undefined
    while (!isBehind) isBehind = feed.add(new Uint8Array(65_536))
    void pool.stop()
    await expect(isBehind).rejects.toMatchObject({ code: 'busy' })
  })
})
