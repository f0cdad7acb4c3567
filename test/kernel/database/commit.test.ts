import { afterAll, describe, expect, test } from '@jest/globals'
import type { Sql } from '../../../src/kernel/contract/sql.ts'
import { commit, onConnection } from '../../../src/kernel/database/connection.ts'
import { sqlOfTransaction, sqlOn } from '../../../src/kernel/database/prepared-sql.ts'
import { openDatabase } from '../../../src/platform/database.ts'
import { cloneDatabase } from '../../support/database.ts'

const database = openDatabase(await cloneDatabase(), 2)
afterAll(() => database.close())

const OPEN = 'select pg_current_xact_id()::text as id'
const ADD = "insert into tenant_clocks (owner_id, mode, offset_ms) values ($1, 'test', $2)"

/** Opens a transaction and commits it together with these statements. */
const committing = (write: (sql: Sql) => Promise<unknown>[]): Promise<void> =>
  onConnection(database, ['begin', "set local lock_timeout = '1s'"], async client => {
    const sql = sqlOfTransaction(client)
    const [opened] = await sql<{ id: string }>(OPEN)
    const pending = write(sql)
    await commit(database, client, { id: String(opened?.id), event: undefined }, pending)
  })

function circle(): object {
  const it: { self?: object } = {}
  it.self = it
  return it
}

/** Fails that many calls below the one that is waited for. */
const deep = async (fail: () => Promise<never>, calls: number): Promise<unknown> =>
  calls === 0 ? fail() : deep(fail, calls - 1)

const ownersWithClock = async (): Promise<unknown[]> =>
  (await sqlOn(database.pool)('select owner_id from tenant_clocks order by 1')).map(
    ({ owner_id }) => owner_id,
  )

describe('a commit', () => {
  test('keeps what is sent with it, and the connection serves the next transaction', async () => {
    await committing(sql => [sql(ADD, ['customer_a', 1]), sql(ADD, ['customer_b', 1])])
    await committing(sql => [sql(ADD, ['customer_c', 1])])
    expect(await ownersWithClock()).toEqual(['customer_a', 'customer_b', 'customer_c'])
  })

  test('fails with the statement that fails beside it, and keeps nothing', async () => {
    const before = await ownersWithClock()
    const failing = committing(sql => [sql(ADD, ['customer_d', 1]), sql(ADD, ['customer_e', -1])])
    await expect(failing).rejects.toMatchObject({ code: '23514' })
    expect(await ownersWithClock()).toEqual(before)
  })

  test('fails where a statement has failed before it, though nobody has looked', async () => {
    const before = await ownersWithClock()
    const undone = onConnection(database, 'begin', async client => {
      const sql = sqlOfTransaction(client)
      await Promise.allSettled([sql(ADD, ['customer_f', -1])])
      await commit(database, client, { id: '0', event: undefined })
    })
    await expect(undone).rejects.toThrow('an error before the commit has undone the transaction')
    expect(await ownersWithClock()).toEqual(before)
  })

  test.each([
    ['the values of a statement cannot be written', 'k', (sql: Sql) => sql('select $1::jsonb', [circle()])],
    ['a write throws behind others', 'l', () => deep(() => Promise.reject(new TypeError('circular')), 20)],
  ])('keeps nothing where %s, so that it is never sent', async (_, next, fails) => {
    const before = await ownersWithClock()
    const failing = committing(sql => [Promise.all([sql(ADD, ['customer_h', 1]), fails(sql)])])
    await expect(failing).rejects.toThrow('circular')
    expect(await ownersWithClock()).toEqual(before)
    await committing(sql => [sql(ADD, [`customer_${next}`, 1])])
    expect(await ownersWithClock()).toEqual([...before, `customer_${next}`])
  })

  test('tells of a statement that waited for an answer, and so came too late', async () => {
    const late = committing(sql => [sql('select 1').then(() => sql(ADD, ['customer_g', 1]))])
    await expect(late).rejects.toThrow('sent after the end of its transaction')
    expect(await ownersWithClock()).not.toContain('customer_g')
  })
})

test('a rollback is followed by nothing of the work that still runs', async () => {
  let late: Promise<unknown> | undefined
  const failing = onConnection(database, 'begin', async client => {
    const sql = sqlOfTransaction(client)
    late = sql('select 1').then(() => sql(ADD, ['customer_j', 1]))
    late.catch(() => undefined)
    throw new Error('not found')
  })
  await expect(failing).rejects.toThrow('not found')
  await expect(late).rejects.toThrow('sent after the end of its transaction')
  expect(await ownersWithClock()).not.toContain('customer_j')
})
