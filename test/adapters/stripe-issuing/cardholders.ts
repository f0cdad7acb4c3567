import { beforeEach, describe, expect, test } from '@jest/globals'
import type { CardProcessor } from '../../../src/ports/card-processor.ts'
import { callOf } from '../../support/cards/sandbox.ts'
import { aCard, address, stripeAt } from '../../support/cards/stripe.ts'
import { startStripeDouble } from '../../support/cards/stripe-double.ts'

const stripe = await startStripeDouble()
let processor: CardProcessor
beforeEach(() => {
  stripe.cards.clear()
  stripe.cardholders.clear()
  processor = stripeAt(stripe.url)
})

let count = 0
const newCall = () => callOf(`holder_${++count}`)
const newOwner = () => `customer_${++count}`

async function issued(card = aCard({ ownerId: newOwner() })): Promise<string> {
  const answer = await processor.issue(card, newCall())
  if (!('processorCardId' in answer)) throw new Error(JSON.stringify(answer))
  return answer.processorCardId
}

describe('the holder of cards at Stripe', () => {
  const create = /^POST issuing\/cardholders$/

  test('is created once for all cards of an owner', async () => {
    const before = stripe.to(create).length
    const ownerId = newOwner()
    await issued(aCard({ ownerId, cardId: 'card_1' }))
    await issued(aCard({ ownerId, cardId: 'card_2' }))
    expect(stripe.to(create).length - before).toBe(1)
    expect(stripe.cardholders.get('ich_1')).toMatchObject({
      name: 'Ada King',
      email: 'ada@example.com',
      phone_number: '+493012345678',
      type: 'individual',
      individual: { first_name: 'Ada', last_name: 'King' },
      billing: { address: { line1: 'Torstraße 1', city: 'Berlin', postal_code: '10119', country: 'DE' } },
      metadata: { owner_id: ownerId },
    })
  })

  test('is another one for another owner of the same email', async () => {
    await issued(aCard({ ownerId: newOwner() }))
    await issued(aCard({ ownerId: newOwner() }))
    expect(stripe.cardholders.size).toBe(2)
  })

  test('gets the address that the owner has now', async () => {
    const ownerId = newOwner()
    await issued(aCard({ ownerId }))
    const holder = { ...aCard().holder, address: { ...address, line1: 'Bergstraße 2' } }
    await issued(aCard({ ownerId, holder }))
    expect(stripe.cardholders.size).toBe(1)
    expect(stripe.cardholders.get('ich_1')).toMatchObject({ billing: { address: { line1: 'Bergstraße 2' } } })
  })

  test('gets each new address of the owner while the request for a card is repeated', async () => {
    const [ownerId, call] = [newOwner(), newCall()]
    for (const line1 of ['Bergstraße 2', 'Talstraße 3', 'Seestraße 4']) {
      const holder = { ...aCard().holder, address: { ...address, line1 } }
      expect(await processor.issue(aCard({ ownerId, holder }), call)).toMatchObject({
        processorCardId: 'ic_1',
      })
      expect(stripe.cardholders.get('ich_1')).toMatchObject({ billing: { address: { line1 } } })
    }
  })

  test.each([
    ['Ada', 'Ada', { first_name: 'Ada', last_name: 'Ada' }],
    [
      'Ana María de la Cruz 3rd!',
      'Ana María de la Cruz rd',
      { first_name: 'Ana María de la Cruz', last_name: 'rd' },
    ],
    [
      'Wolfeschlegelsteinhausen Bergerdorff',
      'Wolfeschlegelsteinhausen',
      { first_name: 'Wolfeschlegelsteinhausen', last_name: 'Bergerdorff' },
    ],
  ])('%s is written as Stripe takes a name: %s', async (name, printed, individual) => {
    await issued(aCard({ ownerId: newOwner(), holder: { ...aCard().holder, name } }))
    expect(stripe.cardholders.get('ich_1')).toMatchObject({ name: printed, individual })
  })

  test('is a company where the customer is a business', async () => {
    const holder = { ...aCard().holder, name: 'Books & More 24 GmbH', type: 'business' as const }
    await issued(aCard({ ownerId: newOwner(), holder }))
    expect(stripe.cardholders.get('ich_1')).toMatchObject({ name: 'Books More GmbH', type: 'company' })
    expect(stripe.cardholders.get('ich_1')).not.toHaveProperty('individual')
  })

  test.each([
    ['an address', { address: null }, 'an address (`address`)'],
    ['a phone number', { phone: null }, 'a phone number (`phone`)'],
    ['a name of letters', { name: '24/7' }, 'a name with letters (`name`)'],
    [
      'all of it',
      { name: '7', phone: null, address: null },
      'a name with letters (`name`), an address (`address`), a phone number (`phone`)',
    ],
  ])(
    'without %s gets no card, and is told what is missing and where to give it',
    async (_, missing, words) => {
      const before = stripe.requests.length
      const card = aCard({ ownerId: newOwner(), holder: { ...aCard().holder, ...missing } })
      expect(await processor.issue(card, newCall())).toEqual({
        failure: 'refused',
        code: 'holder_incomplete',
        message: `The issuer needs more data about the card’s holder: ${words}. Add it with PATCH /customers/me, then request the card again.`,
      })
      expect(stripe.requests.length).toBe(before)
    },
  )
})
