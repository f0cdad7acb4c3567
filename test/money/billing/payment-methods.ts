import { describe, expect, test } from '@jest/globals'
import { sandboxFundingRail } from '../../../src/adapters/funding-rail/sandbox.ts'
import type { FundingRail } from '../../../src/ports/funding-rail.ts'
import { aLiveClient, aPaymentMethod, bodyOf } from '../../support/factories.ts'
import { startTestService } from '../../support/harness.ts'
import { tablesWith, traceOf } from '../../support/trace.ts'

const sandbox = sandboxFundingRail()
let instrumentOf: FundingRail['instrumentOf'] = sandbox.instrumentOf
const rail: FundingRail = { ...sandbox, instrumentOf: (...args) => instrumentOf(...args) }
const bare = await startTestService()
const service = await startTestService({ outside: { fundingRail: () => rail } })
const owner = await service.owner()
const { client } = owner

const listed = async (query: object = {}) =>
  (await bodyOf(client.billing.paymentMethods({ query }))).data.map(({ id }) => id)
const remove = (id: string) => client.billing.removePaymentMethod({ params: { id } })

describe('a payment method', () => {
  test.each([
    ['tok_visa', 'card', 'visa', '4242'],
    ['tok_mastercard', 'card', 'mastercard', '4444'],
    ['tok_sepa_debit', 'sepa_debit', null, '3000'],
  ])('of %s has the data that the processor returns', async (token, kind, brand, last4) => {
    const method = await aPaymentMethod(client, { token })
    expect(method).toMatchObject({ kind, brand, last4, holder: 'Ada Lovelace', status: 'active' })
    expect(JSON.stringify(method)).not.toContain(token)
  })

  test('is not added for an unknown token', async () => {
    const body = { token: 'tok_of_nothing', holder: 'Ada' }
    expect(await client.billing.addPaymentMethod({ body })).toMatchObject({
      status: 400,
      code: 'token_unknown',
    })
  })

  test('is not added if the processor does not answer in time', async () => {
    instrumentOf = async () => 'silent'
    const answer = await client.billing.addPaymentMethod({ body: { token: 'tok_visa', holder: 'Silent' } })
    instrumentOf = sandbox.instrumentOf
    expect(answer).toMatchObject({ status: 504, code: 'processor_silent' })
    expect(await tablesWith(service, 'Silent')).not.toContain('payment_methods')
  })

  test('is added once for each idempotency key', async () => {
    const ask = () =>
      client.billing.addPaymentMethod({ body: { token: 'tok_visa', holder: 'Once' }, idempotencyKey: 'once' })
    const [first, again] = [await ask(), await ask()]
    expect([first.status, again.body]).toEqual([201, first.body])
    expect(await traceOf(service, first)).toMatchObject({ events: ['payment_method.created'], entries: 1 })
  })

  test('is listed after its removal only on request, and not removed again', async () => {
    const { id } = await aPaymentMethod(client)
    expect(await listed()).toContain(id)
    expect((await remove(id)).status).toBe(204)
    expect(await listed()).not.toContain(id)
    expect(await listed({ status: 'removed' })).toContain(id)
    expect(await remove(id)).toMatchObject({ status: 404, code: 'payment_method_not_found' })
  })

  test('is found by its kind, and by its owner only', async () => {
    const { id } = await aPaymentMethod(client, { token: 'tok_sepa_debit' })
    expect(await listed({ kind: 'sepa_debit' })).toContain(id)
    expect(await listed({ kind: 'card' })).not.toContain(id)
    const stranger = await service.owner()
    expect((await bodyOf(stranger.client.billing.paymentMethods())).data).toEqual([])
    expect((await stranger.client.billing.removePaymentMethod({ params: { id } })).status).toBe(404)
  })
})

describe('a card number is refused', () => {
  test.each<[string, unknown]>([
    ['as the token', { token: '4242424242424242', holder: 'Ada' }],
    ['in groups', { token: 'tok_visa', holder: 'Ada 4242 4242 4242 4242' }],
    ['with hyphens', { token: 'tok_visa', holder: '5555-5555-5555-4444' }],
    ['as a number', { token: 'tok_visa', holder: 'Ada', number: 4242424242424242 }],
    ['of fifteen digits', { token: 'tok_visa', holder: 'Ada', pan: '378282246310005' }],
    [
      'deep inside',
      { token: 'tok_visa', holder: 'Ada', card: [{ details: { number: '4111111111111111' } }] },
    ],
    ['as a name', { token: 'tok_visa', holder: 'Ada', '4111111111111111': true }],
  ])('%s, and stored nowhere', async (_, body) => {
    const answer = await service.http('POST', '/billing/payment-methods', { token: owner.key, body })
    expect(answer.status).toBe(400)
    expect(answer.body.error).toMatch(/Never send one/)
    expect(answer.text).not.toMatch(/\d{12}/)
  })

  test.each([
    ['digits that fail the check', 'Ada 4242424242424241'],
    ['too few digits', 'Ada 42424242424'],
    ['digits of a longer number', `Ada ${'42'.repeat(10)}`],
  ])('but not %s', async (_, holder) => {
    expect((await aPaymentMethod(client, { holder })).holder).toBe(holder)
  })
})

test('live mode without a processor answers 503 and names the setting', async () => {
  const live = await aLiveClient(bare, await bare.owner())
  const answer = await live.billing.addPaymentMethod({ body: { token: 'tok_visa', holder: 'Ada' } })
  expect(answer).toMatchObject({ status: 503, code: 'not_configured' })
  expect(answer.error).toContain('FUNDING_RAIL')
})
