import { after, clock } from '../../values/clock.ts'
import { type Database, sqlOn } from '../database/prepared-sql.ts'
import { KEPT_FOR } from '../journal/idempotency.ts'

const AT_ONCE = 5_000

const outlived = (table: string, column: string): string => `
delete from ${table} where ctid = any(array(
  select ctid from ${table} where ${column} < $1 order by ${column} limit ${AT_ONCE} for update skip locked))
returning 1`

const IDEMPOTENCY = outlived('idempotency_keys', 'created_at')
const RATE_LIMITS = outlived('rate_limits', 'resets_at')

/** Removes what has no more meaning. Small steps: nobody waits for it, and several processes may do it at once. */
export async function sweep({ pool }: Database): Promise<void> {
  const sql = sqlOn(pool)
  const until = async (statement: string, end: Date): Promise<void> => {
    const removed = await sql(statement, [end])
    if (removed.length === AT_ONCE) await until(statement, end)
  }
  await until(IDEMPOTENCY, after(clock.real(), -KEPT_FOR))
  await until(RATE_LIMITS, clock.real())
}
