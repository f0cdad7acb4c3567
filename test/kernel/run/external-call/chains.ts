import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
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
  /** The first call is answered with `ask again`; the second one as told. */
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

  test.each(['with-a-key', undefined])('goes on as far as its answers lead, %s', async key => {
    const sampleId = await service.sample(owner, 1)
    answerCalls(async round => (round < 4 ? 'ask again' : 'confirmed'))
    expect((await ask(sampleId, key)).body.answer).toBe('confirmed')
    expect(calls.length).toBe(4)
    expect(await states(sampleId)).toEqual(['confirmed'])
  })

  test('is replayed as a whole', async () => {
    const sampleId = await service.sample(owner, 1)
    secondCall(async () => 'confirmed')
    const first = await ask(sampleId, 'chain-replayed')
    const again = await ask(sampleId, 'chain-replayed')
    expect([again.status, again.body]).toEqual([200, first.body])
    expect(again.headers.get('idempotent-replayed')).toBe('true')
    expect(calls.length).toBe(2)
  })

  test('that breaks in its second call is recovered from what was committed last, and calls nobody', async () => {
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

  test('keeps its lease while it goes on: each commit begins it anew', async () => {
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
