import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { startSampleService, statusCounts, times } from '../../support/sample-service.ts'
import { until } from '../../support/until.ts'

/** The external system of this file: answers as the running test says, and records each call. */
let answerCall: () => Promise<string> = async () => 'confirmed'
const calls: string[] = []
const service = await startSampleService({
  callSystem: inquiryId => {
    calls.push(inquiryId)
    return answerCall()
  },
})
const other = await service.another()
const owner = await service.owner()

let endPendingCall = (): void => undefined
afterEach(() => endPendingCall())
beforeEach(() => {
  answerCall = async () => 'confirmed'
  calls.splice(0)
})

const ask = (sampleId: string, idempotencyKey?: string, client = owner.client) =>
  client.samples.inquire({ params: { id: sampleId }, ...(idempotencyKey ? { idempotencyKey } : {}) })

/** From now on a call waits until the test answers it or lets it fail. */
function holdCalls() {
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  answerCall = () => promise
  endPendingCall = () => resolve('the test is over')
  return { answer: resolve, fail: () => reject(new Error('connection reset')) }
}

const called = (count: number) => until(`${count} calls`, () => calls.length >= count)

const states = async (sampleId: string) =>
  (await service.sql('select state from inquiries where sample_id = $1 order by id', [sampleId])).map(
    ({ state }) => state,
  )

/** Moves the call with this key so far into the past. */
const age = (key: string, interval: string) =>
  service.sql('update idempotency_keys set created_at = created_at - $2::interval where key = $1', [
    key,
    interval,
  ])

const openTransactions = () =>
  service.sql(
    `select query from pg_stat_activity
     where datname = current_database() and state like 'idle in transaction%'`,
  )

const advisoryLocks = () =>
  service.sql(
    `select from pg_locks join pg_database d on d.oid = database
     where locktype = 'advisory' and datname = current_database()`,
  )

describe('a call to an external system', () => {
  test('is reserved, made once and recorded, with its event', async () => {
    const sampleId = await service.sample(owner, 1)
    const { status, body } = await ask(sampleId)
    expect({ status, body }).toEqual({ status: 200, body: { id: calls[0], answer: 'confirmed' } })
    expect(calls.length).toBe(1)
    expect(await states(sampleId)).toEqual(['confirmed'])
    expect(await service.traces(sampleId)).toEqual({ withdrawals: 0, events: 1, audit: 1 })
  })

  test('is made with no transaction open and no lock held, after its reservation is stored', async () => {
    const sampleId = await service.sample(owner, 1)
    const call = holdCalls()
    const answering = ask(sampleId, 'slow')
    await called(1)
    expect(await openTransactions()).toEqual([])
    expect(await advisoryLocks()).toEqual([])
    expect(await states(sampleId)).toEqual(['reserved'])
    call.answer('confirmed late')
    expect((await answering).body.answer).toBe('confirmed late')
  })

  test('is not made where reserving is refused', async () => {
    const { status, code } = await ask('sample_of_nobody', 'refused')
    expect({ status, code }).toEqual({ status: 404, code: 'sample_not_found' })
    expect(calls).toEqual([])
    const again = await ask('sample_of_nobody', 'refused')
    expect([again.status, again.headers.get('idempotent-replayed')]).toEqual([404, 'true'])
  })

  test('is replayed, not repeated', async () => {
    const sampleId = await service.sample(owner, 1)
    const first = await ask(sampleId, 'replayed')
    const again = await ask(sampleId, 'replayed')
    expect({ status: again.status, body: again.body }).toEqual({ status: 200, body: first.body })
    expect(again.headers.get('idempotent-replayed')).toBe('true')
    expect(calls.length).toBe(1)
  })

  test('is made once for fifty concurrent requests to two processes', async () => {
    const sampleId = await service.sample(owner, 1)
    const call = holdCalls()
    const clients = [owner.client, service.at(other, owner)]
    const answering = times(50, index => ask(sampleId, 'fifty', clients[index % 2]))
    await called(1)
    expect((await ask(sampleId, 'fifty')).status).toBe(409)
    call.answer('confirmed')
    const { 200: answered = 0, 409: inProgress = 0 } = statusCounts(await answering)
    expect(answered + inProgress).toBe(50)
    expect(answered).toBeGreaterThan(0)
    expect(calls.length).toBe(1)
    expect(await service.traces(sampleId)).toEqual({ withdrawals: 0, events: 1, audit: 1 })
  })

  test('refuses another request with its key while it is under way', async () => {
    const sampleId = await service.sample(owner, 1)
    const call = holdCalls()
    const answering = ask(sampleId, 'else')
    await called(1)
    expect((await ask(await service.sample(owner, 1), 'else')).status).toBe(422)
    call.answer('confirmed')
    await answering
  })
})

describe('a call that fails', () => {
  test('answers 500, and is not made again while its lease lasts', async () => {
    const sampleId = await service.sample(owner, 1)
    const call = holdCalls()
    const answering = ask(sampleId, 'broken')
    await called(1)
    call.fail()
    expect((await answering).status).toBe(500)
    const { status, code, headers } = await ask(sampleId, 'broken')
    expect({ status, code }).toEqual({ status: 409, code: 'in_progress' })
    expect(headers.get('retry-after')).toMatch(/^\d+$/)
    await age('broken', '1 minute')
    expect((await ask(sampleId, 'broken')).status).toBe(409)
    expect(calls.length).toBe(1)
  })

  test('is recovered by the next try after its lease, and the system is not called again', async () => {
    const sampleId = await service.sample(owner, 1)
    answerCall = async () => {
      throw new Error('connection reset')
    }
    await ask(sampleId, 'recovered')
    await age('recovered', '3 minutes')
    const answers = await times(10, () => ask(sampleId, 'recovered'))
    const recovered = answers.find(({ status }) => status === 200)
    expect(recovered?.body).toEqual({ id: calls[0], answer: 'unknown' })
    expect(answers.every(({ status }) => status === 200 || status === 409)).toBe(true)
    expect((await ask(sampleId, 'recovered')).body).toEqual(recovered?.body)
    expect(calls.length).toBe(1)
    expect(await states(sampleId)).toEqual(['unknown'])
    expect((await service.traces(sampleId)).events).toBe(1)
  })

  test('changes nothing if its answer comes after a recovery', async () => {
    const sampleId = await service.sample(owner, 1)
    const call = holdCalls()
    const answering = ask(sampleId, 'late')
    await called(1)
    await age('late', '3 minutes')
    expect((await ask(sampleId, 'late')).body.answer).toBe('unknown')
    call.answer('confirmed late')
    expect((await answering).body.answer).toBe('unknown')
    expect(await states(sampleId)).toEqual(['unknown'])
    expect((await service.traces(sampleId)).events).toBe(1)
  })

  test('is made again when it had no key', async () => {
    const sampleId = await service.sample(owner, 1)
    answerCall = async () => {
      throw new Error('connection reset')
    }
    expect((await ask(sampleId)).status).toBe(500)
    answerCall = async () => 'confirmed'
    expect((await ask(sampleId)).status).toBe(200)
    expect(calls.length).toBe(2)
  })
})
