import { beforeEach, describe, expect, test } from '@jest/globals'
import { areas } from '../../../src/areas.ts'
import { cardSteps } from '../../../src/cards/cards/index.ts'
import { CallsBeside } from '../../../src/kernel/background/calls-beside.ts'
import {
  advanceTenantClock,
  endOverdueRecords,
  type Rescue,
} from '../../../src/kernel/background/deadlines.ts'
import type { Tenant } from '../../../src/kernel/contract/actor.ts'
import { type Areas, area } from '../../../src/kernel/contract/area.ts'
import type { ApiCall, ApiResponse } from '../../../src/kernel/contract/call.ts'
import type { Deadline } from '../../../src/kernel/contract/deadline.ts'
import type { BindActivities, RecordRef } from '../../../src/kernel/contract/step.ts'
import { sqlOn } from '../../../src/kernel/database/prepared-sql.ts'
import { readClockOffset } from '../../../src/kernel/database/tenant-clock.ts'
import { createExecutor } from '../../../src/kernel/run/execute.ts'
import { NoTurn, SystemTurns } from '../../../src/kernel/run/system-turns.ts'
import { clock, days } from '../../../src/values/clock.ts'
import { newId } from '../../../src/values/ids.ts'
import { activitiesOf } from '../../support/activities.ts'
import { startEngine } from '../../support/engine.ts'

const engine = await startEngine(
  areas,
  'create table stepped (id text primary key, owner_id text, mode text, due_at timestamptz(3), steps int, updated_at timestamptz(3))',
)
const { database } = engine.runtime
const sql = sqlOn(database.pool)
const executeReally = createExecutor(engine.runtime)
const activitiesReally = activitiesOf(engine.runtime)

/** Records that take several steps, one after the other, by a run or where that is late. */
const steppingBy = (taken: Pick<Deadline, 'activities' | 'operations'>): Areas => ({
  ...areas,
  stepping: area(
    'Stepping',
    'Deadlines of a test.',
    { api: {}, handlers: {} },
    {
      deadlines: [
        {
          process: { name: 'stepped' },
          table: 'stepped',
          open: 'due_at is not null',
          waits: 'true',
          ...taken,
        },
      ],
    },
  ),
})

const stepping = steppingBy({ operations: ['sessions.expire'] })

const newTenant = (): Tenant => ({ ownerId: newId('customer'), mode: 'test' })

async function aRecord({ ownerId, mode }: Tenant, steps: number, dueInDays: number): Promise<string> {
  const id = newId('stepped')
  const due = new Date(Math.ceil(clock.milliseconds()) + days(dueInDays))
  await sql('insert into stepped values ($1, $2, $3, $4, $5, $4)', [id, ownerId, mode, due, steps])
  return id
}

interface Step {
  readonly id: string
  readonly day: number
}

const steps: Step[] = []

/** The next step is due at the instant of the one before it, or when that one is taken. */
type NextDue = 'at its instant' | 'when it is taken'

const isStepped = (id: string): boolean => id.startsWith('stepped_')

async function takeStep({ id, ownerId, mode }: RecordRef, next: NextDue): Promise<void> {
  const offset = await readClockOffset(sql, { ownerId, mode })
  steps.push({ id, day: Math.round(offset / days(1)) })
  await sql(
    `update stepped set steps = steps - 1, due_at = case when steps > 1 then coalesce($2, due_at) end
     where id = $1`,
    [id, next === 'when it is taken' ? clock.tenant(offset) : null],
  )
}

const executor =
  (next: NextDue) =>
  async (call: ApiCall): Promise<ApiResponse> => {
    const { id = '' } = call.input.params
    if (!isStepped(id)) return executeReally(call)
    await takeStep({ id, ...(call.actor.tenant as Tenant) }, next)
    return { status: 200, body: '{"done":true}', hasEmitted: true }
  }

/** The step that calls the card processor is taken without it. */
const activities: BindActivities = caller => {
  const usual = activitiesReally(caller)
  async function tellProcessor(ref: RecordRef) {
    if (!isStepped(ref.id)) return usual.tellProcessor(ref)
    await takeStep(ref, 'when it is taken')
    // The call is made, and its answer recorded.
    for (let change = 1; change <= 2; change++) caller.onChange?.(cardSteps.tell)
    return { status: 'stepped', summary: 'A record of a test', closed: false, dueInMs: 0 }
  }
  return { ...usual, tellProcessor: Object.assign(tellProcessor, { calls: cardSteps.tell }) }
}

beforeEach(async () => {
  steps.length = 0
  await sql('delete from stepped')
})

describe('the steps that follow while the test clock moves', () => {
  test('happen in order at their instant, before the next stop', async () => {
    const tenant = newTenant()
    const first = await aRecord(tenant, 3, 5)
    const second = await aRecord(tenant, 1, 20)
    const parts = { database, activities, areas: stepping, execute: executor('at its instant') }
    await advanceTenantClock(parts, tenant, days(30))
    expect(steps).toEqual([
      { id: first, day: 5 },
      { id: first, day: 5 },
      { id: first, day: 5 },
      { id: second, day: 20 },
    ])
  })

  test('happen before the answer where the clock stops when they are due', async () => {
    const tenant = newTenant()
    const id = await aRecord(tenant, 3, -1)
    await sql(`update stepped set due_at = now() + interval '5 days 1 second' where id = $1`, [id])
    const parts = { database, activities, areas: stepping, execute: executor('when it is taken') }
    await advanceTenantClock(parts, tenant, days(5) + 1_000)
    expect(steps).toEqual([5, 5, 5].map(day => ({ id, day })))
  })

  test('do not hold the clock, however many there are', async () => {
    const tenant = newTenant()
    await aRecord(tenant, 1_000_000, 5)
    const parts = { database, activities, areas: stepping, execute: executor('at its instant') }
    await advanceTenantClock(parts, tenant, days(6))
    expect(await readClockOffset(sql, tenant)).toBe(days(6))
  })
})

describe('the steps that follow from a rescued one', () => {
  async function rescuedIn(
    taken: Parameters<typeof steppingBy>[0],
    turns = new SystemTurns(),
  ): Promise<Rescue[]> {
    const rescues: Rescue[] = []
    const calls = new CallsBeside(error => {
      throw error
    })
    await endOverdueRecords({
      database,
      areas: steppingBy(taken),
      activities,
      execute: executor('when it is taken'),
      rescueAfterMs: 30_000,
      onRescue: rescue => void rescues.push(rescue),
      ...{ calls, turns },
    })
    await calls.settle()
    return rescues.filter(({ id }) => id.startsWith('stepped_'))
  }

  test.each([
    ['sessions.expire', { operations: ['sessions.expire'] }],
    ['kyc.inquire', { operations: ['kyc.inquire'] }],
    ['cards.tell', { activities: ['tellProcessor'] }],
  ])('are taken in the same round, of %s, each a rescue', async (operation, taken) => {
    const tenant = newTenant()
    const id = await aRecord(tenant, 3, -1)
    const rescue = { ...tenant, operation, id, dueAt: expect.any(Date) }
    expect(await rescuedIn(taken)).toEqual([rescue, rescue, rescue])
    expect(steps).toHaveLength(3)
  })

  test('are left to the next round beyond twenty', async () => {
    const tenant = newTenant()
    await aRecord(tenant, 1_000_000, -1)
    expect(await rescuedIn({ operations: ['sessions.expire'] })).toHaveLength(20)
  })

  test('are no rescues while calls of the owner in that mode wait for their turns', async () => {
    const [waiting, other] = [newTenant(), newTenant()]
    const turns = new SystemTurns()
    const { promise, resolve } = Promise.withResolvers<void>()
    const called = { system: 'cardProcessor', owner: waiting.ownerId, mode: 'test' } as const
    // Four are under way and fifty wait, so that the last one is refused.
    const begun = Array.from({ length: 54 }, () => turns.run(called, () => promise))
    await expect(turns.run(called, () => promise)).rejects.toThrow(NoTurn)
    expect(turns.isAwaited({ ...called, mode: 'live' })).toBe(false)
    await aRecord(waiting, 1, -1)
    const counted = await aRecord(other, 1, -1)
    expect((await rescuedIn({ activities: ['tellProcessor'] }, turns)).map(({ id }) => id)).toEqual([counted])
    expect(steps).toHaveLength(2)
    resolve()
    await Promise.all(begun)
  })
})
