import type { PoolClient } from 'pg'
import { type Call, identityOf, type Outcome } from './call.ts'
import { type Sql, sqlOn } from './database.ts'
import { decideAll, type Result } from './decide.ts'
import { gatherer } from './gather.ts'
import type { House } from './house.ts'
import { emptyJournal, writeJournal } from './journal.ts'
import { open } from './opening.ts'
import { Problem } from './problem.ts'
import { asProblem, fateOf, isLost, retrying } from './transaction.ts'

const BATCH = { size: 64, inFlight: 2 }
/** A row that somebody holds for longer delays its own requests, not everybody's. */
const BEGIN = `begin; set local lock_timeout = '250ms'`

/** A request joins the batch that its tenant's lane is gathering. */
export function hotRun(house: House): (call: Call) => Promise<Outcome> {
  const gather = gatherer<Call, Outcome>(BATCH, calls => together(house, calls))
  return call => gather(`${call.operation.key}|${identityOf(call.actor.tenant, null)}`, call)
}

/** All in one transaction; where one of them spoils it, the halves by themselves, down to single requests. */
async function together(house: House, calls: readonly Call[]): Promise<Result[]> {
  try {
    return await retrying(() => commitTogether(house, calls))
  } catch (error) {
    const nobodyElsesFault =
      error instanceof Problem && error.code !== 'busy' && error.code !== 'unknown_reference'
    if (calls.length === 1 || nobodyElsesFault)
      return calls.map(() => ({ status: 'rejected', reason: error }))
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

async function commit(house: House, client: PoolClient, id: string): Promise<void> {
  try {
    await client.query('commit')
  } catch (error) {
    if (!isLost(error) || (await fateOf(house.database, id)) === 'aborted') throw asProblem(error)
  }
}
