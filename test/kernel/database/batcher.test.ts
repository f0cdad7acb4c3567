import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { type BatchLimits, type BatchResult, batcher } from '../../../src/kernel/database/batcher.ts'
import { until } from '../../support/until.ts'

const fulfilled = <R>(value: R): BatchResult<R> => ({ status: 'fulfilled', value })

/** A batcher whose batches finish when the test says so. */
function pausedBatcher(limits: BatchLimits = { size: 4, inFlight: 2 }) {
  const batches: { items: readonly string[]; finish: () => void }[] = []
  const add = batcher<string, string>(limits, items => {
    const { promise, resolve } = Promise.withResolvers<BatchResult<string>[]>()
    batches.push({ items, finish: () => resolve(items.map(item => fulfilled(item.toUpperCase()))) })
    return promise
  })
  return { add, batches, sizes: () => batches.map(({ items }) => items.length) }
}

const turnEnds = () => new Promise(resolve => setImmediate(resolve))

describe('a batcher’s lane', () => {
  test('that is idle starts at the end of the turn with a batch of one', async () => {
    const { add, batches } = pausedBatcher()
    const answer = add('a', 'x')
    await turnEnds()
    expect(batches[0]?.items).toEqual(['x'])
    batches[0]?.finish()
    expect(await answer).toBe('X')
  })

  test('that is busy collects what arrives, in order, up to the size of a batch', async () => {
    const { add, batches, sizes } = pausedBatcher()
    const answers: Promise<string>[] = []
    for (const turn of ['a', 'b', 'cdefgh']) {
      answers.push(...[...turn].map(item => add('a', item)))
      await turnEnds()
    }
    expect(sizes()).toEqual([1, 1])
    batches[0]?.finish()
    await turnEnds()
    expect(batches[2]?.items).toEqual([...'cdef'])
    batches[1]?.finish()
    await turnEnds()
    expect(batches[3]?.items).toEqual([...'gh'])
    for (const { finish } of batches) finish()
    expect(await Promise.all(answers)).toEqual([...'ABCDEFGH'])
  })

  test('starts a second batch for at least half as many items; fewer wait for the next batch', async () => {
    const { add, batches } = pausedBatcher({ size: 8, inFlight: 2 })
    const all = (items: string) => Promise.all([...items].map(item => add('a', item)))
    void all('abcd')
    await turnEnds()
    void all('e')
    await turnEnds()
    expect(batches.length).toBe(1)
    void all('f')
    await turnEnds()
    expect(batches[1]?.items).toEqual(['e', 'f'])
    batches[1]?.finish()
    await turnEnds()
    void all('g')
    await turnEnds()
    expect(batches.length).toBe(2)
    batches[0]?.finish()
    await turnEnds()
    expect(batches[2]?.items).toEqual(['g'])
  })

  test('starts one batch more while the others are small, and not while they are large', async () => {
    const { add, batches, sizes } = pausedBatcher({ size: 4, inFlight: 2, spareBelow: 2 })
    for (const turn of ['a', 'b', 'c', 'defghijk']) {
      for (const item of turn) void add('a', item)
      await turnEnds()
    }
    expect(sizes()).toEqual([1, 1, 1])
    batches[0]?.finish()
    await turnEnds()
    expect(sizes()).toEqual([1, 1, 1, 4])
    batches[1]?.finish()
    await turnEnds()
    expect(sizes()).toEqual([1, 1, 1, 4])
    batches[2]?.finish()
    await turnEnds()
    expect(sizes()).toEqual([1, 1, 1, 4, 4])
  })

  test('starts another batch while one takes long', async () => {
    const { add, batches } = pausedBatcher({ size: 8, inFlight: 2 })
    for (const item of 'abcd') void add('a', item)
    await turnEnds()
    void add('a', 'e')
    await until('a batch beside it', () => batches.length === 2)
    expect(batches[1]?.items).toEqual(['e'])
  })

  test('with a minimum begins when enough items have arrived, or one has waited long', async () => {
    const { add, batches } = pausedBatcher({ size: 8, inFlight: 1, least: () => 3 })
    for (const item of 'ab') void add('a', item)
    await turnEnds()
    expect(batches.length).toBe(0)
    void add('a', 'c')
    await turnEnds()
    expect(batches[0]?.items).toEqual([...'abc'])
    void add('a', 'd')
    await new Promise(resolve => setTimeout(resolve, 60))
    batches[0]?.finish()
    await until('the one that came while it was busy', () => batches.length === 2)
    void add('a', 'e')
    await turnEnds()
    batches[1]?.finish()
    await until('the last one, for whom nobody else has come', () => batches.length === 3)
    expect(batches.map(({ items }) => items.join(''))).toEqual(['abc', 'd', 'e'])
  })

  test('waits for no other lane', async () => {
    const { add, batches } = pausedBatcher({ size: 4, inFlight: 1 })
    void add('a', 'x')
    await turnEnds()
    void add('a', 'y')
    void add('b', 'z')
    await turnEnds()
    expect(batches.map(({ items }) => items)).toEqual([['x'], ['z']])
  })

  test('starts again after it was empty', async () => {
    const { add, batches, sizes } = pausedBatcher()
    const first = add('a', 'x')
    await turnEnds()
    batches[0]?.finish()
    await first
    await turnEnds()
    void add('a', 'y')
    await turnEnds()
    expect(sizes()).toEqual([1, 1])
  })
})

describe('the result of a batched item', () => {
  test('returns each result to its caller, even if other items fail', async () => {
    const add = batcher<number, number>({ size: 8, inFlight: 1 }, async items =>
      items.map(item => (item % 2 ? fulfilled(item * 10) : { status: 'rejected', reason: `no ${item}` })),
    )
    const answers = await Promise.allSettled([1, 2, 3, 4, 5].map(item => add('a', item)))
    expect(answers.map(result => (result.status === 'fulfilled' ? result.value : result.reason))).toEqual([
      10,
      'no 2',
      30,
      'no 4',
      50,
    ])
  })

  test('is the error of its batch if the batch fails, and the lane continues', async () => {
    let broken = true
    const add = batcher<number, number>({ size: 8, inFlight: 1 }, async items => {
      if (broken) throw new Error('broken')
      return items.map(fulfilled)
    })
    const failing = await Promise.allSettled([1, 2, 3].map(item => add('a', item)))
    expect(failing.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected'])
    broken = false
    expect(await add('a', 4)).toBe(4)
  })
})

test('every batched item is processed once and gets its own result, in any order of arrival', async () => {
  const arrivals = fc.array(fc.record({ lane: fc.constantFrom('a', 'b', 'c'), pause: fc.boolean() }), {
    maxLength: 60,
  })
  const from1 = (max: number) => fc.integer({ min: 1, max })
  const limits = fc.record({ size: from1(8), inFlight: from1(3), least: from1(8) })
  await fc.assert(
    fc.asyncProperty(arrivals, limits, async (items, { size, inFlight, least }) => {
      const processed: { lane: string; index: number }[] = []
      const add = batcher<{ lane: string; index: number }, number>(
        { size, inFlight, least: () => least },
        async batch => {
          expect(batch.length).toBeLessThanOrEqual(size)
          expect(new Set(batch.map(({ lane }) => lane)).size).toBe(1)
          processed.push(...batch)
          await turnEnds()
          return batch.map(({ index }) => fulfilled(index))
        },
      )
      const answers: Promise<number>[] = []
      for (const [index, { lane, pause }] of items.entries()) {
        answers.push(add(lane, { lane, index }))
        if (pause) await turnEnds()
      }
      expect(await Promise.all(answers)).toEqual(items.map((_, index) => index))
      for (const name of ['a', 'b', 'c']) {
        const order = processed.filter(({ lane }) => lane === name).map(({ index }) => index)
        expect(order).toEqual(order.toSorted((a, b) => a - b))
      }
    }),
    { numRuns: 50 },
  )
})
