import { describe, expect, test } from '@jest/globals'
import { areas } from '../../src/areas.ts'
import type { Sql } from '../../src/kernel/contract/sql.ts'
import { commit, onConnection as inTransaction } from '../../src/kernel/database/connection.ts'
import { sqlOfTransaction, sqlOn } from '../../src/kernel/database/prepared-sql.ts'
import { openDatabase } from '../../src/platform/database.ts'
import { startEngine } from '../support/engine.ts'

const { databaseUrl, runtime } = await startEngine(areas)
const { database } = runtime

describe('SQL of a transaction that has ended', () => {
  const late = /after the end of its transaction.*select 'late'/

  test.each([
    ['together', sqlOfTransaction],
    ['one by one', sqlOn],
  ])('is refused when the connection is given back: sent %s', async (_, sqlFor) => {
    const sql = await inTransaction(database, 'begin', async client => {
      const sql = sqlFor(client)
      await sql('select 1')
      await client.query('commit')
      return sql
    })
    await expect(sql(`select 'late'`)).rejects.toThrow(late)
  })

  test('is refused once the commit is sent, and after a failure', async () => {
    await inTransaction(database, 'begin', async client => {
      const sql = sqlOfTransaction(client)
      const [{ id } = { id: '' }] = await sql<{ id: string }>('select pg_current_xact_id()::text as id')
      const committed = commit(database, client, { id, event: undefined })
      await expect(sql(`select 'late'`)).rejects.toThrow(late)
      await committed
    })
    let kept: Sql | undefined
    const failing = inTransaction(database, 'begin', client => {
      kept = sqlOfTransaction(client)
      return kept('select 1 / 0')
    })
    await expect(failing).rejects.toThrow('division by zero')
    await expect(kept?.(`select 'late'`)).rejects.toThrow(late)
  })

  test('has been sent before the next transaction on the same connection begins', async () => {
    const own = openDatabase(databaseUrl, 1)
    await own.pool.query('create temporary table kept (n int)')
    let late: Promise<unknown> | undefined
    const first = inTransaction(own, null, async client => {
      late = sqlOfTransaction(client)('insert into pg_temp.kept values (1)')
    })
    const second = inTransaction(own, 'begin', () => Promise.reject(new Error('undone')))
    await expect(second).rejects.toThrow('undone')
    await Promise.all([first, late])
    expect(await sqlOn(own.pool)('select n from pg_temp.kept')).toEqual([{ n: 1 }])
    await own.close()
  })

  test('leaves the next transaction on the same connection alone', async () => {
    for (const n of [1, 2]) {
      const rows = await inTransaction(database, null, client =>
        sqlOfTransaction(client)('select $1::int as n', [n]),
      )
      expect(rows).toEqual([{ n }])
    }
  })
})
