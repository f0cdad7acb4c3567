import { clock } from '../../values/clock.ts'
import { endedRunProblem } from '../contract/call.ts'
import type { Sql } from '../contract/sql.ts'
import {
  findStoredAnswers,
  inProgress,
  lockName,
  replay,
  type ScopedKey,
  scopedKeyOf,
} from '../journal/idempotency.ts'
import type { BatchedCall, Done, HotCall, Result } from './group-decide.ts'

const openingStatement = (lock: string): string => `
select pg_current_xact_id()::text as id,
  coalesce((select offset_ms from tenant_clocks where owner_id = $1 and mode = $2), 0)::float8 as offset_ms,
  array(select ${lock} from unnest($3::text[]) with ordinality as l(name, n) order by n) as locked`

const OPEN = {
  /** Does not wait for a key that another request holds. */
  refuse: openingStatement('pg_try_advisory_xact_lock(hashtextextended(name, 0))'),
  /** Waits for it: what an external system has answered must be recorded. */
  wait: openingStatement('pg_advisory_xact_lock(hashtextextended(name, 0))::text is not null'),
}

/** An earlier request with the same key has reserved and never recorded: the caller recovers what it has left. */
export const LEFT = new Error('a request with this key was left before its outcome')

/** Begins a batch: locks its idempotency keys, replays stored answers and rejects the calls that cannot run now. */
export async function openBatch(
  calls: readonly HotCall[],
  sql: Sql,
): Promise<{ id: string; entries: BatchedCall[] }> {
  const keys = calls.map(scopedKeyOf)
  const names = keys.filter(key => key !== null).map(lockName)
  const uniqueNames = [...new Set(names)].sort()
  const tenant = calls[0]?.actor.tenant
  const [row] = await sql<{ id: string; offset_ms: number; locked: boolean[] }>(
    OPEN[records(calls[0]) ? 'wait' : 'refuse'],
    [tenant?.ownerId ?? null, tenant?.mode ?? null, uniqueNames],
  )
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
    const isOwn = answer?.status === null && records(entry.call)
    if (answer && !isOwn) entry.result = attempt(() => replay(key, answer) ?? left())
  }
}

/** Whether a step records an answer: what is stored under its key is its own reservation then. */
const records = (call: HotCall | undefined): boolean => call?.step?.reserves === false

function left(): never {
  throw LEFT
}

const rejected = (reason: unknown): Result => ({ status: 'rejected', reason })

function attempt(produce: () => Done): Result {
  try {
    return { status: 'fulfilled', value: produce() }
  } catch (error) {
    return rejected(error)
  }
}
