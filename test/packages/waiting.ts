import { describe, expect, jest, test } from '@jest/globals'
import { NoAnswer } from '../../src/derive/retry.ts'
import { clientClass } from '../../src/packages/typescript/client.ts'
import { clock } from '../../src/values/system-clock.ts'
import { type Answer, broken, json, refusal, withoutWaiting } from '../support/packages/answers.ts'

interface Intents {
  readonly intents: { wait(id: string, options?: object): Promise<{ status: string }> }
}

describe('waiting for a decision', () => {
  const WithIntents = clientClass({ intents: { get: 'GET /intents/{id} r' } })

  function aWaiter(answers: readonly Answer[]) {
    const left = [...answers]
    const fetch = async (): Promise<Response> => {
      const answer = left.shift() ?? refusal(500, 'one_request_more_than_was_expected')
      if (answer instanceof Error) throw answer
      return answer as Response
    }
    const { intents } = new WithIntents({
      url: 'https://pay.example',
      token: 'a',
      fetch,
      retries: 0,
    }) as Intents
    return { intents, left }
  }
  const intent = (status: string): Response => json({ id: 'intent_1', status })

  test.each(['approved', 'denied', 'expired', 'cancelled', 'completed'])(
    'asks more and more rarely, and gives the intent once it is %s',
    async status => {
      const { intents } = aWaiter([...Array.from({ length: 7 }, () => intent('created')), intent(status)])
      const { outcome, pauses } = await withoutWaiting(() => intents.wait('intent_1'))
      expect(outcome).toMatchObject({ status: 'fulfilled', value: { status } })
      expect(pauses).toEqual([500, 1_000, 2_000, 3_000, 5_000, 5_000, 5_000])
    },
  )

  test('continues without an answer, and ends with a refusal', async () => {
    const { intents } = aWaiter([intent('created'), broken(), refusal(404, 'intent_not_found')])
    const { outcome } = await withoutWaiting(() => intents.wait('intent_1'))
    expect(outcome).toMatchObject({ status: 'rejected', reason: { code: 'intent_not_found' } })
  })

  test('returns the undecided intent at the time limit', async () => {
    const { intents, left } = aWaiter(Array.from({ length: 4 }, () => intent('created')))
    // Only the pauses take time, however busy the machine is.
    const ticks = jest.spyOn(clock, 'ticks').mockReturnValue(0)
    const { outcome, pauses } = await withoutWaiting(() => intents.wait('intent_1', { withinMs: 2_000 }))
    ticks.mockRestore()
    expect(outcome).toMatchObject({ status: 'fulfilled', value: { status: 'created' } })
    // Alternately the time allowed for an answer, at least a second, and the pause after it.
    expect([pauses, left.length]).toEqual([[2_000, 500, 1_500, 1_000, 1_000, 500, 1_000], 0])
    await expect(aWaiter([broken()]).intents.wait('intent_1', { withinMs: 0 })).rejects.toThrow(NoAnswer)
    await expect(aWaiter([]).intents.wait('intent_1', { withinMs: -1 })).rejects.toThrow('withinMs')
  })

  test.each<[string, object]>([
    ['within is no option of pay.intents.wait: write withinMs', { within: 5 }],
    ['retries is no option of pay.intents.wait: it takes withinMs, ', { retries: 5 }],
    ['pay.intents.wait: withinMs is a number of milliseconds, from 0 on', { withinMs: '5' }],
  ])('asks nothing with what it does not know: %s', async (sentence, options) => {
    const { intents, left } = aWaiter([intent('approved')])
    await expect(intents.wait('intent_1', options)).rejects.toThrow(sentence)
    expect(left).toHaveLength(1)
  })

  test('gives each attempt the time of its client', async () => {
    const never: Answer = ({ signal }) =>
      new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason)))
    const left = [never, async () => intent('approved')]
    const fetch = (_: unknown, init: RequestInit = {}) => (left.shift() ?? never)(init)
    const options = { url: 'https://pay.example', token: 'a', fetch, retries: 0, timeoutMs: 7_000 }
    const { intents } = new WithIntents(options) as Intents
    const { outcome, pauses } = await withoutWaiting(() => intents.wait('intent_1'))
    expect(outcome).toMatchObject({ status: 'fulfilled', value: { status: 'approved' } })
    expect(pauses).toEqual([7_000, 500, 7_000])
  })

  test('ends at the time limit where the service never answers', async () => {
    const never: Answer = ({ signal }) =>
      new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason)))
    const fetch = (_: unknown, init: RequestInit = {}) => never(init)
    const { intents } = new WithIntents({ url: 'https://pay.example', token: 'a', fetch }) as Intents
    const ticks = jest.spyOn(clock, 'ticks').mockReturnValue(0)
    const { outcome, pauses } = await withoutWaiting(() => intents.wait('intent_1', { withinMs: 2_000 }))
    ticks.mockRestore()
    expect(outcome).toMatchObject({ status: 'rejected', reason: expect.any(NoAnswer) })
    expect(pauses).toEqual([2_000, 500, 1_500, 1_000, 1_000, 500, 1_000])
  })

  test.each(['unavailable', 'rate_limited'])('continues after %s, which passes', async code => {
    const later = () => refusal(429, code, { 'retry-after': '30' })
    const { intents } = aWaiter([later(), intent('created'), later(), intent('approved')])
    const { outcome } = await withoutWaiting(() => intents.wait('intent_1'))
    expect(outcome).toMatchObject({ status: 'fulfilled', value: { status: 'approved' } })
  })

  test('ends with the signal of its caller', async () => {
    const ending = new AbortController()
    const waiting = aWaiter([intent('created')]).intents.wait('intent_1', { signal: ending.signal })
    ending.abort(new Error('enough'))
    await expect(waiting).rejects.toThrow('enough')
  })
})

describe('waiting for the outcome of a machine payment', () => {
  const WithPayments = clientClass({ mpp: { payment: 'GET /v1/mpp/payments/{id} r' } })

  test.each(['paid', 'ended', 'indeterminate', 'awaiting_person'])('gives it once it is %s', async status => {
    const left = ['waiting', 'ordering', 'sent', status]
    const fetch = async () => json({ id: 'mppcredential_1', status: left.shift() })
    const { mpp } = new WithPayments({ url: 'https://pay.example', token: 'a', fetch }) as {
      readonly mpp: Intents['intents']
    }
    const { outcome, pauses } = await withoutWaiting(() => mpp.wait('mppcredential_1'))
    expect(outcome).toMatchObject({ status: 'fulfilled', value: { status } })
    expect(pauses).toHaveLength(3)
  })
})
