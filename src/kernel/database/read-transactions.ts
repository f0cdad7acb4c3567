import type { Sql } from '../contract/sql.ts'
import { onConnection } from './connection.ts'
import { type Database, sqlOfTransaction, sqlOn } from './prepared-sql.ts'

/** The lock's name begins with `alone` in every version that runs beside this one. */
const TRY_LOCK = `select pg_try_advisory_xact_lock(hashtextextended('alone ' || $1, 0)) as "isOurs"`

/** A long read, one at a time per name across all processes; undefined where another one holds that name. */
export const readAlone = <T>(
  database: Database,
  name: string,
  work: (sql: Sql) => Promise<T>,
): Promise<T | undefined> =>
  onConnection(database, 'begin read only', async client => {
    const sql = sqlOn(client)
    const [lock] = await sql<{ isOurs: boolean }>(TRY_LOCK, [name])
    const result = lock?.isOurs ? await work(sql) : undefined
    await client.query('commit')
    return result
  })

/** All of the work sees what was committed when its first statement began, and nothing that is committed meanwhile. */
export const readAtOneInstant = <T>(database: Database, work: (sql: Sql) => Promise<T>): Promise<T> =>
  onConnection(database, 'begin isolation level repeatable read read only', async client => {
    const result = await work(sqlOfTransaction(client))
    await client.query('commit')
    return result
  })
