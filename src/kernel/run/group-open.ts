import { clock } from '../../values/clock.ts'
import { type Call, endedRunProblem, type Outcome } from '../contract/call.ts'
import type { Sql } from '../contract/sql.ts'
import {
  findStoredAnswers,
  inProgress,
  lockName,
  replay,
  type ScopedKey,
  scopedKeyOf,
} from '../journal/idempotency.ts'
import type { BatchedCall, Result } from './group-decide.ts'

const OPEN = `
select pg_current_xact_id()::text as id,
  coalesce((select offset_ms from tenant_clocks where owner_id = $1 and mode = $2), 0)::float8 as offset_ms,
  array(select pg_try_advisory_xact_lock(hashtextextended(name, 0))
    from unnest($3::text[]) with ordinality as l(name, n) order by n) as locked`

/** Begins a batch: locks its idempotency keys, replays stored answers and rejects the calls that cannot run now. */
export async function openBatch(
  calls: readonly Call[],
  sql: Sql,
): Promise<{ id: string; entries: BatchedCall[] }> {
  const keys = calls.map(scopedKeyOf)
  const names = keys.filter(key => key !== null).map(lockName)
  const uniqueNames = [...new Set(names)]
  const tenant = calls[0]?.actor.tenant
  const [row] = await sql<{ id: string; offset_ms: number; locked: boolean[] }>(OPEN, [
    tenant?.ownerId ?? null,
    tenant?.mode ?? null,
    uniqueNames,
  ])
  if (!row) throw new Error('the batch could not be opened')
  const free = new Set(uniqueNames.filter((_, index) => row.locked[index]))
  const now = clock.tenant(row.offset_ms)
  const entries: BatchedCall[] = calls.map((call, index) => ({ call, key: keys[index] ?? null, now }))
  for (const entry of entries)
    if (entry.key && !free.delete(lockName(entry.key))) entry.result = rejected(inProgress())
  await replayStored(entries, sql)
  for (const entry of entries) {
    const problem = entry.result ? undefined : endedRunProblem(entry.call)
    if (problem) entry.result = rejected(problem)
  }
  return { id: row.id, entries }
}

async function replayStored(entries: readonly BatchedCall[], sql: Sql): Promise<void> {
  const claimed = entries.filter(entry => entry.key && !entry.result)
  const stored = await findStoredAnswers(
    sql,
    claimed.map(entry => entry.key as ScopedKey),
  )
  for (const entry of claimed) {
    const key = entry.key as ScopedKey
    const answer = stored.get(key)
    if (answer) entry.result = attempt(() => replay(key, answer) as Outcome)
  }
}

const rejected = (reason: unknown): Result => ({ status: 'rejected', reason })

function attempt(produce: () => Outcome): Result {
  try {
    return { status: 'fulfilled', value: produce() }
  } catch (error) {
    return rejected(error)
  }
}
