import { afterAll, describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import pg from 'pg'
import type { Tenant } from '../../../src/kernel/contract/actor.ts'
import type { JournalPosition, StreamedEvent } from '../../../src/kernel/contract/follow.ts'
import { sqlOn } from '../../../src/kernel/database/prepared-sql.ts'
import { JournalFollower } from '../../../src/kernel/journal/follow.ts'
import { positionAfterEvent, readJournalHorizon } from '../../../src/kernel/journal/journal-position.ts'
import { openDatabase } from '../../../src/platform/database.ts'
import { newId } from '../../../src/values/ids.ts'
import { cloneDatabase } from '../../support/database.ts'
import { until } from '../../support/until.ts'
import { INSERT, openTransaction } from './journal-rows.ts'

const databaseUrl = await cloneDatabase()
const database = openDatabase(databaseUrl, 6)
const writers = new pg.Pool({ connectionString: databaseUrl, max: 12 })
afterAll(async () => {
  await writers.end()
  await database.close()
})
const sql = sqlOn(database.pool)

const tenants: readonly Tenant[] = [
  { ownerId: 'customer_a', mode: 'test' },
  { ownerId: 'customer_a', mode: 'live' },
  { ownerId: 'customer_b', mode: 'test' },
]

/** The writes of one process: consecutive transactions, each with its events and its end. */
const process = fc.array(
  fc.record({
    owners: fc.array(fc.nat(tenants.length - 1), { maxLength: 4 }),
    pauses: fc.array(fc.nat(2), { minLength: 2, maxLength: 2 }),
    isUndone: fc.nat(5).map(n => n === 0),
  }),
  { maxLength: 6 },
)

type Transactions = typeof process extends fc.Arbitrary<infer T> ? T : never

/** A few turns of the event loop and of PostgreSQL, in which others write. */
async function pass(turns: number): Promise<void> {
  for (let n = 0; n < turns; n++) await writers.query('select pg_sleep(0.002)')
}

type Written = Map<Tenant, Set<string>>

/** Ids are created before the transaction begins, as late commits have early ids. */
async function write(transactions: Transactions, written: Written): Promise<void> {
  for (const { owners, pauses, isUndone } of transactions) {
    const rows = owners.map(n => ({ tenant: tenants[n] as Tenant, id: newId('event') }))
    const client = await writers.connect()
    await client.query('begin')
    await client.query('select pg_current_xact_id()')
    await pass(pauses[0] ?? 0)
    for (const { tenant, id } of rows) await client.query(INSERT, [id, tenant.ownerId, tenant.mode, null])
    await pass(pauses[1] ?? 0)
    await client.query(isUndone ? 'rollback' : 'commit')
    client.release()
    if (!isUndone) for (const { tenant, id } of rows) written.get(tenant)?.add(id)
  }
}

interface Reader {
  readonly ids: string[]
  stop(): void
}

/** Reads a tenant's events, with an optional pause. */
function follow(follower: JournalFollower, tenant: Tenant, from: JournalPosition, slowness: number): Reader {
  const ids: string[] = []
  const ending = new AbortController()
  const read = async (): Promise<void> => {
    const isWanted = (_: StreamedEvent) => true
    for await (const events of follower.follow({
      tenant,
      from,
      isWanted,
      ending: ending.signal,
      silenceMs: 60_000,
    })) {
      ids.push(...events.map(({ id }) => id))
      await pass(slowness)
    }
  }
  void read()
  return { ids, stop: () => ending.abort() }
}

const anyRun = fc.record({
  processes: fc.array(process, { minLength: 3, maxLength: 6 }),
  slowness: fc.array(fc.nat(3), { minLength: 6, maxLength: 6 }),
})

describe('the journal, followed while several processes write in transactions of any length', () => {
  test('gives every committed event once, in one order for all, also to those who resume anywhere', async () => {
    await fc.assert(
      fc.asyncProperty(anyRun, async ({ processes, slowness }) => {
        const failures: unknown[] = []
        const times = { pollMs: 30, betweenMs: 1, hurriedMs: 1, betweenManyMs: 1, heldBackMs: 8 }
        const newFollower = () =>
          new JournalFollower({
            sql,
            times,
            onEvents: () => undefined,
            onFailure: error => failures.push(error),
          })
        const [one, other] = [newFollower(), newFollower()]
        const written: Written = new Map(tenants.map(tenant => [tenant, new Set()]))
        const from = await readJournalHorizon(sql)
        // Two reading processes, each with a reader of each tenant.
        const readers = tenants.map((tenant, n) => ({
          tenant,
          all: [
            follow(one, tenant, from, slowness[n] ?? 0),
            follow(other, tenant, from, slowness[n + 3] ?? 0),
          ],
        }))
        await Promise.all(processes.map(transactions => write(transactions, written)))
        for (const { tenant, all } of readers) {
          const expected = [...(written.get(tenant) ?? [])]
          for (const { ids } of all) await until('all events have come', () => ids.length >= expected.length)
          const [first = { ids: [] }, second] = all
          expect(first.ids.toSorted()).toEqual(expected.toSorted())
          expect(second?.ids).toEqual(first.ids)
          const middle = Math.floor(first.ids.length / 2)
          const last = first.ids[middle]
          if (last === undefined) continue
          const resumed = await positionAfterEvent(sql, last, { tenant, agentId: null, delegationId: null })
          const late = follow(one, tenant, resumed as JournalPosition, 0)
          await until('the rest has come', () => late.ids.length >= first.ids.length - middle - 1)
          expect(late.ids).toEqual(first.ids.slice(middle + 1))
          late.stop()
        }
        for (const { all } of readers) for (const reader of all) reader.stop()
        expect(failures).toEqual([])
      }),
      { numRuns: 12, endOnFailure: true },
    )
  })

  test('does not wait for transactions of other databases of the same cluster', async () => {
    const [tenant] = tenants as [Tenant]
    const neighbour = await openTransaction(await cloneDatabase())
    const times = { pollMs: 10, betweenMs: 1, hurriedMs: 1, betweenManyMs: 1, heldBackMs: 8 }
    const follower = new JournalFollower({
      sql,
      times,
      onEvents: () => undefined,
      onFailure: () => undefined,
    })
    const reader = follow(follower, tenant, await readJournalHorizon(sql), 0)
    const id = newId('event')
    await writers.query(INSERT, [id, tenant.ownerId, tenant.mode, null])
    await until('it has come', () => reader.ids.includes(id))
    expect(reader.ids).toEqual([id])
    reader.stop()
    await neighbour.rollback()
  })

  test('shows nothing behind a transaction that is still open, and all of it once that ends', async () => {
    const [tenant] = tenants as [Tenant]
    const follower = new JournalFollower({
      sql,
      times: { pollMs: 20, betweenMs: 1, hurriedMs: 1, betweenManyMs: 1, heldBackMs: 8 },
      onEvents: () => undefined,
      onFailure: () => undefined,
    })
    const from = await readJournalHorizon(sql)
    const reader = follow(follower, tenant, from, 0)
    const early = await writers.connect()
    const [before, behind] = [newId('event'), newId('event')]
    await early.query('begin')
    await early.query(INSERT, [before, tenant.ownerId, tenant.mode, null])
    await writers.query(INSERT, [behind, tenant.ownerId, tenant.mode, null])
    // The committed one is listed; a client that resumes from it misses no later commit.
    const place = await positionAfterEvent(sql, behind, { tenant, agentId: null, delegationId: null })
    await pass(20)
    expect(reader.ids).toEqual([])
    const resumed = follow(follower, tenant, place as JournalPosition, 0)
    await early.query('commit')
    early.release()
    await until('both have come', () => reader.ids.length === 2 && resumed.ids.length === 2)
    expect([reader.ids, resumed.ids]).toEqual([
      [before, behind],
      [before, behind],
    ])
    reader.stop()
    resumed.stop()
  })
})
