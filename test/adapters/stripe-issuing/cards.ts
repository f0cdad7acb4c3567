import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import type { CardProcessor, ProcessorControls } from '../../../src/ports/card-processor.ts'
import { cents } from '../../../src/values/money.ts'
import { callOf } from '../../support/cards/sandbox.ts'
import { aCard, stripeAt } from '../../support/cards/stripe.ts'
import { refusal, startStripeDouble } from '../../support/cards/stripe-double.ts'
import type { StripeRequest } from '../../support/cards/stripe-exchange.ts'

const stripe = await startStripeDouble()
let processor: CardProcessor
beforeEach(() => {
  stripe.cards.clear()
  stripe.cardholders.clear()
  processor = stripeAt(stripe.url)
})
afterEach(() => stripe.heal())

const CREATE = /^POST issuing\/cards$/
let count = 0
const newCall = () => callOf(`reference_${++count}`)
const newOwner = () => `customer_${++count}`

async function issued(card = aCard({ ownerId: newOwner() })): Promise<string> {
  const answer = await processor.issue(card, newCall())
  if (!('processorCardId' in answer)) throw new Error(JSON.stringify(answer))
  return answer.processorCardId
}

const limitsOf = (id: string) => stripe.cards.get(id)?.spending_controls

describe('a card at Stripe', () => {
  test('is virtual, in euros, inactive, and known by what may be stored of it', async () => {
    const ownerId = newOwner()
    const answer = await processor.issue(aCard({ ownerId }), newCall())
    expect(answer).toEqual({
      processorCardId: 'ic_1',
      brand: 'visa',
      last4: '0018',
      expMonth: 8,
      expYear: 2030,
    })
    expect(stripe.cards.get('ic_1')).toMatchObject({
      type: 'virtual',
      currency: 'eur',
      status: 'inactive',
      cardholder: 'ich_1',
      metadata: { card_id: 'card_1', owner_id: ownerId },
    })
  })

  test('is one, however often the call is repeated, also at the same time', async () => {
    const [card, call] = [aCard({ ownerId: newOwner() }), newCall()]
    const answers = await Promise.all([1, 2, 3].map(() => processor.issue(card, call)))
    answers.push(await processor.issue(card, call))
    expect(new Set(answers.map(answer => JSON.stringify(answer))).size).toBe(1)
    expect(stripe.cards.size).toBe(1)
    expect(stripe.cardholders.size).toBe(1)
    expect(stripe.to(CREATE).at(-1)?.key).toBe(call.reference)
  })

  test('is requested with the API version of the package and the key of the account, without telemetry', async () => {
    await issued()
    await issued()
    const [{ headers }] = stripe.requests.slice(-1) as [StripeRequest]
    expect(headers).toMatchObject({
      'stripe-version': '2026-10-28.endive',
      authorization: 'Bearer sk_live_51NeverToBeSeen',
    })
    expect(headers).not.toHaveProperty('x-stripe-client-telemetry')
    expect(headers['x-stripe-client-user-agent']).not.toMatch(/platform|telemetry_id/)
  })

  test('is replaced by one of another number, and stays as it is', async () => {
    const card = aCard({ ownerId: newOwner() })
    const old = await issued(card)
    await processor.setState(old, 'active', newCall())
    const call = newCall()
    const answer = await processor.replace(old, card, call)
    expect(answer).toMatchObject({ processorCardId: 'ic_2' })
    expect(await processor.replace(old, card, call)).toEqual(answer)
    expect(stripe.cards.get('ic_2')).toMatchObject({ replacement_for: old, replacement_reason: 'lost' })
    expect(stripe.cards.get(old)).toMatchObject({ status: 'active' })
    expect(stripe.cards.size).toBe(2)
  })

  test('is replaced without a link where Stripe demands that the old card be cancelled first', async () => {
    const card = aCard({ ownerId: newOwner() })
    const old = await issued(card)
    stripe.break(CREATE, (request, response) => {
      const { replacement_for } = request.params
      if (replacement_for)
        return refusal(400, { param: 'replacement_for', message: 'Cancel it.' })(request, response)
      stripe.heal()
      response.writeHead(200).end(JSON.stringify({ ...stripe.cards.get(old), id: 'ic_2' }))
    })
    expect(await processor.replace(old, card, newCall())).toMatchObject({ processorCardId: 'ic_2' })
    const [linked, unlinked] = stripe.to(CREATE).slice(-2)
    expect(unlinked?.params).not.toHaveProperty('replacement_reason')
    expect(unlinked?.key).not.toBe(linked?.key)
  })

  test('is not issued again if a replacement is refused for another reason', async () => {
    const card = aCard({ ownerId: newOwner() })
    const old = await issued(card)
    const before = stripe.to(CREATE).length
    stripe.break(CREATE, refusal(400, { code: 'issuing_limit', message: 'Too many cards.' }))
    expect(await processor.replace(old, card, newCall())).toEqual({
      failure: 'refused',
      code: 'issuing_limit',
      message: 'Too many cards.',
    })
    expect(stripe.to(CREATE).length - before).toBe(1)
  })

  test.each([
    ['active', 'active'],
    ['inactive', 'inactive'],
    ['closed', 'canceled'],
  ] as const)('is made %s under the reference of the call', async (state, status) => {
    const [id, call] = [await issued(), newCall()]
    expect(await processor.setState(id, state, call)).toEqual({ done: true })
    expect(stripe.cards.get(id)?.status).toBe(status)
    expect(stripe.requests.at(-1)?.key).toBe(call.reference)
  })

  test('is closed as often as wanted, and never active again', async () => {
    const id = await issued()
    for (const _ of [1, 2]) expect(await processor.setState(id, 'closed', newCall())).toEqual({ done: true })
    expect(await processor.setState(id, 'active', newCall())).toMatchObject({ failure: 'refused' })
  })

  test('is not taken for changed where Stripe answers with another state', async () => {
    const id = await issued()
    stripe.break(/^POST issuing\/cards\//, (_, response) => response.end('{"id":"ic_1","status":"inactive"}'))
    expect(await processor.setState(id, 'active', newCall())).toEqual({ failure: 'unusable' })
  })
})

describe('limits and countries of a card at Stripe', () => {
  const { controls: none } = aCard()
  const HIGHEST = '99999999'
  const limited: ProcessorControls = {
    maxTransactionCents: cents(1_050n),
    dailyLimitCents: cents(10_000n),
    monthlyLimitCents: cents(100_000n),
    allowedCountries: ['DE', 'FR'],
    allowedMccs: ['5942'],
    blockedMccs: ['7995'],
  }
  const limits = (single: string, daily: string, monthly: string) => [
    { interval: 'per_authorization', amount: single },
    { interval: 'daily', amount: daily },
    { interval: 'monthly', amount: monthly },
  ]

  test('are those of the card, in cents; categories are left to the service', async () => {
    const id = await issued(aCard({ ownerId: newOwner(), controls: limited }))
    expect(limitsOf(id)).toEqual({
      spending_limits: limits('1050', '10000', '100000'),
      allowed_merchant_countries: ['DE', 'FR'],
    })
    expect(JSON.stringify(stripe.requests.at(-1)?.params)).not.toMatch(/categor|5942|7995/)
  })

  test('are none where the card has none, so that Stripe’s own daily limit does not apply', async () => {
    const id = await issued()
    const open = limits(HIGHEST, HIGHEST, HIGHEST)
    expect(limitsOf(id)).toEqual({ spending_limits: open, allowed_merchant_countries: [] })
  })

  test('are changed, and removed again', async () => {
    const id = await issued()
    expect(await processor.setControls(id, limited, newCall())).toEqual({ done: true })
    expect(limitsOf(id)).toMatchObject({ allowed_merchant_countries: ['DE', 'FR'] })
    expect(await processor.setControls(id, none, newCall())).toEqual({ done: true })
    const open = limits(HIGHEST, HIGHEST, HIGHEST)
    expect(limitsOf(id)).toEqual({ spending_limits: open, allowed_merchant_countries: [] })
  })

  test('above what Stripe can count are as good as none', async () => {
    const controls = { ...none, monthlyLimitCents: cents(10_000_000_000_000n) }
    const id = await issued(aCard({ ownerId: newOwner(), controls }))
    expect(limitsOf(id)).toMatchObject({ spending_limits: limits(HIGHEST, HIGHEST, HIGHEST) })
  })
})
