import { type Call, identityOf, type Outcome } from '../contract/call.ts'
import { Problem } from '../contract/problem.ts'
import type { Sql } from '../contract/sql.ts'
import { batcher } from '../database/batcher.ts'
import { commit, onConnection } from '../database/connection.ts'
import { sqlOfTransaction } from '../database/prepared-sql.ts'
import { retrying } from '../database/retry.ts'
import { ANY_NUMBER, emptyJournal, writeJournal } from '../journal/journal.ts'
import { decideAll, type Result } from './group-decide.ts'
import { openBatch } from './group-open.ts'
import { reactToBatch } from './group-reactions.ts'
import { announce, type Runtime } from './runtime.ts'

const BATCH = { size: 64, inFlight: 2 }
/**
 * How long a batch waits for a locked row, in milliseconds. Three earlier batches, of this process and another, may
 * hold the same hot rows. A row locked for longer delays only its own requests: each is then tried alone, hardly
 * waiting.
 */
const LOCK_TIMEOUT_MS = { batch: 3_000, single: 10 }

/** A call joins the next batch of its operation and tenant. */
export function hotRun(runtime: Runtime): (call: Call) => Promise<Outcome> {
  const batched = batcher<Call, Outcome>(BATCH, calls => runBatch(runtime, calls))
  return call => batched(`${call.operation.key}|${identityOf(call.actor.tenant, null)}`, call)
}

/** Runs the calls in one transaction; where one of them makes it fail, each in a transaction of its own. */
async function runBatch(
  runtime: Runtime,
  calls: readonly Call[],
  lockTimeoutMs = LOCK_TIMEOUT_MS.batch,
): Promise<Result[]> {
  try {
    return await retrying(() => commitBatch(runtime, calls, lockTimeoutMs))
  } catch (error) {
    const failsForAll =
      error instanceof Problem && error.code !== 'busy' && error.code !== 'unknown_reference'
    if (calls.length === 1 || failsForAll) return calls.map(() => ({ status: 'rejected', reason: error }))
    return oneByOne(runtime, calls)
  }
}

/** One after another, so that a failing batch takes no more connections than a healthy one. */
async function oneByOne(runtime: Runtime, calls: readonly Call[]): Promise<Result[]> {
  const results: Result[] = []
  for (const call of calls) results.push(...(await runBatch(runtime, [call], LOCK_TIMEOUT_MS.single)))
  return results
}

const begin = (lockTimeoutMs: number): string => `begin; set local lock_timeout = '${lockTimeoutMs}ms'`

const commitBatch = (runtime: Runtime, calls: readonly Call[], lockTimeoutMs: number): Promise<Result[]> =>
  onConnection(runtime.database, begin(lockTimeoutMs), async client => {
    let roundTrips = 2
    const plainSql = sqlOfTransaction(client)
    const sql: Sql = (text, values) => {
      roundTrips++
      return plainSql(text, values)
    }
    const { id, entries } = await openBatch(calls, sql)
    const journal = emptyJournal()
    await decideAll(entries, sql, journal, runtime.ports)
    await reactToBatch(runtime, entries, { sql, journal })
    const written = writeJournal(sql, journal)
    await commit(runtime.database, client, { id, event: journal.events[0] }, [written])
    announce(runtime, journal, await written.catch(() => ANY_NUMBER))
    runtime.onBatch(calls[0]?.operation.key ?? '', calls.length, roundTrips)
    return entries.map(({ result }) => result as Result)
  })
