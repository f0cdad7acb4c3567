import type { PoolClient } from 'pg'
import type { HotHandler, Item } from './batch.ts'
import { type Call, identityOf, type Outcome } from './call.ts'
import { clock } from './clock.ts'
import type { Tenant } from './context.ts'
import { type Sql, sqlOn } from './database.ts'
import { gatherer } from './gather.ts'
import type { House } from './house.ts'
import { type Claim, claimOf, keep, lockName, lookUp, replay } from './idempotency.ts'
import { emptyJournal, type Journal, writeJournal } from './journal.ts'
import { outcomeOf } from './outcome.ts'
import { Problem } from './problem.ts'
import { asProblem, fateOf, isLost, retrying } from './transaction.ts'
import { auditOf, eventOf, isWorthAuditing, refusalOf } from './words.ts'

type Handler = HotHandler<Call['input'], unknown, string, Record<string, never>>
type Result = PromiseSettledResult<Outcome>

const BATCH = { size: 64, inFlight: 2 }
/** A row that somebody holds for longer delays its own requests, not everybody's. */
const BEGIN = `begin; set local lock_timeout = '250ms'`

const lanes = new WeakMap<House, ReturnType<typeof gatherer<Call, Outcome>>>()

/** Joins the batch that its tenant's lane is gathering. */
export function runHot(house: House, call: Call): Promise<Outcome> {
  const known = lanes.get(house)
  const gather = known ?? gatherer<Call, Outcome>(BATCH, calls => together(house, calls))
  if (!known) lanes.set(house, gather)
  return gather(`${call.operation.key}|${identityOf(call.actor.tenant, null)}`, call)
}

/** All in one transaction; where one of them spoils it, the halves by themselves, down to single requests. */
async function together(house: House, calls: readonly Call[]): Promise<Result[]> {
  try {
    return await retrying(() => commitTogether(house, calls))
  } catch (error) {
    const nobodyElsesFault = error instanceof Problem && error.code !== 'busy' && error.code !== 'unknown_reference'
    if (calls.length === 1 || nobodyElsesFault) return calls.map(() => ({ status: 'rejected', reason: error }))
    const middle = calls.length >> 1
    const halves = [calls.slice(0, middle), calls.slice(middle)]
    return (await Promise.all(halves.map(half => together(house, half)))).flat()
  }
}

async function commitTogether(house: House, calls: readonly Call[]): Promise<Result[]> {
  const client = await house.database.pool.connect()
  let broken: Error | undefined
  try {
    return await withClient(house, calls, client)
  } catch (error) {
    await client.query('rollback').catch((failure: Error) => {
      broken = failure
    })
    throw error
  } finally {
    client.release(broken)
  }
}

async function withClient(house: House, calls: readonly Call[], client: PoolClient): Promise<Result[]> {
  let roundTrips = 2
  const plainSql = sqlOn(client)
  const sql: Sql = (text, values) => {
    roundTrips++
    return plainSql(text, values)
  }
  await client.query(BEGIN)
  const { id, entries } = await open(calls, sql)
  const journal = emptyJournal()
  await decideAll(entries, sql, journal)
  await writeJournal(sql, journal)
  await commit(house, client, id)
  house.onBatch(calls[0]?.operation.key ?? '', calls.length, roundTrips)
  return entries.map(({ result }) => result as Result)
}

interface Entry {
  readonly call: Call
  readonly claim: Claim | null
  readonly now: Date
  result?: Result
}

const OPEN = `
select pg_current_xact_id()::text as id,
  coalesce((select offset_ms from tenant_clocks where owner_id = $1 and mode = $2), 0)::float8 as offset_ms,
  array(select pg_try_advisory_xact_lock(hashtextextended(name, 0))
    from unnest($3::text[]) with ordinality as l(name, n) order by n) as locked`

/** Takes the keys' locks and answers at once what has been answered before. */
async function open(calls: readonly Call[], sql: Sql): Promise<{ id: string; entries: Entry[] }> {
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
    if (entry.claim && !free.delete(lockName(entry.claim))) entry.result = rejected(new Problem('in_progress'))
  await answerKept(entries, sql)
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

async function decideAll(entries: readonly Entry[], sql: Sql, journal: Journal): Promise<void> {
  const open = entries.filter(entry => !entry.result)
  const first = open[0]
  if (!first) return
  const handler = first.call.operation.handler as Handler
  const items = open.map(itemOf)
  const state = await handler.load(items, sql)
  open.forEach((entry, index) => {
    const outcome = decide(handler, entry, items[index] as Item<Call['input']>, state, journal)
    entry.result = { status: 'fulfilled', value: outcome }
  })
  await handler.write(state, sql)
}

function decide(handler: Handler, entry: Entry, item: Item<Call['input']>, state: unknown, journal: Journal): Outcome {
  const { call, claim, now } = entry
  const { operation } = call.operation
  const before = journal.events.length
  const value = handler.decide(item, state, {
    refuse: (code, message) => refusalOf(operation, code, message),
    emit: (event: string, data: unknown) =>
      journal.events.push(
        eventOf(operation.emits ?? {}, event, data, { tenant: item.tenant, now, requestId: call.requestId }),
      ),
  })
  const outcome = outcomeOf(operation, value)
  if (isWorthAuditing(call, outcome, journal.events.slice(before))) journal.audit.push(auditOf(call, item.tenant, outcome))
  if (claim) journal.idempotency.push(keep(claim, outcome))
  return outcome
}

const itemOf = ({ call, now }: Entry): Item<Call['input']> => ({
  input: call.input,
  actor: call.actor,
  tenant: call.actor.tenant as Tenant,
  now,
})

async function commit(house: House, client: PoolClient, id: string): Promise<void> {
  try {
    await client.query('commit')
  } catch (error) {
    if (!isLost(error) || (await fateOf(house.database, id)) === 'aborted') throw asProblem(error)
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
