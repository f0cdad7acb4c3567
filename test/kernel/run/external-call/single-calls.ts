import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { statusCounts, times } from '../../../support/at-once.ts'
import {
  advisoryLocks,
  age,
  answerCalls,
  ask,
  beginAnew,
  called,
  calls,
  endCalls,
  holdCalls,
  openTransactions,
  owner,
  service,
  states,
  whileKeyIsHeld,
} from './asking.ts'

const other = await service.another()

beforeEach(beginAnew)
afterEach(endCalls)

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

  test('is recorded after another request with its key has looked for the answer', async () => {
    const sampleId = await service.sample(owner, 1)
    const call = holdCalls()
    const answering = ask(sampleId, 'looked-up')
    await called(1)
    await whileKeyIsHeld('looked-up', () => call.answer('confirmed'))
    expect((await answering).status).toBe(200)
    expect(await states(sampleId)).toEqual(['confirmed'])
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
    answerCalls(async () => {
      throw new Error('connection reset')
    })
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

  test('is recovered at once where the lease of its process has run out', async () => {
    const sampleId = await service.sample(owner, 1)
    answerCalls(async () => {
      throw new Error('connection reset')
    })
    await ask(sampleId, 'dead')
    const leaseOf = async () =>
      (await service.sql(`select leased_by as id from idempotency_keys where key = 'dead'`))[0]?.id
    expect((await ask(sampleId, 'dead')).status).toBe(409)
    const lease = 'a process that was killed'
    await service.sql(`insert into process_leases values ($1, 'calls', now() + interval '1 hour')`, [lease])
    await service.sql(`update idempotency_keys set leased_by = $1 where key = 'dead'`, [lease])
    expect((await ask(sampleId, 'dead')).status).toBe(409)
    await service.sql('update process_leases set held_until = now() where id = $1', [lease])
    expect((await ask(sampleId, 'dead')).body).toEqual({ id: calls[0], answer: 'unknown' })
    expect(await service.sql('select from process_leases where id = $1', [lease])).toEqual([])
    expect(await leaseOf()).toBeNull()
    expect(calls.length).toBe(1)
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
    answerCalls(async () => {
      throw new Error('connection reset')
    })
    expect((await ask(sampleId)).status).toBe(500)
    answerCalls(async () => 'confirmed')
    expect((await ask(sampleId)).status).toBe(200)
    expect(calls.length).toBe(2)
  })
})
