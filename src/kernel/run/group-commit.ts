import { type Call, identityOf, type Outcome } from '../contract/call.ts'
import { Problem } from '../contract/problem.ts'
import type { Sql } from '../contract/sql.ts'
import { batcher } from '../database/batcher.ts'
import { commit, onConnection } from '../database/connection.ts'
import { sqlOn } from '../database/prepared-sql.ts'
import { retrying } from '../database/retry.ts'
import { emptyJournal, writeJournal } from '../journal/journal.ts'
import { decideAll, type Result } from './group-decide.ts'
import { open } from './group-open.ts'
import { reactToBatch } from './group-reactions.ts'
import { announce, type Runtime } from './runtime.ts'

const BATCH = { size: 64, inFlight: 2 }
/**
 * A row that somebody holds for longer delays its own requests, not everybody's: milliseconds. Three batches before, of
 * this process and of another, may hold the same hot rows, and on a busy machine each takes its time.
 */
const PATIENCE = { first: 3_000, alone: 10 }

/** A request joins the batch that its tenant's lane is gathering. */
export function hotRun(runtime: Runtime): (call: Call) => Promise<Outcome> {
  const batched = batcher<Call, Outcome>(BATCH, calls => together(runtime, calls))
  return call => batched(`${call.operation.key}|${identityOf(call.actor.tenant, null)}`, call)
}

/** All in one transaction; where one of them spoils it, each by itself. */
async function together(
  runtime: Runtime,
  calls: readonly Call[],
  patience = PATIENCE.first,
): Promise<Result[]> {
  try {
    return await retrying(() => commitTogether(runtime, calls, patience))
  } catch (error) {
    const nobodyElsesFault =
      error instanceof Problem && error.code !== 'busy' && error.code !== 'unknown_reference'
    if (calls.length === 1 || nobodyElsesFault)
      return calls.map(() => ({ status: 'rejected', reason: error }))
    return oneByOne(runtime, calls)
  }
}

/** In turn: a lane that is in trouble takes no more connections than one that is not. */
async function oneByOne(runtime: Runtime, calls: readonly Call[]): Promise<Result[]> {
  const results: Result[] = []
  for (const call of calls) results.push(...(await together(runtime, [call], PATIENCE.alone)))
  return results
}

const begin = (patience: number): string => `begin; set local lock_timeout = '${patience}ms'`

const commitTogether = (runtime: Runtime, calls: readonly Call[], patience: number): Promise<Result[]> =>
  onConnection(runtime.database, begin(patience), async client => {
    let roundTrips = 2
    const plainSql = sqlOn(client)
    const sql: Sql = (text, values) => {
      roundTrips++
      return plainSql(text, values)
    }
    const { id, entries } = await open(calls, sql)
    const journal = emptyJournal()
    await decideAll(entries, sql, journal, runtime.ports)
    await reactToBatch(runtime, entries, { client, sql, journal })
    const written = await writeJournal(sql, journal)
    await commit(runtime.database, client, { id, auditId: journal.audit[0]?.id })
    announce(runtime, journal, written)
    runtime.onBatch(calls[0]?.operation.key ?? '', calls.length, roundTrips)
    return entries.map(({ result }) => result as Result)
  })
