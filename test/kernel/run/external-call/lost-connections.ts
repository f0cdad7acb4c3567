import { beforeEach, describe, expect, test } from '@jest/globals'
import { markLeft } from '../../../../src/kernel/journal/idempotency.ts'
import { type FlakyProxy, flakyProxy } from '../../../support/flaky-proxy.ts'
import { startSampleService } from '../../../support/sample-service.ts'
import { until } from '../../../support/until.ts'

let proxy!: FlakyProxy
let calls = 0
let whileCalled: () => Promise<unknown>
const service = await startSampleService({
  callSystem: async () => {
    calls++
    await whileCalled()
    return 'confirmed'
  },
  async through(url) {
    proxy = await flakyProxy(url)
    return proxy.url
  },
})
const owner = await service.owner()

beforeEach(() => {
  calls = 0
  whileCalled = async () => undefined
})

const ask = (id: string, idempotencyKey: string) =>
  owner.client.samples.inquire({ params: { id }, idempotencyKey })

const reservation = async (key: string) =>
  (await service.sql('select status, leased_by as "leasedBy" from idempotency_keys where key = $1', [key]))[0]

const untilLeft = (key: string) =>
  until('the call is left', async () => (await reservation(key))?.leasedBy === 'left')

const states = async (id: string) =>
  (await service.sql('select state from inquiries where sample_id = $1', [id])).map(({ state }) => state)

/** The commit of a key takes a second, in which `work` is done. */
async function whileCommitting(work: () => Promise<unknown>): Promise<void> {
  await service.sql(`
    create function linger() returns trigger language plpgsql as 'begin perform pg_sleep(1); return null; end';
    create constraint trigger linger after insert on idempotency_keys deferrable initially deferred
      for each row execute function linger()`)
  await work().finally(() => service.sql('drop function linger cascade'))
}

const KILL_COMMITTING = `
select pg_terminate_backend(pid) from pg_stat_activity
where datname = current_database() and pid <> pg_backend_pid() and wait_event = 'PgSleep'`

type Losing = (work: () => Promise<unknown>) => Promise<void>

const beforeArrival: Losing = async work => {
  proxy.cutCommits('before')
  await work()
}

const byItsEnd: Losing = work =>
  whileCommitting(async () => {
    const asked = work()
    await until('its backend is ended', async () => (await service.sql(KILL_COMMITTING)).length > 0)
    await asked
  })

const KILL_ALL = `
select pg_terminate_backend(pid) from pg_stat_activity
where datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend'`

describe('a reservation whose commit has lost its connection', () => {
  test('is decided by the next request where it has arrived, and nothing is called', async () => {
    const id = await service.sample(owner, 1)
    proxy.cutCommits('after')
    expect(await ask(id, 'arrived')).toMatchObject({ status: 503, code: 'outcome_unknown' })
    await untilLeft('arrived')
    expect(await ask(id, 'arrived')).toMatchObject({ status: 200, body: { answer: 'unknown' } })
    expect([calls, await states(id)]).toEqual([0, ['unknown']])
    expect((await ask(id, 'arrived')).headers.get('idempotent-replayed')).toBe('true')
  })

  test('is looked for only once its commit is over', async () => {
    const id = await service.sample(owner, 1)
    await whileCommitting(async () => {
      proxy.cutCommits('during')
      expect(await ask(id, 'slow')).toMatchObject({ status: 503, code: 'outcome_unknown' })
      expect(await ask(id, 'slow')).toMatchObject({ status: 409, code: 'in_progress' })
      await untilLeft('slow')
    })
    expect(await ask(id, 'slow')).toMatchObject({ status: 200, body: { answer: 'unknown' } })
    expect(calls).toBe(0)
  })

  test.each([
    ['before it has arrived', beforeArrival],
    ['as its backend was ended', byItsEnd],
  ])('is made anew by the next request where it was lost %s', async (_, losing) => {
    const id = await service.sample(owner, 1)
    const key = `lost-${calls}-${Math.random()}`
    await losing(async () => expect((await ask(id, key)).status).toBe(503))
    expect(await reservation(key)).toBeUndefined()
    expect(await ask(id, key)).toMatchObject({ status: 200, body: { answer: 'confirmed' } })
    expect([calls, await states(id)]).toEqual([1, ['confirmed']])
  })

  test('is marked once the database is back', async () => {
    const id = await service.sample(owner, 1)
    await whileCommitting(async () => {
      proxy.cutCommits('during')
      expect((await ask(id, 'away')).status).toBe(503)
      await proxy.close()
      await until('it has arrived', async () => (await reservation('away')) !== undefined)
    })
    expect((await reservation('away'))?.leasedBy).not.toBe('left')
    await proxy.open()
    await untilLeft('away')
    expect(await ask(id, 'away')).toMatchObject({ status: 200, body: { answer: 'unknown' } })
  })
})

describe('a call that is under way', () => {
  test('is recorded, where all connections are ended meanwhile', async () => {
    const id = await service.sample(owner, 1)
    whileCalled = () => service.sql(KILL_ALL)
    expect(await ask(id, 'killed')).toMatchObject({ status: 200, body: { answer: 'confirmed' } })
    expect([calls, await states(id)]).toEqual([1, ['confirmed']])
  })

  test('is not left by another request, which has lost its own reservation under this key', async () => {
    const id = await service.sample(owner, 1)
    const scoped = {
      ownerId: owner.ownerId,
      mode: 'test',
      agentId: '',
      operation: 'samples.inquire',
      key: 'other',
    }
    const key = { ...scoped, requestHash: '', askedBy: null }
    whileCalled = async () => {
      await markLeft(key, 'another request', (text, values = []) => service.sql(text, [...values]))
      expect(await ask(id, 'other')).toMatchObject({ status: 409, code: 'in_progress' })
    }
    expect(await ask(id, 'other')).toMatchObject({ status: 200, body: { answer: 'confirmed' } })
  })
})
