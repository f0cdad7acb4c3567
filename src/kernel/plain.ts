import type { EntityManager } from '@mikro-orm/postgresql'
import type { Call, Outcome } from './call.ts'
import { clock } from './clock.ts'
import { type Sql, sqlIn } from './database.ts'
import type { House } from './house.ts'
import { type Claim, claimOf, type Kept, keep, lockName, lookUp, replay } from './idempotency.ts'
import { writeJournal } from './journal.ts'
import type { PlainHandler } from './operation.ts'
import { outcomeOf } from './outcome.ts'
import { Problem } from './problem.ts'
import { asProblem, fateOf, isLost, retrying } from './transaction.ts'
import { auditOf } from './words.ts'
import { Work } from './work.ts'

type Handler = PlainHandler<Call['input'], unknown, string, Record<string, never>>

/** A read: no transaction, no trace. */
export async function read(house: House, call: Call): Promise<Outcome> {
  const work = new Work(house, call, house.database.fork(), clock.tenant(call.actor.clockOffsetMs))
  try {
    const value = await (call.operation.handler as Handler)(call.input, work)
    return outcomeOf(call.operation.operation, value)
  } catch (error) {
    throw asProblem(error)
  }
}

/** One transaction: idempotency, handler, what other areas do about it, events, audit row, commit. */
export const runPlain = (house: House, call: Call): Promise<Outcome> =>
  transaction(house, call, async opened => {
    const replayed = opened.kept && opened.claim && replay(opened.claim, opened.kept)
    return (
      replayed || perform(house, call, opened, work => (call.operation.handler as Handler)(call.input, work))
    )
  })

export interface Opened {
  readonly em: EntityManager
  readonly sql: Sql
  readonly now: Date
  readonly claim: Claim | null
  readonly kept: Kept | undefined
}

export async function perform(
  house: House,
  call: Call,
  opened: Opened,
  handle: (work: Work) => unknown,
): Promise<Outcome> {
  const work = new Work(house, call, opened.em, opened.now)
  return settle(call, work, opened, await handle(work))
}

/** Writes what a handler leaves behind. The answer is encoded before the commit, so that a wrong one undoes all. */
export async function settle(
  call: Call,
  work: Work,
  { sql, claim }: Opened,
  value: unknown,
): Promise<Outcome> {
  await work.react()
  await work.em.flush()
  const outcome = outcomeOf(call.operation.operation, value)
  await writeJournal(sql, {
    events: work.events,
    audit: work.events.map(event => auditOf(call, event, outcome)),
    idempotency: claim ? [keep(claim, outcome)] : [],
  })
  return outcome
}

const opening = (lock: string): string => `
select pg_current_xact_id()::text as id,
  coalesce((select offset_ms from tenant_clocks where owner_id = $1 and mode = $2), 0)::float8 as offset_ms,
  $3::text is null or ${lock} as locked`

const OPEN = {
  /** A request whose key is in use is told so. */
  refuse: opening('pg_try_advisory_xact_lock(hashtextextended($3, 0))'),
  /** What must be recorded waits for its turn. */
  wait: opening('exists (select from pg_advisory_xact_lock(hashtextextended($3, 0)))'),
}

/** Opens, works, commits; tries again where another try can help. */
export const transaction = <T>(
  house: House,
  call: Call,
  work: (opened: Opened) => Promise<T>,
  whenLocked: keyof typeof OPEN = 'refuse',
): Promise<T> =>
  retrying(async () => {
    const em = house.database.fork()
    const claim = claimOf(call)
    let id: string
    let result: T
    await em.begin()
    try {
      const sql = sqlIn(em)
      const { tenant } = call.actor
      const [opened] = await sql<{ id: string; offset_ms: number; locked: boolean }>(OPEN[whenLocked], [
        tenant?.ownerId ?? null,
        tenant?.mode ?? null,
        claim && lockName(claim),
      ])
      if (!opened?.locked) throw new Problem('in_progress', undefined, { 'Retry-After': '1' })
      id = opened.id
      const kept = claim ? (await lookUp(sql, [claim])).get(claim) : undefined
      result = await work({ em, sql, now: clock.tenant(opened.offset_ms), claim, kept })
    } catch (error) {
      await em.rollback().catch(() => undefined)
      throw error
    }
    await commit(house, em, id)
    return result
  })

async function commit(house: House, em: EntityManager, id: string): Promise<void> {
  try {
    await em.commit()
  } catch (error) {
    if (!isLost(error)) throw error
    if ((await fateOf(house.database, id)) === 'aborted') throw error
  }
}
