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

  test('tells of a statement that waited for an answer, and so came too late', async () => {
    const late = committing(sql => [sql('select 1').then(() => sql(ADD, ['customer_g', 1]))])
    await expect(late).rejects.toThrow('sent after the end of its transaction')
    expect(await ownersWithClock()).not.toContain('customer_g')
  })
})
