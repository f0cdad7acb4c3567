import { beforeEach, describe, expect, test } from '@jest/globals'
import { sandboxSepaRail } from '../../src/adapters/sepa-rail/sandbox.ts'
import type { SepaPayee, SepaRail, SepaRailCall } from '../../src/ports/sepa-rail.ts'
import { statusCounts, times } from '../support/at-once.ts'
import { aBeneficiary, aLiveClient, bodyOf, type TestClient } from '../support/factories.ts'
import { startTestService } from '../support/harness.ts'
import { traceOf, transactionCount } from '../support/trace.ts'
import { until } from '../support/until.ts'

/** The sandbox's rail, which records every call; a test can replace its answers. */
const calls: (SepaPayee & SepaRailCall)[] = []
const sandbox = sandboxSepaRail()
let answer: SepaRail['verifyPayee'] = sandbox.verifyPayee
const rail: SepaRail = {
  ...sandbox,
  verifyPayee(payee, call) {
    calls.push({ ...payee, ...call })
    return answer(payee, call)
  },
}
const service = await startTestService({ outside: { sepaRail: () => rail } })
const bare = await startTestService()
const rehearsal = await startTestService({ env: { SEPA_RAIL: 'sandbox' } })
const { client } = await service.owner()

beforeEach(() => {
  answer = sandbox.verifyPayee
  calls.splice(0)
})

const verify = (id: string, idempotencyKey?: string, by: TestClient = client) =>
  by.beneficiaries.verify({ params: { id }, ...(idempotencyKey ? { idempotencyKey } : {}) })

const verificationOf = async (id: string) =>
  (await bodyOf(client.beneficiaries.get({ params: { id } }))).verification

/** Makes a call look old enough to be recovered. */
const age = (key: string) =>
  service.sql(`update idempotency_keys set created_at = created_at - interval '3 minutes' where key = $1`, [
    key,
  ])

/** Makes the rail wait with its answer until the function returned is called. */
function slowRail() {
  const { promise, resolve, reject } = Promise.withResolvers<Awaited<ReturnType<SepaRail['verifyPayee']>>>()
  answer = () => promise
  return { resolve, fail: () => reject(new Error('the line is dead')) }
}

const bankIsAsked = () => until('the rail is asked', () => calls.length > 0)

describe('the verification of a payee', () => {
  test.each([
    ['Bäckerei Müller', 'match', null],
    ['Close Adler GmbH', 'close_match', 'Adler GmbH'],
    ['No Match GmbH', 'no_match', null],
    ['Unknown Person', 'not_possible', null],
  ])('of %s is a %s', async (name, result, suggestedName) => {
    const { id } = await aBeneficiary(client, { name })
    const { status, body } = await verify(id)
    const verification = { result, suggestedName, at: expect.stringMatching(/^\d{4}-.*Z$/) }
    expect([status, body]).toEqual([200, { beneficiaryId: id, ...verification }])
    expect(await verificationOf(id)).toEqual({ result, suggestedName, at: body.at })
  })

  test('sends the name as given, and the account', async () => {
    const { id } = await aBeneficiary(client, { bic: 'COBADEFFXXX' })
    const { headers } = await verify(id)
    expect(calls).toEqual([
      {
        name: 'Bäckerei Müller',
        iban: 'DE89370400440532013000',
        bic: 'COBADEFFXXX',
        reference: expect.stringMatching(/^payeecheck_[0-9a-z]{26}$/),
        requestId: headers.get('x-request-id'),
      },
    ])
  })

  test('records its event with the answer', async () => {
    const { id } = await aBeneficiary(client)
    const answered = await verify(id)
    expect(await traceOf(service, answered)).toEqual({
      events: ['beneficiary.verified'],
      actions: ['beneficiaries.verify'],
      entries: 1,
    })
    expect(await transactionCount(service, answered, 'beneficiaries', id)).toBe(1)
    const [event] = (await bodyOf(client.events.list({ query: { limit: 1 } }))).data
    expect(event?.data).toMatchObject({ beneficiaryId: id, verification: 'match' })
  })

  test('can be repeated, and the last answer counts', async () => {
    const { id } = await aBeneficiary(client)
    await bodyOf(verify(id))
    answer = async () => ({ result: 'no_match', suggestedName: null })
    await bodyOf(verify(id))
    expect((await verificationOf(id))?.result).toBe('no_match')
    expect(new Set(calls.map(({ reference }) => reference)).size).toBe(2)
  })

  test('with the same key is replayed, not repeated', async () => {
    const { id } = await aBeneficiary(client)
    const first = await verify(id, 'replayed')
    const again = await verify(id, 'replayed')
    expect([again.status, again.body, again.headers.get('idempotent-replayed')]).toEqual([
      200,
      first.body,
      'true',
    ])
    expect(calls).toHaveLength(1)
  })

  test('asks the bank once for twenty concurrent requests with one key', async () => {
    const { id } = await aBeneficiary(client)
    const slow = slowRail()
    const all = times(20, () => verify(id, 'twenty'))
    await bankIsAsked()
    slow.resolve({ result: 'match', suggestedName: null })
    const { 200: answered = 0, 409: waiting = 0 } = statusCounts(await all)
    expect([answered > 0, answered + waiting]).toEqual([true, 20])
    expect(calls).toHaveLength(1)
  })
})

describe('a bank without a usable answer', () => {
  test.each([
    ['Timeout GmbH', 504, 'bank_silent'],
    ['Garbled GmbH', 502, 'bank_answer_unusable'],
  ])('(%s) gives %i, and nothing is recorded', async (name, status, code) => {
    const { id } = await aBeneficiary(client, { name })
    const answered = await verify(id)
    expect(answered).toMatchObject({ status, code })
    expect(await verificationOf(id)).toBe(null)
    expect((await traceOf(service, answered))?.events).toEqual([])
  })

  test('leaves the earlier result unchanged', async () => {
    const { id } = await aBeneficiary(client)
    await bodyOf(verify(id))
    const before = await verificationOf(id)
    answer = async () => 'late'
    expect((await verify(id)).status).toBe(504)
    expect(await verificationOf(id)).toEqual(before)
  })
})

describe('a crash between the call and the record', () => {
  test('is answered as a timeout on the retry, without asking the bank again', async () => {
    const { id } = await aBeneficiary(client)
    answer = async () => {
      throw new Error('the line is dead')
    }
    expect((await verify(id, 'crashed')).status).toBe(500)
    expect(await verify(id, 'crashed')).toMatchObject({ status: 409, code: 'in_progress' })
    await age('crashed')
    answer = sandbox.verifyPayee
    for (let count = 0; count < 2; count++)
      expect(await verify(id, 'crashed')).toMatchObject({ status: 504, code: 'bank_silent' })
    expect(calls).toHaveLength(1)
    expect(await verificationOf(id)).toBe(null)
    expect((await verify(id, 'anew')).status).toBe(200)
  })

  test('that was only slowness changes nothing after the recovery', async () => {
    const { id } = await aBeneficiary(client)
    const slow = slowRail()
    const first = verify(id, 'slow')
    await bankIsAsked()
    await age('slow')
    expect((await verify(id, 'slow')).status).toBe(504)
    slow.resolve({ result: 'match', suggestedName: null })
    expect((await first).status).toBe(504)
    expect(await verificationOf(id)).toBe(null)
  })
})

describe('a beneficiary that changes while the bank is asked', () => {
  const meanwhile = async (id: string, happens: () => Promise<{ status: number }>) => {
    const slow = slowRail()
    const pending = verify(id)
    await bankIsAsked()
    expect((await happens()).status).toBeLessThan(300)
    slow.resolve({ result: 'match', suggestedName: null })
    return pending
  }

  test.each([
    ['name', { name: 'Somebody else' }],
    ['IBAN', { iban: 'NL91ABNA0417164300' }],
  ])('by %s does not get the result', async (_, body) => {
    const { id } = await aBeneficiary(client)
    const answered = await meanwhile(id, () => client.beneficiaries.update({ params: { id }, body }))
    expect(answered).toMatchObject({ status: 409, code: 'beneficiary_changed' })
    expect(await verificationOf(id)).toBe(null)
  })

  test('by email gets the result', async () => {
    const { id } = await aBeneficiary(client)
    const body = { email: 'ada@example.com' }
    expect((await meanwhile(id, () => client.beneficiaries.update({ params: { id }, body }))).status).toBe(
      200,
    )
    expect((await verificationOf(id))?.result).toBe('match')
  })

  test('by being deleted is not found', async () => {
    const { id } = await aBeneficiary(client)
    const answered = await meanwhile(id, () => client.beneficiaries.delete({ params: { id } }))
    expect(answered).toMatchObject({ status: 404, code: 'beneficiary_not_found' })
  })
})

describe('in live mode', () => {
  test('verification without a rail answers 503, names the setting and reserves nothing', async () => {
    const live = await aLiveClient(bare, await bare.owner())
    const { id } = await aBeneficiary(live)
    for (let count = 0; count < 2; count++) {
      const answered = await live.beneficiaries.verify({ params: { id }, idempotencyKey: 'live' })
      expect(answered).toMatchObject({ status: 503, code: 'not_configured' })
      expect(answered.error).toContain('SEPA_RAIL')
      expect(answered.headers.get('idempotent-replayed')).toBe(null)
    }
    expect(await bare.sql('select from idempotency_keys where key = $1', ['live'])).toEqual([])
  })

  test('verification asks the bank of the configured rail', async () => {
    const live = await aLiveClient(rehearsal, await rehearsal.owner())
    const { id } = await aBeneficiary(live, { name: 'No Match GmbH' })
    expect((await bodyOf(verify(id, undefined, live))).result).toBe('no_match')
  })
})
