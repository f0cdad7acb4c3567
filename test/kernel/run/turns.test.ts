import { describe, expect, test } from '@jest/globals'
import type { ApiCall, ApiResponse } from '../../../src/kernel/contract/call.ts'
import type { Problem } from '../../../src/kernel/contract/problem.ts'
import { serializedByOwner } from '../../../src/kernel/run/execute.ts'
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

async function advisoryLocks(): Promise<number> {
  const [row] = await service.sql<{ count: number }>(
    `select count(*)::int as count from pg_locks l join pg_database d on d.oid = l.database
      where locktype = 'advisory' and datname = current_database()`,
  )
  return row?.count ?? 0
}

const pieceBy = (outcome: ApiResponse | undefined) => outcome?.body as AsyncIterable<string>
