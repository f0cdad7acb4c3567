import { beforeEach, describe, expect, test } from '@jest/globals'
import { areas } from '../../../src/areas.ts'
import {
  advanceTenantClock,
  endOverdueRecords,
  type Rescue,
} from '../../../src/kernel/background/deadlines.ts'
import type { Tenant } from '../../../src/kernel/contract/actor.ts'
import { allOperations } from '../../../src/kernel/contract/area.ts'
import type { BindActivities, RecordActivity, RecordRef } from '../../../src/kernel/contract/step.ts'
import { type Database, sqlOn } from '../../../src/kernel/database/prepared-sql.ts'
import { moveClockOffset, readClockOffset } from '../../../src/kernel/database/tenant-clock.ts'
import { createExecutor } from '../../../src/kernel/run/execute.ts'
import { days, minutes } from '../../../src/values/clock.ts'
import { newId } from '../../../src/values/ids.ts'
import { activitiesOf } from '../../support/activities.ts'
import { times } from '../../support/at-once.ts'
import { startEngine } from '../../support/engine.ts'
import { creditWallet } from '../../support/factories.ts'

const engine = await startEngine(areas)
const { database } = engine.runtime
const sql = sqlOn(database.pool)
const execute = createExecutor(engine.runtime)
const activities = activitiesOf(engine.runtime)

beforeEach(async () => {
  await engine.sql(`update intents set status = 'cancelled' where status in ('created', 'approved')`)
  await engine.sql('delete from outbox')
})

interface OwnedIntent {
  readonly tenant: Tenant
  readonly id: string
}

async function anIntent(
  mode: Tenant['mode'] = 'test',
  autoApproveLimitCents: bigint | null = null,
): Promise<OwnedIntent> {
  const tenant = { ownerId: newId('customer'), mode }
  const createRecord = async (key: string, body: object): Promise<{ id: string; walletId: string }> =>
    JSON.parse(String((await engine.run(tenant, key, { body })).body))
  const policy = await createRecord('policies.create', {
    ...policyDefaults,
    name: 'P',
    autoApproveLimitCents,
  })
  const agent = await createRecord('agents.create', {
    name: 'A',
    description: null,
    externalId: null,
    policyId: policy.id,
    metadata: {},
  })
  await creditWallet(engine, { ...tenant, walletId: agent.walletId })
  const { id } = await createRecord('intents.create', {
    agentId: agent.id,
    amountCents: 1n,
    merchant: 'M',
    purpose: 'P',
    mcc: null,
    country: null,
    beneficiaryId: null,
    walletId: null,
    requestId: null,
    cardId: null,
    runId: null,
    clientIntentId: null,
    expiresInMinutes: 1,
    metadata: {},
  })
  return { tenant, id }
}

const policyDefaults = {
  approval: [],
  merchantAllowlist: [],
  merchantBlocklist: [],
  mccCategories: [],
  allowedCountries: [],
  allowedMccs: [],
  blockedMccs: [],
  attestationWindowMinutes: 5,
  expirationAction: 'notify',
}

const nothing = () => undefined

type Expire = RecordActivity

/** The activities, of which one is replaced. */
const expiringBy =
  (expire: (ref: RecordRef, usual: Expire) => ReturnType<Expire>): BindActivities =>
  caller => {
    const usual = activities(caller)
    return { ...usual, expireIntent: (ref: RecordRef) => expire(ref, usual.expireIntent as Expire) }
  }

/** By hand and at once: it leaves nothing to runs. */
const sweep = (by: BindActivities = activities) =>
  endOverdueRecords({ database, execute, areas, activities: by, rescueAfterMs: 0, onRescue: nothing })

/** As a worker sweeps. Returns what it rescued. */
async function sweepAsWorker(by: BindActivities = activities): Promise<Rescue[]> {
  const rescues: Rescue[] = []
  const onRescue = (rescue: Rescue) => void rescues.push(rescue)
  await endOverdueRecords({ database, execute, areas, activities: by, rescueAfterMs: 30_000, onRescue })
  return rescues
}

const makeLate = (ids: readonly string[], seconds: number) =>
  engine.sql(
    `update intents set expires_at = now() - $2 * interval '1 second', updated_at = now() - interval '1 hour'
     where id = any($1)`,
    [ids, seconds],
  )

const makeOverdue = (ids: readonly string[]) => makeLate(ids, 60)

const statusOf = async (id: string): Promise<string> =>
  (await engine.sql('select status from intents where id = $1', [id])).rows[0].status

const eventsOf = async (id: string): Promise<string[]> =>
  (await engine.sql(`select event from events where data ->> 'intentId' = $1 order by id`, [id])).rows.map(
    ({ event }) => event,
  )

/** The copies are due in the order of their numbers. */
const multiply = (id: string, count: number, due = '-1 hour') =>
  engine.sql(
    `insert into intents select (jsonb_populate_record(i, jsonb_build_object(
       'id', i.id || '_' || n, 'expires_at', now() + $3::interval + n * interval '1 millisecond'))).*
     from intents i, generate_series(1, $2::int) as n where i.id = $1`,
    [id, count, due],
  )

async function filteredRowCounts(): Promise<number[]> {
  const discardedRows: number[] = []
  const places = Object.values(areas).flatMap(({ deadlines }) => deadlines.map(() => 0))
  let search: string | undefined
  const query = async ({ text, values }: { text: string; values?: unknown[] }) => {
    const { rows } = await database.pool.query(`explain (analyze, format json) ${text}`, values)
    const removed = JSON.stringify(rows).matchAll(/"Rows Removed by (?:Join )?Filter":(\d+)/g)
    discardedRows.push([...removed].reduce((sum, [, count]) => sum + Number(count), 0))
    // The first statement says which deadlines have an overdue record: all, so that each is read.
    search ??= text
    return { rows: text === search ? places.map((_, place) => ({ place })) : [] }
  }
  const pool = { query } as unknown as typeof database.pool
  const parts = { database: { ...database, pool }, execute, areas, activities }
  await endOverdueRecords({ ...parts, rescueAfterMs: 30_000, onRescue: nothing })
  return discardedRows
}

describe('a declared deadline', () => {
  test('names existing operations that no caller can reach', () => {
    const operationKeys = Object.values(areas).flatMap(area =>
      area.deadlines.flatMap(({ operations }) => operations),
    )
    const internal = allOperations(areas).flatMap(({ key, operation }) =>
      operation.callers.length === 0 ? [key] : [],
    )
    expect(operationKeys).not.toEqual([])
    for (const key of operationKeys) expect(internal).toContain(key)
  })

  test('names existing activities', () => {
    const known = activities({ requestIdOf: ({ id }) => id })
    const names = Object.values(areas).flatMap(area =>
      area.deadlines.flatMap(deadline => deadline.activities),
    )
    expect(names).not.toEqual([])
    for (const name of names) expect(known).toHaveProperty(name)
  })
})

describe('the sweep', () => {
  test('asks PostgreSQL once where nothing is due', async () => {
    await anIntent()
    await sweep()
    let statements = 0
    const query = (statement: { readonly text: string }) => {
      statements++
      return database.pool.query(statement)
    }
    const pool = { query } as unknown as typeof database.pool
    await endOverdueRecords({
      database: { pool },
      execute,
      areas,
      activities,
      rescueAfterMs: 30_000,
      onRescue: nothing,
    })
    expect(statements).toBe(1)
  })

  test('reads no row that is open and not yet due, wherever the clocks stand', async () => {
    const { id, tenant } = await anIntent()
    await multiply(id, 1_000, '1 day')
    await moveClockOffset(sql, tenant, minutes(1))
    const discardedRows = await filteredRowCounts()
    expect(discardedRows.length).toBeGreaterThan(4)
    expect(Math.max(...discardedRows)).toBeLessThan(100)
  })

  test.each(['test', 'live'] as const)(
    'ends what is overdue in %s mode, with a process or without',
    async mode => {
      const [waiting, approved, early] = [
        await anIntent(mode),
        await anIntent(mode, 100n),
        await anIntent(mode),
      ]
      expect(await statusOf(approved.id)).toBe('approved')
      await engine.sql('delete from outbox')
      await makeOverdue([waiting.id, approved.id])
      await sweep()
      expect(await Promise.all([waiting, approved, early].map(({ id }) => statusOf(id)))).toEqual([
        'expired',
        'expired',
        'created',
      ])
      expect(await eventsOf(approved.id)).toEqual(['intent.created', 'intent.approved', 'intent.expired'])
      const { rows } = await engine.sql('select workflow_id from outbox')
      expect(rows).toEqual([{ workflow_id: `intent/${waiting.id}` }])
    },
  )

  test('uses the clock of each owner', async () => {
    const [moved, standing, live] = [await anIntent(), await anIntent(), await anIntent('live')]
    await moveClockOffset(sql, moved.tenant, minutes(2))
    await sweep()
    expect(await Promise.all([moved, standing, live].map(({ id }) => statusOf(id)))).toEqual([
      'expired',
      'created',
      'created',
    ])
  })

  test('ignores records that have ended otherwise', async () => {
    const { tenant, id } = await anIntent()
    await engine.run(tenant, 'intents.cancel', { params: { id } })
    await makeOverdue([id])
    await sweep()
    expect([await statusOf(id), await eventsOf(id)]).toEqual([
      'cancelled',
      ['intent.created', 'intent.cancelled'],
    ])
  })

  test('ends each record once, however many sweeps run at once', async () => {
    const { id } = await anIntent()
    await multiply(id, 300)
    await times(4, () => sweep())
    const { rows } = await engine.sql(
      `select count(*)::int as events, count(distinct data ->> 'intentId')::int as intents
       from events where event = 'intent.expired' and starts_with(data ->> 'intentId', $1)`,
      [id],
    )
    expect(rows).toEqual([{ events: 300, intents: 300 }])
  })

  test('continues until nothing is overdue', async () => {
    const { id } = await anIntent()
    await multiply(id, 2_100)
    await sweep()
    const { rows } = await engine.sql(
      `select status, count(*)::int as count from intents where starts_with(id, $1) group by 1 order by 1`,
      [`${id}_`],
    )
    expect(rows).toEqual([{ status: 'expired', count: 2_100 }])
  })

  test('continues past records that cannot be ended, and reports them', async () => {
    const { id } = await anIntent()
    const last = await anIntent()
    await multiply(id, 1_200)
    await makeOverdue([last.id])
    let calls = 0
    const failing = expiringBy((ref, expire) => {
      calls++
      return ref.id.startsWith(`${id}_`) ? Promise.reject(new Error('no')) : expire(ref)
    })
    await expect(sweep(failing)).rejects.toThrow('could not be ended')
    expect(calls).toBeLessThanOrEqual(1_201)
    await sweep()
    expect(await statusOf(last.id)).toBe('expired')
  })
})

describe('a record with a run', () => {
  test('is left to its run for 30 seconds, and then rescued', async () => {
    const [due, late, without] = [await anIntent(), await anIntent('live'), await anIntent('test', 100n)]
    await makeLate([due.id, without.id], 20)
    await makeLate([late.id], 31)
    expect(await sweepAsWorker()).toEqual([
      { ...late.tenant, operation: 'intents.expire', id: late.id, dueAt: expect.any(Date) },
    ])
    expect(await Promise.all([due, late, without].map(({ id }) => statusOf(id)))).toEqual([
      'created',
      'expired',
      'expired',
    ])
  })

  test('is left to its run for 30 seconds from when its deadline could be known, if that has passed before', async () => {
    const { id } = await anIntent()
    const becomesDue = (secondsAgo: number) =>
      engine.sql(
        `update intents set expires_at = now() - interval '1 day', updated_at = now() - $2 * interval '1 second'
         where id = $1`,
        [id, secondsAgo],
      )
    await becomesDue(20)
    expect([await sweepAsWorker(), await statusOf(id)]).toEqual([[], 'created'])
    await becomesDue(31)
    expect([(await sweepAsWorker()).length, await statusOf(id)]).toEqual([1, 'expired'])
  })

  test('is left to its run for 30 seconds by the clock of its owner', async () => {
    const [due, late] = [await anIntent(), await anIntent()]
    await moveClockOffset(sql, due.tenant, minutes(1) + 15_000)
    await moveClockOffset(sql, late.tenant, minutes(1) + 31_000)
    expect((await sweepAsWorker()).map(({ id }) => id)).toEqual([late.id])
    expect(await statusOf(due.id)).toBe('created')
  })

  test('is not rescued by a sweep that comes after its run', async () => {
    const { id } = await anIntent()
    await makeLate([id], 31)
    const afterTheRun = expiringBy(async (ref, expire) => {
      await activitiesOf(engine.runtime)({ requestIdOf: () => 'of the run' }).expireIntent(ref)
      return expire(ref)
    })
    expect(await sweepAsWorker(afterTheRun)).toEqual([])
    expect(await statusOf(id)).toBe('expired')
  })

  test('is ended by an advanced clock, which is no rescue', async () => {
    const { id, tenant } = await anIntent()
    await advanceTenantClock({ areas, database, execute, activities }, tenant, minutes(2))
    expect(await statusOf(id)).toBe('expired')
    expect(await sweepAsWorker()).toEqual([])
  })
})

describe('the offset of a test clock', () => {
  test('never decreases, however many move it at once', async () => {
    const tenant = { ownerId: newId('customer'), mode: 'test' } as const
    expect(await readClockOffset(sql, tenant)).toBe(0)
    await moveClockOffset(sql, tenant, days(2))
    await moveClockOffset(sql, tenant, days(1))
    await times(10, index => moveClockOffset(sql, tenant, days(1) + index))
    expect(await readClockOffset(sql, tenant)).toBe(days(2))
    await expect(moveClockOffset(sql, { ...tenant, mode: 'live' }, 1)).rejects.toThrow(/check/)
  })

  test('stays at real time where that has passed a deadline before the clock could stop at it', async () => {
    const tenant = { ownerId: newId('customer'), mode: 'test' } as const
    await moveClockOffset(sql, tenant, -40)
    expect(await readClockOffset(sql, tenant)).toBe(0)
  })

  test('moves through deadlines that real time passes meanwhile', async () => {
    const { id, tenant } = await anIntent()
    await multiply(id, 200, '20 milliseconds')
    await advanceTenantClock({ areas, database, execute, activities }, tenant, minutes(2))
    expect(await statusOf(id)).toBe('expired')
    expect(await readClockOffset(sql, tenant)).toBe(minutes(2))
  })

  test.each([
    ['has no connection left', new Error('timeout exceeded when trying to connect'), 'unavailable'],
    ['takes too long', Object.assign(new Error('canceling statement'), { code: '57014' }), 'busy'],
  ])('is not moved by a database that %s, which is no defect', async (_, error, code) => {
    const pool = { query: () => Promise.reject(error) } as unknown as Database['pool']
    const parts = { database: { pool }, areas, activities, execute: () => Promise.reject(error) }
    await expect(advanceTenantClock(parts, { ownerId: 'customer_1', mode: 'test' }, 1)).rejects.toMatchObject(
      { code },
    )
  })
})
