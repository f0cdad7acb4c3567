import { after, clock } from '../../values/clock.ts'
import type { Areas } from '../contract/area.ts'
import { type Database, sqlOn } from '../database/prepared-sql.ts'
import { RETENTION_MS } from '../journal/idempotency.ts'

const BATCH_SIZE = 5_000

const deleteExpired = (table: string, column: string): string => `
delete from ${table} where ctid = any(array(
  select ctid from ${table} where ${column} < $1 order by ${column} limit ${BATCH_SIZE} for update skip locked))
returning 1`

const IDEMPOTENCY = deleteExpired('idempotency_keys', 'created_at')
const RATE_LIMITS = deleteExpired('rate_limits', 'resets_at')

/**
 * Deletes expired rows in small batches, so that no request waits for it, and creates the partitions of the
 * coming months. Several processes may sweep at once.
 */
export async function sweep({ pool }: Database, areas: Areas): Promise<void> {
  const sql = sqlOn(pool)
  const deleteBefore = async (statement: string, end: Date): Promise<void> => {
    const removed = await sql(statement, [end])
    if (removed.length === BATCH_SIZE) await deleteBefore(statement, end)
  }
  await deleteBefore(IDEMPOTENCY, after(clock.real(), -RETENTION_MS))
  await deleteBefore(RATE_LIMITS, clock.real())
  for (const { table, column, keptMs } of Object.values(areas).flatMap(({ expiring }) => expiring))
    await deleteBefore(deleteExpired(table, column), after(clock.real(), -keptMs))
  await sql('select add_event_partitions()')
}
