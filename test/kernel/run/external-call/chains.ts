import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { until } from '../../../support/until.ts'
import {
  advisoryLocks,
  age,
  answerCalls,
  ask,
  beginAnew,
  called,
  calls,
  endCalls,
  openTransactions,
  owner,
  service,
  states,
} from './asking.ts'

beforeEach(beginAnew)
afterEach(endCalls)

describe('a chain of calls', () => {
  /** The first call is answered with `ask again`; the second one by `answer`. */
  const secondCall = (answer: () => Promise<string>) => {
    answerCalls(round => (round === 1 ? Promise.resolve('ask again') : answer()))
  }
  const fail = async () => {
    throw new Error('connection reset')
  }

  test('commits what the first answer means before the second call, with no transaction open during it', async () => {
    const sampleId = await service.sample(owner, 1)
    const { promise, resolve } = Promise.withResolvers<string>()
    secondCall(() => promise)
    const answering = ask(sampleId, 'chain')
    await called(2)
    expect(await openTransactions()).toEqual([])
    expect(await advisoryLocks()).toEqual([])
    expect(await states(sampleId)).toEqual(['answered 1'])
    expect((await service.traces(sampleId)).events).toBe(1)
    resolve('confirmed')
    expect((await answering).body).toEqual({ id: calls[0], answer: 'confirmed' })
    expect(new Set(calls).size).toBe(1)
    expect((await service.traces(sampleId)).events).toBe(2)
  })

  test.each(['with-a-key', undefined])(
    'continues as long as answers lead to further calls, %s',
    async key => {
      const sampleId = await service.sample(owner, 1)
      answerCalls(async round => (round < 4 ? 'ask again' : 'confirmed'))
      expect((await ask(sampleId, key)).body.answer).toBe('confirmed')
      expect(calls.length).toBe(4)
      expect(await states(sampleId)).toEqual(['confirmed'])
    },
  )

  test('is replayed as a whole', async () => {
    const sampleId = await service.sample(owner, 1)
    secondCall(async () => 'confirmed')
    const first = await ask(sampleId, 'chain-replayed')
    const again = await ask(sampleId, 'chain-replayed')
    expect([again.status, again.body]).toEqual([200, first.body])
    expect(again.headers.get('idempotent-replayed')).toBe('true')
    expect(calls.length).toBe(2)
  })

  test('a chain that breaks in its second call is recovered from the last commit, without another call', async () => {
    const sampleId = await service.sample(owner, 1)
    secondCall(fail)
    expect((await ask(sampleId, 'chain-broken')).status).toBe(500)
    expect((await ask(sampleId, 'chain-broken')).status).toBe(409)
    await age('chain-broken', '3 minutes')
    expect((await ask(sampleId, 'chain-broken')).body.answer).toBe('unknown after call 2')
    expect(calls.length).toBe(2)
    expect(await states(sampleId)).toEqual(['unknown after call 2'])
  })

  test('that breaks in its first call is recovered from the first reservation', async () => {
    const sampleId = await service.sample(owner, 1)
    answerCalls(fail)
    expect((await ask(sampleId, 'chain-begun')).status).toBe(500)
    await age('chain-begun', '3 minutes')
    expect((await ask(sampleId, 'chain-begun')).body.answer).toBe('unknown')
  })

  test('keeps its lease while it continues: each commit renews it', async () => {
    const sampleId = await service.sample(owner, 1)
    const first = Promise.withResolvers<string>()
    const second = Promise.withResolvers<string>()
    answerCalls(round => (round === 1 ? first.promise : second.promise))
    const answering = ask(sampleId, 'chain-slow')
    await called(1)
    await age('chain-slow', '90 seconds')
    first.resolve('ask again')
    await called(2)
    await age('chain-slow', '90 seconds')
    expect((await ask(sampleId, 'chain-slow')).status).toBe(409)
    second.resolve('confirmed')
    expect((await answering).body.answer).toBe('confirmed')
  })

  test.each(['first', 'second'])('recovered during its %s call makes no further one', async during => {
    const sampleId = await service.sample(owner, 1)
    const key = `chain-overtaken-${during}`
    const held = Promise.withResolvers<string>()
    const heldRound = during === 'first' ? 1 : 2
    answerCalls(round => (round === heldRound ? held.promise : Promise.resolve('ask again')))
    const answering = ask(sampleId, key)
    await called(heldRound)
    await age(key, '3 minutes')
    const recovered = await ask(sampleId, key)
    held.resolve('ask again')
    expect((await answering).body).toEqual(recovered.body)
    expect(calls.length).toBe(heldRound)
    expect(await states(sampleId)).toEqual([recovered.body.answer])
  })
})

describe('a process that others have marked as dead while it was paused', () => {
  const leases = async () =>
    (await service.sql(`select id from process_leases where kind = 'calls'`)).map(({ id }) => id)

  /** Ends the leases as another process does, and waits until each process has noticed. */
  async function loseLease(): Promise<void> {
    const lost = await leases()
    await service.sql('delete from process_leases where id = any($1)', [lost])
    await until('all have new leases', async () => (await leases()).length === lost.length)
  }

  async function beforeCommit(begin: () => Promise<void>, work: () => Promise<void>): Promise<void> {
    await service.sql(`
      create table waiting as select 1;
      create function wait_to_commit() returns trigger language plpgsql as
        'begin while exists (select from waiting) loop perform pg_sleep(0.05); end loop; return null; end';
      create constraint trigger wait_to_commit after insert on inquiries deferrable initially deferred
        for each row execute function wait_to_commit()`)
    const sleeping = `select from pg_stat_activity where datname = current_database() and wait_event = 'PgSleep'`
    const begun = begin()
    await until('it commits', async () => (await service.sql(sleeping)).length > 0)
    await work().finally(() => service.sql('delete from waiting'))
    await begun.finally(() => service.sql('drop function wait_to_commit cascade; drop table waiting'))
  }

  test('makes not even its first call', async () => {
    const sampleId = await service.sample(owner, 1)
    const asking = async () =>
      expect((await ask(sampleId, 'fenced-first')).body).toMatchObject({ answer: 'unknown' })
    await beforeCommit(asking, loseLease)
    expect(calls).toEqual([])
    expect(await states(sampleId)).toEqual(['unknown'])
  })

  test('makes no further call, and decides by the last commit', async () => {
    const sampleId = await service.sample(owner, 1)
    const first = Promise.withResolvers<string>()
    answerCalls(round => (round === 1 ? first.promise : Promise.resolve('confirmed')))
    const answering = ask(sampleId, 'chain-fenced')
    await called(1)
    await loseLease()
    first.resolve('ask again')
    expect((await answering).body).toEqual({ id: calls[0], answer: 'unknown after call 2' })
    expect(calls.length).toBe(1)
    expect(await states(sampleId)).toEqual(['unknown after call 2'])
    expect((await ask(sampleId, 'chain-fenced')).headers.get('idempotent-replayed')).toBe('true')
  })

  test('makes no further call without a key either, and says that the outcome is unknown', async () => {
    const sampleId = await service.sample(owner, 1)
    const first = Promise.withResolvers<string>()
    answerCalls(round => (round === 1 ? first.promise : Promise.resolve('confirmed')))
    const answering = ask(sampleId)
    await called(1)
    await loseLease()
    first.resolve('ask again')
    const { status, code, headers } = await answering
    expect({ status, code }).toEqual({ status: 503, code: 'outcome_unknown' })
    expect(headers.get('retry-after')).toMatch(/^\d+$/)
    expect(calls.length).toBe(1)
  })
})
