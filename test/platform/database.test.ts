import { describe, expect, test } from '@jest/globals'
import type { PoolClient } from 'pg'
import { areas } from '../../src/areas.ts'
import type { Sql } from '../../src/kernel/contract/sql.ts'
import { commit, onConnection as inTransaction } from '../../src/kernel/database/connection.ts'
import { sqlOfTransaction, sqlOn } from '../../src/kernel/database/prepared-sql.ts'
import { socketOf } from '../../src/platform/database.ts'
import { startEngine } from '../support/engine.ts'

const { database } = (await startEngine(areas)).runtime
const { pool } = database

test('statements that need no result of each other are sent as one packet', async () => {
  const client = await pool.connect()
  const socket = socketOf(client)
  const send = socket._writev?.bind(socket)
  let packets = 0
  socket._writev = (...pieces) => {
    packets++
    send?.(...pieces)
  }
  const sql = sqlOfTransaction(client)
  await Promise.all([
    client.query('begin'),
    sql('select $1::int', [1]),
    sql('select 2'),
    client.query('commit'),
  ])
  client.release(true)
  expect(packets).toBe(1)
})

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

  test('leaves the next transaction on the same connection alone', async () => {
    for (const n of [1, 2]) {
      const rows = await inTransaction(database, null, client =>
        sqlOfTransaction(client)('select $1::int as n', [n]),
      )
      expect(rows).toEqual([{ n }])
    }
  })
})

describe('statements of a transaction that are sent together', () => {
  /** Work on a connection of its own, which may be left in a failed transaction. */
  async function onConnection<T>(work: (sql: Sql, client: PoolClient) => Promise<T>): Promise<T> {
    const client = await pool.connect()
    try {
      // Another one for each statement: the first would fail all later ones by itself.
      return await work((text, values) => sqlOfTransaction(client)(text, values), client)
    } finally {
      client.release(true)
    }
  }

  test('are answered in one go, each with its own rows, the first time and again', () =>
    onConnection(async (sql, client) => {
      let ends = 0
      const { connection } = client as unknown as { connection: { sync(): void } }
      const sync = connection.sync.bind(connection)
      connection.sync = () => {
        ends++
        sync()
      }
      for (const n of [1, 2]) {
        const rows = await Promise.all([
          sql('select $1::bigint as large, null::text as none', [n]),
          sql('select n from generate_series(1, $1::int) as n', [n]),
          sql('select where false'),
          sql('select $1::timestamptz as at', [new Date(n)]),
        ])
        expect(rows).toEqual([
          [{ large: BigInt(n), none: null }],
          Array.from({ length: n }, (_, index) => ({ n: index + 1 })),
          [],
          [{ at: new Date(n) }],
        ])
      }
      expect(ends).toBe(2)
    }))

  test('see what those before them have written', () =>
    onConnection(async sql => {
      const [, , written] = await Promise.all([
        sql('create temporary table kept (n int)'),
        sql('insert into pg_temp.kept values ($1)', [7]).catch(String),
        sql('select 1 as one'),
      ])
      expect(written).toEqual([{ one: 1 }])
      const [, rows] = await Promise.all([
        sql('update pg_temp.kept set n = n + 1'),
        sql('select n from pg_temp.kept'),
      ])
      expect(rows).toEqual([{ n: 8 }])
    }))

  test('fail with the first that fails, and the connection goes on', () =>
    onConnection(async (sql, client) => {
      const divided = 'select 1 / $1::int as result'
      const behind = 'select $1::text as behind'
      const work = async () => {
        const begun = client.query('begin')
        const results = await Promise.allSettled([
          sql('select 1 as before'),
          sql(divided, [0]),
          sql(behind, ['a']),
          sql(behind, ['b']),
        ])
        await begun
        const { command } = await client.query('commit')
        return { results, command }
      }
      for (const _ of [1, 2]) {
        const { results, command } = await work()
        expect(results[0]).toEqual({ status: 'fulfilled', value: [{ before: 1 }] })
        const failed = { status: 'rejected', reason: expect.objectContaining({ code: '22012' }) }
        expect(results.slice(1)).toEqual([failed, failed, failed])
        expect(command).toBe('ROLLBACK')
      }
      expect(await Promise.all([sql(behind, ['c']), sql(divided, [1])])).toEqual([
        [{ behind: 'c' }],
        [{ result: 1 }],
      ])
    }))

  test('do not fail with one whose values cannot be written', () =>
    onConnection(async sql => {
      const circle: { self?: object } = {}
      circle.self = circle
      const results = await Promise.allSettled([
        sql('select 1 as before'),
        sql('select $1::jsonb as circle', [circle]),
        sql('select 2 as behind'),
      ])
      expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
      expect(await sql('select $1::jsonb as circle', [{ round: false }])).toEqual([
        { circle: { round: false } },
      ])
    }))

  test('leave alone what is sent beside them', () =>
    onConnection(async (sql, client) => {
      const alone = sqlOn(client)
      const results = await Promise.allSettled([
        sql('select 1 as one'),
        alone('select 1 / $1::int as result', [0]),
        sql('select 2 as two'),
        alone('select 3 as three'),
      ])
      expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled', 'fulfilled'])
    }))

  test('fail when the connection breaks, all of them', () =>
    onConnection(async (sql, client) => {
      client.on('error', () => undefined)
      const results = Promise.allSettled([sql('select pg_sleep(60)'), sql('select 1 as behind')])
      socketOf(client).destroy()
      expect((await results).map(({ status }) => status)).toEqual(['rejected', 'rejected'])
      await expect(sql('select 2 as later')).rejects.toThrow()
    }))
})
