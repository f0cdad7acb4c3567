import { afterEach, describe, expect, test } from '@jest/globals'
import { callOf } from '../../support/cards/sandbox.ts'
import { aCard, impatientStripeAt, stripeAt } from '../../support/cards/stripe.ts'
import { refusal, startStripeDouble } from '../../support/cards/stripe-double.ts'

const stripe = await startStripeDouble()
const processor = stripeAt(stripe.url)
afterEach(() => stripe.heal())

const CARDS = /^POST issuing\/cards/
let count = 0
const newCall = () => callOf(`fault_${++count}`)
const ownerId = 'customer_of_faults'
const LATE = { failure: 'late' }
const issue = (call = newCall()) => processor.issue(aCard({ ownerId }), call)

describe('a call to Stripe', () => {
  test('that gets no answer in time is late, and repeated makes one card', async () => {
    const call = newCall()
    stripe.break(CARDS, () => {})
    expect(await impatientStripeAt(stripe.url, 50, 600_000).issue(aCard({ ownerId }), call)).toEqual(LATE)
    stripe.heal()
    const cards = stripe.cards.size
    expect(await issue(call)).toMatchObject({ last4: '0018' })
    expect(await issue(call)).toMatchObject({ last4: '0018' })
    expect(stripe.cards.size - cards).toBe(1)
  })

  test('whose answer was lost on its way makes one card', async () => {
    const call = newCall()
    const cards = stripe.cards.size
    const made = await issue(call)
    stripe.break(CARDS, (_, response) => response.destroy())
    expect(await issue(call)).toEqual(LATE)
    stripe.heal()
    expect(await issue(call)).toEqual(made)
    expect(stripe.cards.size - cards).toBe(1)
  })

  test('whose answer only trickles is late', async () => {
    stripe.break(CARDS, (_, response) => {
      response.writeHead(200)
      const timer = setInterval(() => response.write(' '), 10)
      response.on('close', () => clearInterval(timer))
    })
    const impatient = impatientStripeAt(stripe.url, 50, 600_000)
    expect(await impatient.issue(aCard({ ownerId }), newCall())).toEqual(LATE)
  })

  test('of several requests has one limit for all of them', async () => {
    stripe.break(CARDS, () => {})
    const impatient = impatientStripeAt(stripe.url, 60_000, 50)
    expect(await impatient.issue(aCard({ ownerId }), newCall())).toEqual(LATE)
  })

  test('is not repeated by the adapter', async () => {
    stripe.break(CARDS, (_, response) => response.destroy())
    const call = newCall()
    expect(await issue(call)).toEqual(LATE)
    // Abandoned calls may arrive only now; they have other keys.
    expect(stripe.to(CARDS).filter(({ key }) => key === call.reference)).toHaveLength(1)
  })

  test.each([
    ['500', 500, {}, { failure: 'unusable' }],
    [
      'a wrong key',
      401,
      { message: 'Invalid API Key provided: sk_live_51NeverToBeSeen' },
      { failure: 'unusable' },
    ],
    ['a key without the right', 403, { message: 'The key lacks rights.' }, { failure: 'unusable' }],
    ['too many requests', 429, { code: 'rate_limit' }, { failure: 'late' }],
    ['the same key at work', 409, { code: 'idempotency_key_in_use' }, { failure: 'late' }],
    [
      'a declined card',
      402,
      { type: 'card_error', code: 'card_declined', message: 'Your card was declined.' },
      { failure: 'refused', code: 'card_declined', message: 'Your card was declined.' },
    ],
    [
      'a refusal without words',
      400,
      { type: 'invalid_request_error' },
      { failure: 'refused', code: 'invalid_request_error', message: expect.any(String) },
    ],
    [
      'a refusal that repeats a number',
      400,
      { code: 'odd', message: 'What is 4000 0099 9000 0018?' },
      { failure: 'refused', code: 'odd', message: 'What is [redacted]?' },
    ],
  ])('that is answered with %s is %j', async (_, status, error, expected) => {
    stripe.break(CARDS, refusal(status, error))
    expect(await issue()).toEqual(expected)
  })

  test.each([
    ['no JSON', 'a page of a proxy'],
    ['null', 'null'],
    ['an empty object', '{}'],
    ['a card without a number', '{"id":"ic_1","brand":"Visa","exp_month":8,"exp_year":2030}'],
    [
      'a card of the thirteenth month',
      '{"id":"ic_1","brand":"Visa","last4":"0018","exp_month":13,"exp_year":2030}',
    ],
  ])('that is answered with %s is unusable', async (_, body) => {
    stripe.break(CARDS, (_, response) => response.writeHead(200).end(body))
    expect(await issue()).toEqual({ failure: 'unusable' })
  })

  test('is not led elsewhere', async () => {
    const before = stripe.requests.length
    stripe.break(CARDS, (_, response) =>
      response.writeHead(307, { location: `${stripe.url}/v1/elsewhere` }).end(),
    )
    expect(await issue()).toMatchObject({ failure: expect.stringMatching(/late|unusable/) })
    expect(stripe.requests.slice(before).map(({ path }) => path)).not.toContain('elsewhere')
  })

  test('is late where nothing listens', async () => {
    const nobody = stripeAt('http://127.0.0.1:9')
    expect(await nobody.issue(aCard(), newCall())).toEqual({ failure: 'late' })
  })
})
