import { clock } from '../../values/clock.ts'
import { type Call, type Outcome, obstacleOf } from '../contract/call.ts'
import type { Sql } from '../contract/sql.ts'
import { type Claim, claimOf, inProgress, lockName, lookUp, replay } from '../journal/idempotency.ts'
import type { Entry, Result } from './group-decide.ts'

const OPEN = `
select pg_current_xact_id()::text as id,
  coalesce((select offset_ms from tenant_clocks where owner_id = $1 and mode = $2), 0)::float8 as offset_ms,
  array(select pg_try_advisory_xact_lock(hashtextextended(name, 0))
    from unnest($3::text[]) with ordinality as l(name, n) order by n) as locked`

/** Takes the keys' locks and answers at once what has been answered before. */
export async function open(calls: readonly Call[], sql: Sql): Promise<{ id: string; entries: Entry[] }> {
  const claims = calls.map(claimOf)
  const names = claims.filter(claim => claim !== null).map(lockName)
  const unique = [...new Set(names)]
  const tenant = calls[0]?.actor.tenant
  const [opened] = await sql<{ id: string; offset_ms: number; locked: boolean[] }>(OPEN, [
    tenant?.ownerId ?? null,
    tenant?.mode ?? null,
    unique,
  ])
  if (!opened) throw new Error('the batch could not be opened')
  const free = new Set(unique.filter((_, index) => opened.locked[index]))
  const now = clock.tenant(opened.offset_ms)
  const entries: Entry[] = calls.map((call, index) => ({ call, claim: claims[index] ?? null, now }))
  for (const entry of entries)
    if (entry.claim && !free.delete(lockName(entry.claim))) entry.result = rejected(inProgress())
  await answerKept(entries, sql)
  for (const entry of entries) {
    const obstacle = entry.result ? undefined : obstacleOf(entry.call)
    if (obstacle) entry.result = rejected(obstacle)
  }
  return { id: opened.id, entries }
}

async function answerKept(entries: readonly Entry[], sql: Sql): Promise<void> {
  const claimed = entries.filter(entry => entry.claim && !entry.result)
  const kept = await lookUp(
    sql,
    claimed.map(entry => entry.claim as Claim),
  )
  for (const entry of claimed) {
    const claim = entry.claim as Claim
    const found = kept.get(claim)
    if (found) entry.result = attempt(() => replay(claim, found) as Outcome)
  }
}

const rejected = (reason: unknown): Result => ({ status: 'rejected', reason })

function attempt(work: () => Outcome): Result {
  try {
    return { status: 'fulfilled', value: work() }
  } catch (error) {
    return rejected(error)
  }
}
