import { beforeEach, describe, expect, test } from '@jest/globals'
import { allActivities } from '../../../activities/index.ts'
import type { ActivityTools } from '../../../activities/shared/tools.ts'
import { areas } from '../../../src/areas.ts'
import { cardSteps } from '../../../src/cards/cards/index.ts'
import { CallsBeside } from '../../../src/kernel/background/calls-beside.ts'
import { endOverdueRecords, type SweepParts } from '../../../src/kernel/background/deadlines.ts'
import { type Areas, area } from '../../../src/kernel/contract/area.ts'
import type { ApiCall, ApiResponse } from '../../../src/kernel/contract/call.ts'
import type { Deadline } from '../../../src/kernel/contract/deadline.ts'
import { type AnyOperation, callsOutside } from '../../../src/kernel/contract/operation.ts'
import type { BindActivities, RecordRef } from '../../../src/kernel/contract/step.ts'
import { sqlOn } from '../../../src/kernel/database/prepared-sql.ts'
import { createExecutor } from '../../../src/kernel/run/execute.ts'
import { newId } from '../../../src/values/ids.ts'
import { activitiesOf } from '../../support/activities.ts'
import { startEngine } from '../../support/engine.ts'
import { until } from '../../support/until.ts'

const engine = await startEngine(
  areas,
  `create table calling_records (id text primary key, owner_id text not null, mode text not null, due_at timestamptz(3));
   create table plain_records (like calling_records including all)`,
)
const { database } = engine.runtime
const sql = sqlOn(database.pool)
const executeReally = createExecutor(engine.runtime)

const areasWith = (...deadlines: Deadline[]): Areas => ({
  ...areas,
  probes: area('Probes', 'Deadlines of a test.', { api: {}, handlers: {} }, { deadlines }),
})

const calling = { process: { name: 'calling' }, table: 'calling_records', open: 'true' }

/** Two deadlines without a run: one calls the identity provider, the other does not. */
const probing = areasWith(
  { ...calling, operations: ['kyc.inquire'] },
  { process: { name: 'plain' }, table: 'plain_records', open: 'true', operations: ['sessions.expire'] },
)

async function dueRecords(
  table: 'calling_records' | 'plain_records',
  count: number,
  { ownerId = newId('customer'), mode = 'test' } = {},
): Promise<string> {
  await sql(
    `insert into ${table} select $1 || '_' || $3 || n, $1, $3, now() - interval '1 hour' from generate_series(1, $2::int) n`,
    [ownerId, count, mode],
  )
  return ownerId
}

/** A provider that answers no call until the test lets it. */
function hangingProvider() {
  const answered = Promise.withResolvers<void>()
  const calls: string[] = []
  const ended: string[] = []
  const done: ApiResponse = { status: 200, body: '{"done":true}' }
  async function execute(call: ApiCall): Promise<ApiResponse> {
    const { id = '' } = call.input.params
    const table = call.operation.key === 'kyc.inquire' ? 'calling_records' : 'plain_records'
    if (!id.startsWith('customer_')) return executeReally(call)
    if (table === 'calling_records') {
      calls.push(id)
      await answered.promise
    }
    await sql(`delete from ${table} where id = $1`, [id])
    ended.push(id)
    return done
  }
  return { answer: answered.resolve, calls, ended, execute }
}

const failures: unknown[] = []
const activities = activitiesOf(engine.runtime)

function sweeper(execute: SweepParts['execute'], own: Partial<SweepParts> = {}) {
  const calls = new CallsBeside(error => failures.push(error))
  const parts = {
    database,
    areas: probing,
    activities,
    execute,
    rescueAfterMs: 30_000,
    onRescue: () => undefined,
    ...own,
  }
  return { sweep: () => endOverdueRecords({ ...parts, calls }), settle: () => calls.settle() }
}

const of = (owner: string, ids: readonly string[]) => ids.filter(id => id.startsWith(owner))

beforeEach(() => sql('delete from calling_records'))

describe('a provider that does not answer', () => {
  test('delays no round of the sweep, no other owner, and gets few calls of one owner at once', async () => {
    const provider = hangingProvider()
    const { sweep, settle } = sweeper(provider.execute)
    const many = await dueRecords('calling_records', 1_300)
    const other = await dueRecords('calling_records', 1)
    const plain = await dueRecords('plain_records', 3)
    await sweep()
    expect(of(plain, provider.ended)).toHaveLength(3)
    await until('the other owner is served', () => of(other, provider.calls).length === 1)
    await until('the calls of the first hang', () => of(many, provider.calls).length >= 4)
    expect(of(many, provider.calls)).toHaveLength(4)
    await sweep()
    expect([of(many, provider.calls).length, of(other, provider.calls).length]).toEqual([4, 1])
    provider.answer()
    await settle()
    expect(of(other, provider.ended)).toHaveLength(1)
    expect(of(many, provider.ended)).toHaveLength(20)
    await sweep()
    await settle()
    expect(of(many, provider.ended).length).toBeGreaterThanOrEqual(40)
    expect(failures).toEqual([])
  })

  test('of one mode does not delay the owner’s calls of the other mode', async () => {
    const provider = hangingProvider()
    const { sweep, settle } = sweeper(provider.execute)
    const owner = await dueRecords('calling_records', 30)
    await sweep()
    await until('the calls hang', () => provider.calls.length === 4)
    await dueRecords('calling_records', 1, { ownerId: owner, mode: 'live' })
    await sweep()
    await until('the live call is made', () => provider.calls.includes(`${owner}_live1`))
    expect(of(owner, provider.calls)).toHaveLength(5)
    provider.answer()
    await settle()
  })

  test('delays no round by the activity that calls it', async () => {
    const answered = Promise.withResolvers<void>()
    const hanging: BindActivities = caller => {
      async function tellProcessor({ id }: RecordRef) {
        await answered.promise
        await sql('delete from calling_records where id = $1', [id])
        return { status: 'told', summary: 'A record of a test', closed: true, dueInMs: null }
      }
      const telling = Object.assign(tellProcessor, { calls: cardSteps.tell })
      return { ...activities(caller), tellProcessor: telling }
    }
    const telling = areasWith({ ...calling, activities: ['tellProcessor'] })
    const { sweep, settle } = sweeper(executeReally, { areas: telling, activities: hanging })
    await dueRecords('calling_records', 1)
    await sweep()
    expect(await sql('select from calling_records')).toHaveLength(1)
    answered.resolve()
    await settle()
    expect(await sql('select from calling_records')).toEqual([])
  })

  test('reports what fails beside the round', async () => {
    const failing = async (call: ApiCall): Promise<ApiResponse> => {
      if (call.operation.key === 'kyc.inquire') throw new Error('lost')
      return executeReally(call)
    }
    const { sweep, settle } = sweeper(failing)
    await dueRecords('calling_records', 1)
    await sweep()
    await settle()
    expect(failures).toEqual([new Error('lost')])
  })
})

test('the signals of runs are carried out by operations that call no other system', () => {
  const operations: AnyOperation[] = []
  const tools = {
    decide(signals: Readonly<Record<string, { readonly operation: AnyOperation }>>) {
      operations.push(...Object.values(signals).map(({ operation }) => operation))
    },
    outside: () => undefined,
  }
  allActivities(tools as unknown as ActivityTools)
  expect(operations.length).toBeGreaterThan(20)
  expect(operations.filter(callsOutside)).toEqual([])
})
