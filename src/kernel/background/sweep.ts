import { addMs, clock } from '../../values/clock.ts'
import type { Areas, ExpiringRows } from '../contract/area.ts'
import { type Database, sqlOn } from '../database/prepared-sql.ts'
import { IDEMPOTENCY_RETENTION_MS } from '../journal/idempotency.ts'

const BATCH_SIZE = 1_000

const OF_THE_KERNEL: readonly ExpiringRows[] = [
  { table: 'idempotency_keys', column: 'created_at', keptMs: IDEMPOTENCY_RETENTION_MS },
  { table: 'rate_limits', column: 'resets_at', keptMs: 0 },
]

/** One statement deletes a batch of each table and counts the rows. */
const deleteExpired = (tables: readonly ExpiringRows[]): string => `
with ${tables
  .map(
    ({ table, column }, n) => `deleted_${n} as (
  delete from ${table} where ctid = any(array(
    select ctid from ${table} where ${column} < $${n + 1} order by ${column} limit ${BATCH_SIZE} for update skip locked))
  returning 1)`,
  )
  .join(', ')}
select array[${tables.map((_, n) => `(select count(*) from deleted_${n})::int`).join(', ')}] as counts`

/**
 * Deletes expired rows in small batches, so that no request waits for it, and creates the partitions of the
 * coming months. Several processes may sweep at once.
 */
export async function deleteExpiredRows({ pool }: Database, areas: Areas): Promise<void> {
  const sql = sqlOn(pool)
  const now = clock.real()
  let tables = [...OF_THE_KERNEL, ...Object.values(areas).flatMap(({ expiring }) => expiring)]
  while (tables.length > 0) {
    const ends = tables.map(({ keptMs }) => addMs(now, -keptMs))
    const [deleted] = await sql<{ counts: number[] }>(deleteExpired(tables), ends)
    tables = tables.filter((_, n) => deleted?.counts[n] === BATCH_SIZE)
  }
  await sql('select add_event_partitions()')
}
