import { setImmediate as nextTurn } from 'node:timers/promises'
import { describe, expect, test } from '@jest/globals'
import { z } from 'zod'
import type { ApiCall, ApiResponse } from '../../../src/kernel/contract/call.ts'
import type { Problem } from '../../../src/kernel/contract/problem.ts'
import { ClientGone } from '../../../src/kernel/contract/problem.ts'
import { serializedByOwner } from '../../../src/kernel/run/execute.ts'
import { OwnerQueue, type OwnerQueueLimits } from '../../../src/kernel/run/owner-queue.ts'
import { inTurns } from '../../../src/kernel/run/turns.ts'
import { openDatabase } from '../../../src/platform/database.ts'
import { startTestService } from '../../support/harness.ts'
import { until } from '../../support/until.ts'

const service = await startTestService()

describe('an operation whose owner has one turn', () => {
  const operation = { operation: { limits: { oneAtATime: true } }, key: 'notes.write' }
  const callOf = (ownerId: string, type = 'key') =>
    ({ operation, actor: { tenant: { ownerId, mode: 'test' }, type } }) as unknown as ApiCall

  test('runs one request at a time per owner across all processes, until a streamed answer is sent', async () => {
    const databases = [1, 2].map(() => openDatabase(service.databaseUrl, 4))
    const begun: string[] = []
    async function* pieces() {
      yield 'one'
      yield 'two'
    }
    const [here, there] = databases.map(database =>
      serializedByOwner(database, async ({ actor }) => {
        begun.push(String(actor.tenant?.ownerId))
        return { status: 200, body: pieces() }
      }),
    )
    const first = await here?.(callOf('one'))
    const waiting = [here, there].map(process => process?.(callOf('one')))
    const other = await there?.(callOf('two'))
    await there?.(callOf('one', 'process'))
    expect(begun).toEqual(['one', 'two', 'one'])
    for await (const _ of pieceBy(first)) expect(begun).toHaveLength(3)
    const next = await Promise.race(waiting)
    expect(begun).toHaveLength(4)
    for await (const _ of pieceBy(next)) expect(begun).toHaveLength(4)
    for (const outcome of await Promise.all(waiting))
      if (outcome !== next) for await (const _ of pieceBy(outcome));
    for await (const _ of pieceBy(other));
    await Promise.all(databases.map(database => database.close()))
  })

  test('leaves the connections to other owners while many calls of one wait', async () => {
    const [there, here] = [openDatabase(service.databaseUrl, 2), openDatabase(service.databaseUrl, 2)]
    const { promise, resolve } = Promise.withResolvers<ApiResponse>()
    const held = serializedByOwner(there, () => promise)(callOf('four'))
    await until('the other process has the turn', async () => (await advisoryLocks()) > 0)
    const answered: string[] = []
    const run = serializedByOwner(here, async ({ actor }) => {
      await here.pool.query('select 1')
      answered.push(String(actor.tenant?.ownerId))
      return { status: 200, body: null }
    })
    const waiting = Array.from({ length: 11 }, () => run(callOf('four')))
    for (const owner of ['five', 'six', 'seven']) await run(callOf(owner))
    expect(answered).toEqual(['five', 'six', 'seven'])
    resolve({ status: 200, body: null })
    await Promise.all([held, ...waiting])
    await Promise.all([there.close(), here.close()])
  })

  test('is refused where too many of its owner wait already, and given free by one that fails', async () => {
    const database = openDatabase(service.databaseUrl, 4)
    const { promise, reject } = Promise.withResolvers<ApiResponse>()
    const run = serializedByOwner(database, () => promise)
    const calls = Array.from({ length: 12 }, () => run(callOf('three')))
    const refused = await Promise.race(calls.map(call => call.catch((problem: Problem) => problem)))
    expect(refused).toMatchObject({
      status: 429,
      code: 'rate_limited',
      message: expect.stringMatching(/^10 of your requests are already waiting/),
      headers: { 'Retry-After': '5' },
    })
    reject(new Error('failed'))
    const outcomes = await Promise.allSettled(calls)
    expect(outcomes.map(({ status }) => status)).toEqual(Array.from({ length: 12 }, () => 'rejected'))
    await database.close()
  })
})

describe('what takes more than some milliseconds', () => {
  const list = { operation: { method: 'GET', returns: [200, z.object({})] }, key: 'notes.list' }
  const write = {
    operation: { ...list.operation, method: 'POST', limits: { inTurn: true } },
    key: 'notes.all',
  }
  const callOf = (ownerId: string, name: string, more: object = {}) =>
    ({
      operation: list,
      actor: { tenant: { ownerId, mode: 'test' }, type: 'key' },
      input: { params: {}, query: { limit: 100 }, body: {} },
      requestId: name,
      ...more,
    }) as unknown as ApiCall

  const SHORT = { params: {}, query: { limit: 20 }, body: {} }

  /** Runs calls, each of which ends when the test ends it, and notes which have begun. */
  function aRunner(limits = FEW) {
    const begun: string[] = []
    const ends = new Map<string, (answer: ApiResponse) => void>()
    const run = inTurns(
      ({ requestId }) => {
        begun.push(requestId)
        const { promise, resolve } = Promise.withResolvers<ApiResponse>()
        ends.set(requestId, resolve)
        return promise
      },
      { limits },
    )
    const end = async (name: string, body: ApiResponse['body'] = null): Promise<void> => {
      ends.get(name)?.({ status: 200, body })
      // The turn is given back in one, and the next one begins in another.
      await nextTurn()
      await nextTurn()
    }
    return { begun, run, end }
  }

  test('runs one at a time for an owner, and owners take turns', async () => {
    const { begun, run, end } = aRunner({ ...FEW, atOnce: 1 })
    const all = ['a1', 'a2', 'a3', 'b1', 'c1', 'b2'].map(name => run(callOf(name.slice(0, 1), name)))
    await nextTurn()
    expect(begun).toEqual(['a1'])
    for (let n = 0; n < all.length; n++) await end(String(begun.at(-1)))
    expect(begun).toEqual(['a1', 'a2', 'b1', 'c1', 'a3', 'b2'])
    await Promise.all(all)
  })

  test('runs where costly reads run, and a record or a write beside the other requests', async () => {
    const ran: string[] = []
    const runAt = (place: string) => async (call: ApiCall) => {
      ran.push(`${call.requestId} ${place}`)
      return { status: 200, body: null }
    }
    const run = inTurns(runAt('here'), { readCostly: runAt('apart') })
    await run(callOf('a', 'list'))
    await run(callOf('a', 'record', { input: { params: {}, query: {}, body: {} } }))
    await run(callOf('a', 'write', { operation: write }))
    await run(callOf('a', 'proof', { operation: oneAtATime(list), input: SHORT }))
    expect(ran).toEqual(['list apart', 'record here', 'write here', 'proof apart'])
  })

  test('is more than a short read, of which four of an owner run side by side and hundreds wait', async () => {
    const { begun, run, end } = aRunner()
    const names = Array.from({ length: 300 }, (_, n) => `a${n}`)
    const all = names.map(name => run(callOf('a', name, { input: SHORT })))
    await nextTurn()
    expect(begun).toEqual(names.slice(0, 4))
    const other = run(callOf('b', 'b', { input: SHORT }))
    await nextTurn()
    expect(begun.at(-1)).toBe('b')
    for (const name of [...names, 'b']) await end(name)
    expect(await Promise.all([...all, other])).toHaveLength(301)
  })

  test('runs for few owners side by side', async () => {
    const { begun, run, end } = aRunner({ ...FEW, atOnce: 2 })
    const all = ['a1', 'b1', 'c1', 'a2'].map(name => run(callOf(name.slice(0, 1), name)))
    await nextTurn()
    expect(begun).toEqual(['a1', 'b1'])
    await end('b1')
    expect(begun).toEqual(['a1', 'b1', 'c1'])
    for (const name of ['a1', 'c1', 'a2']) await end(name)
    await Promise.all(all)
  })

  const FEW: OwnerQueueLimits = { atOnceOfOne: 1, atOnce: 4, waitingOfOne: 3, waiting: 10, waitMs: 30_000 }

  test.each([
    ['a long list', {}, 1],
    ['a page', { operation: listReturning('text/html') }, 1],
    ['a file', { operation: listReturning('text/csv') }, 1],
    ['a report', { operation: { ...list, operation: { ...list.operation, isReport: true } } }, 1],
    ['a write that says so', { operation: write }, 1],
    ['a page that waits for another system', { operation: pageThatWaits() }, 2],
    [
      'a file that takes its turn across all processes',
      { operation: oneAtATime(listReturning('text/csv')) },
      2,
    ],
    ['a short list', { input: SHORT }, 2],
    ['a record', { input: { params: {}, query: {}, body: {} } }, 2],
    ['an answer that stays open', { operation: listReturning('text/event-stream', true) }, 2],
    ['a question of a page that has its turn', { hasTurn: true }, 2],
    ['work of the service itself', { actor: { tenant: { ownerId: 'a', mode: 'test' }, type: 'process' } }, 2],
    ['what belongs to no owner', { actor: { tenant: null, type: 'dash' } }, 2],
  ])('is %s', async (_, more, atOnce) => {
    const { begun, run, end } = aRunner()
    const both = ['1', '2'].map(name => run(callOf('a', name, more)))
    await nextTurn()
    expect(begun).toHaveLength(atOnce)
    for (const name of ['1', '2']) await end(name)
    await Promise.all(both)
  })

  function listReturning(mediaType: string, isEndless = false) {
    const schema = z.custom().meta({ mediaType, isEndless })
    return { ...list, operation: { ...list.operation, returns: [200, schema] } }
  }

  function oneAtATime({ operation, key }: { readonly operation: object; readonly key: string }) {
    return { operation: { ...operation, limits: { oneAtATime: true } }, key }
  }

  function pageThatWaits() {
    const page = listReturning('text/html')
    return { ...page, operation: { ...page.operation, limits: { inTurn: false } } }
  }

  test('gives a streamed answer a turn for each piece, and none to a reader who pauses', async () => {
    const { begun, run, end } = aRunner()
    const file = run(callOf('a', 'file'))
    const waiting = run(callOf('a', 'list'))
    await nextTurn()
    async function* pieces() {
      begun.push('first')
      yield '1'
      begun.push('second')
      yield '2'
    }
    await end('file', pieces())
    const reading = pieceBy(await file)[Symbol.asyncIterator]()
    const first = reading.next()
    await nextTurn()
    expect(begun).toEqual(['file', 'list'])
    await end('list')
    expect(await first).toEqual({ done: false, value: '1' })
    const another = run(callOf('a', 'another'))
    await nextTurn()
    expect(begun).toEqual(['file', 'list', 'first', 'another'])
    await end('another')
    expect(await reading.next()).toEqual({ done: false, value: '2' })
    expect((await reading.next()).done).toBe(true)
    await Promise.all([waiting, another])
  })

  test('cuts off no file that has begun, however much of its owner waits and however long', async () => {
    const { run, end } = aRunner({ ...FEW, waitMs: 1 })
    const file = run(callOf('a', 'file'))
    await nextTurn()
    async function* pieces() {
      yield '1'
    }
    await end('file', pieces())
    const list = run(callOf('a', 'list'))
    await nextTurn()
    const piece = pieceBy(await file)
      [Symbol.asyncIterator]()
      .next()
    await expect(run(callOf('a', 'late'))).rejects.toMatchObject({ status: 429 })
    await end('list')
    expect(await piece).toEqual({ done: false, value: '1' })
    await list
  })

  test('leaves the reads of others to go on beside writes that take long', async () => {
    const { begun, run, end } = aRunner({ ...FEW, atOnce: 2 })
    const writes = ['a', 'b'].map(owner => run(callOf(owner, `${owner} writes`, { operation: write })))
    const read = run(callOf('c', 'c reads'))
    await nextTurn()
    expect(begun).toContain('c reads')
    for (const name of [...begun]) await end(name)
    await Promise.all([...writes, read])
  })

  test('does not begin for a client that has left', async () => {
    const { begun, run, end } = aRunner()
    const client = new AbortController()
    const first = run(callOf('a', 'first'))
    const left = run(callOf('a', 'left', { whenGone: () => client.signal }))
    const last = run(callOf('a', 'last'))
    client.abort()
    await expect(left).rejects.toBeInstanceOf(ClientGone)
    await end('first')
    expect(begun).toEqual(['first', 'last'])
    await end('last')
    await Promise.all([first, last])
  })

  test('asks whether its client leaves only where it waits: the signal costs more than the turn', async () => {
    const { run, end } = aRunner()
    const asked: string[] = []
    const whenGone = (name: string) => () => {
      asked.push(name)
      return new AbortController().signal
    }
    const first = run(callOf('a', 'first', { whenGone: whenGone('first') }))
    const waiting = run(callOf('a', 'waiting', { whenGone: whenGone('waiting') }))
    await nextTurn()
    for (const name of ['first', 'waiting']) await end(name)
    await Promise.all([first, waiting])
    expect(asked).toEqual(['waiting'])
  })

  test('ends a streamed answer whose client has left, while it waits for its turn', async () => {
    const { run, end } = aRunner()
    const client = new AbortController()
    const file = run(callOf('a', 'file', { whenGone: () => client.signal }))
    await nextTurn()
    let isClosed = false
    async function* pieces() {
      try {
        yield '1'
        yield '2'
      } finally {
        isClosed = true
      }
    }
    await end('file', pieces())
    const reading = pieceBy(await file)[Symbol.asyncIterator]()
    await reading.next()
    const other = run(callOf('a', 'other'))
    await nextTurn()
    const second = reading.next()
    client.abort()
    await expect(second).rejects.toBeInstanceOf(ClientGone)
    expect(isClosed).toBe(true)
    await end('other')
    await other
  })

  test('is refused to an owner who has too much waiting, and to no other', async () => {
    const { begun, run, end } = aRunner(FEW)
    const names = Array.from({ length: 4 }, (_, n) => `a${n}`)
    const all = names.map(name => run(callOf('a', name)))
    await expect(run(callOf('a', 'more'))).rejects.toMatchObject({
      status: 429,
      message: expect.stringMatching(/^3 of your requests are already waiting/),
    })
    const other = run(callOf('b', 'b'))
    await nextTurn()
    expect(begun).toEqual(['a0', 'b'])
    for (const name of [...names, 'b']) await end(name)
    await Promise.all([...all, other])
  })
})

test('where too many wait, the owner with the most makes room for others', async () => {
  const queue = new OwnerQueue({ atOnceOfOne: 1, atOnce: 1, waitingOfOne: 5, waiting: 3, waitMs: 30_000 })
  const order: string[] = []
  const run = async (owner: string, name: string) => {
    const end = await queue.acquire(owner)
    order.push(name)
    await nextTurn()
    end()
  }
  const all = ['a0', 'a1', 'a2', 'a3'].map(name => run('a', name))
  const [first, second, third, last] = all.map(one =>
    one.catch((why: Problem) => `${why.status} ${why.message}`),
  )
  const others = [run('b', 'b'), run('c', 'c')]
  await expect(run('d', 'd')).rejects.toMatchObject({ status: 503, code: 'busy' })
  await expect(run('b', 'b2')).rejects.toMatchObject({ status: 429, code: 'rate_limited' })
  expect(await last).toMatch(/^429 Too many requests are waiting, 3 of them yours\./)
  expect(await third).toMatch(/^429 Too many requests are waiting, 2 of them yours\./)
  await Promise.all([first, second, ...others])
  expect(order.toSorted()).toEqual(['a0', 'a1', 'b', 'c'])
})

async function advisoryLocks(): Promise<number> {
  const [row] = await service.sql<{ count: number }>(
    `select count(*)::int as count from pg_locks l join pg_database d on d.oid = l.database
      where locktype = 'advisory' and datname = current_database()`,
  )
  return row?.count ?? 0
}

const pieceBy = (outcome: ApiResponse | undefined) => outcome?.body as AsyncIterable<string>
