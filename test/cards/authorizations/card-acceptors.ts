import { describe, expect, test } from '@jest/globals'
import { aPayingCard, bookshop } from '../../support/cards/network.ts'
import { anIntent } from '../../support/factories.ts'
import { client, network, paymentsOf } from './service.ts'

const acceptor = (descriptor: string, city: string | null = null) => ({ ...bookshop, descriptor, city })

describe('an intent for a merchant covers a payment', () => {
  test.each([
    ['BOOKSHOP BERLIN', null],
    ['BOOKSHOP POTSDAM', 'Potsdam'],
    ['BOOKSHOP* ORDER 4711', null],
  ])('to %s in %s', async (descriptor, city) => {
    const { agent, card } = await aPayingCard(client, 100)
    const intent = await anIntent(client, agent.id, { amountEuros: 40, merchant: 'Bookshop' })
    await network.authorize(card.id, 40, acceptor(descriptor, city))
    expect(await paymentsOf(card.id)).toMatchObject([{ status: 'authorized', intentId: intent.id }])
  })

  test.each([
    ['BOOKSHOPPER', null],
    ['BOOKSHOP POTSDAM', null],
    ['BOOKSHOP BERLIN', 'Potsdam'],
    ['BOOKSHOP*CASINO', null],
  ])('but none to %s in %s', async (descriptor, city) => {
    const { agent, card } = await aPayingCard(client, 100)
    await anIntent(client, agent.id, { amountEuros: 40, merchant: 'Bookshop' })
    await network.authorize(card.id, 40, acceptor(descriptor, city))
    expect(await paymentsOf(card.id)).toMatchObject([{ status: 'authorized', intentId: null }])
  })

  test('whose name fills its field, the intent of the card first, then the smallest one', async () => {
    const { agent, card } = await aPayingCard(client, 200)
    const merchant = 'Bookshop am alten Markt'
    const amounts = [60, 45, 50]
    const intents = []
    for (const amountEuros of amounts)
      intents.push(await anIntent(client, agent.id, { amountEuros, merchant }))
    await anIntent(client, agent.id, { amountEuros: 41, merchant: 'Bookshop am alten Mühlweg' })
    await network.authorize(card.id, 40, acceptor('BOOKSHOP AM ALTEN MARK'))
    await network.authorize(card.id, 40, acceptor('BOOKSHOP AM ALTEN MAR'))
    const payments = await paymentsOf(card.id)
    expect(payments.map(({ intentId }) => intentId).sort()).toEqual([intents[1]?.id, null].sort())
  })
})

describe('a list of a policy', () => {
  test.each([
    ['BOOKSHOP BERLIN', null, 'authorized'],
    ['BOOKSHOP POTSDAM', 'Potsdam', 'authorized'],
    ['BOOKSHOP*CASINO', null, 'declined'],
    ['BOОKSHOP BERLIN', null, 'declined'],
    ['BOOKSHOP CASINO', 'Berlin', 'declined'],
  ])('admits Bookshop: %s in %s is %s', async (descriptor, city, status) => {
    const { card } = await aPayingCard(client, 100, { rules: { merchantAllowlist: ['Bookshop'] } })
    await network.authorize(card.id, 40, acceptor(descriptor, city))
    expect(await paymentsOf(card.id)).toMatchObject([{ status }])
  })

  test.each([
    ['CASINO BERLIN', null, 'declined'],
    ['CASINO POTSDAM', 'Potsdam', 'declined'],
    ['BOOKSHOP*CASINO', null, 'declined'],
    ['CASINO*BOOKSHOP', null, 'declined'],
    ['BOOKSHOP BERLIN', null, 'authorized'],
  ])('blocks Casino: %s in %s is %s', async (descriptor, city, status) => {
    const { card } = await aPayingCard(client, 100, { rules: { merchantBlocklist: ['Casino'] } })
    await network.authorize(card.id, 40, acceptor(descriptor, city))
    expect(await paymentsOf(card.id)).toMatchObject([{ status }])
  })
})
