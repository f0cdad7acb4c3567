import { afterEach, describe, expect, test } from '@jest/globals'
import { addMs, minutes } from '../../../src/values/clock.ts'
import { cents } from '../../../src/values/money.ts'
import { callOf, requestedAt } from '../../support/cards/sandbox.ts'
import { aCard, stripeAt } from '../../support/cards/stripe.ts'
import { refusal, startStripeDouble } from '../../support/cards/stripe-double.ts'

const stripe = await startStripeDouble()
const processor = stripeAt(stripe.url)
afterEach(() => stripe.heal())

const CREATE = /^POST issuing\/cards$/
const nextDay = addMs(requestedAt, minutes(25 * 60))
const limited = { ...aCard().controls, dailyLimitCents: cents(4_200n) }
let count = 0
const newCall = () => callOf(`order_${++count}`)
const limitsOf = (id: string) => JSON.stringify(stripe.cards.get(id)?.spending_controls)

async function ask(act: () => Promise<object>): Promise<{ id: string; made: number }> {
  const before = stripe.cards.size
  const answer = await act()
  if (!('processorCardId' in answer)) throw new Error(JSON.stringify(answer))
  return { id: String(answer.processorCardId), made: stripe.cards.size - before }
}

describe.each([
  ['issued', (card = aCard(), call = newCall()) => processor.issue(card, call)],
  ['replaced', (card = aCard(), call = newCall()) => processor.replace('ic_1', card, call)],
] as const)('a card that is %s', (_, order) => {
  test('a repeated request after changed limits returns the same card with the new limits', async () => {
    const call = newCall()
    const first = await ask(() => order(aCard(), call))
    const again = await ask(() => order(aCard({ controls: limited }), call))
    expect(again).toEqual({ id: first.id, made: 0 })
    expect(limitsOf(first.id)).toContain('4200')
    expect(await ask(() => order(aCard({ controls: limited }), call))).toEqual(again)
    const changedAgain = { ...limited, dailyLimitCents: cents(4_300n) }
    expect(await ask(() => order(aCard({ controls: changedAgain }), call))).toEqual(again)
    expect(limitsOf(first.id)).toContain('4300')
  })

  test('is the same on the next day, when Stripe has forgotten the key', async () => {
    const call = newCall()
    const first = await ask(() => order(aCard(), call))
    stripe.forgetKeys()
    const again = await ask(() => order(aCard({ controls: limited }), { ...call, now: nextDay }))
    expect(again).toEqual({ id: first.id, made: 0 })
    expect(limitsOf(first.id)).toContain('4200')
  })

  test('is made on the next day if it was not before, and not taken for another one of its holder', async () => {
    const other = await ask(() => order())
    const call = newCall()
    const late = await ask(() => order(aCard(), { ...call, now: nextDay }))
    expect(late.made).toBe(1)
    expect(late.id).not.toBe(other.id)
  })

  test('requests a card again if its key was used and no card is found', async () => {
    stripe.break(CREATE, refusal(400, { type: 'idempotency_error', message: 'Another request used it.' }))
    expect(await order()).toEqual({ failure: 'unusable' })
  })
})

test('a replacement without a link is one, too, when its limits have changed', async () => {
  const call = newCall()
  await processor.issue(aCard(), newCall())
  const withoutLink = async (controls = aCard().controls) => {
    stripe.break(CREATE, ({ params }, response) => {
      stripe.heal()
      refusal(400, { param: 'replacement_for', message: 'Cancel it.' })({ params } as never, response)
    })
    return ask(() => processor.replace('ic_1', aCard({ controls }), call))
  }
  const first = await withoutLink()
  expect(first.made).toBe(1)
  expect(await withoutLink(limited)).toEqual({ id: first.id, made: 0 })
})
