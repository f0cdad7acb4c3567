import { describe, expect, test } from '@jest/globals'
import { cents } from '../../../src/values/money.ts'
import { aPayingCard, bookshop } from '../../support/cards/network.ts'
import { anIntent, aToken, bodyOf } from '../../support/factories.ts'
import { expectVerifiedLedger } from '../../support/verified-ledger.ts'
import {
  balanceOf,
  client,
  intentOf,
  network,
  owed,
  paymentsOf,
  service,
  transactionsOf,
  usesOf,
} from './service.ts'

const lodging = { ...bookshop, descriptor: 'HOTEL ADLON BERLIN', mcc: '7011' }

/** Its own owner, because debts and clocks belong to owners. */
async function anOwnCard(euros: number, more: Parameters<typeof aPayingCard>[2] = {}) {
  const { client: own } = await service.owner()
  return { own, ...(await aPayingCard(own, euros, more)) }
}

describe('a clearing', () => {
  test('before its authorization is booked, and the authorization holds nothing more', async () => {
    const { agent, card } = await aPayingCard(client, 100)
    await network.clear(card.id, 'early', 30)
    expect(await balanceOf(agent.id)).toEqual([70, 0])
    const more = { authorizationId: 'early' }
    expect((await network.authorize(card.id, 30, {}, more)).reply.kind).toBe('approved')
    expect(await balanceOf(agent.id)).toEqual([70, 0])
    expect(await paymentsOf(card.id)).toMatchObject([{ status: 'cleared', clearedEuros: 30, heldEuros: 0 }])
    expect(await usesOf([agent.id])).toEqual([{ reserved: 0, spent: 3_000, open: 0, made: 1 }])
  })

  test('a repeated clearing is booked once, under the same message or another one', async () => {
    const { agent, card } = await aPayingCard(client, 100)
    const { authorizationId } = await network.authorize(card.id, 30)
    const clearing = { clearingId: `once ${card.id}` }
    const first = await network.clear(card.id, authorizationId, 30, clearing)
    const again = await network.clear(card.id, authorizationId, 30, clearing)
    expect([first.reply, again.reply]).toEqual([{ kind: 'noted' }, { kind: 'noted' }])
    expect(await balanceOf(agent.id)).toEqual([70, 0])
  })

  test('the last partial clearing completes the payment and releases the rest', async () => {
    const { agent, card } = await aPayingCard(client, 100)
    const { authorizationId } = await network.authorize(card.id, 50)
    await network.clear(card.id, authorizationId, 20, { final: false })
    expect(await balanceOf(agent.id)).toEqual([50, 30])
    expect(await transactionsOf(card.id)).toMatchObject([{ status: 'settlement', amountEuros: 20 }])
    await network.clear(card.id, authorizationId, 10)
    expect(await balanceOf(agent.id)).toEqual([70, 0])
    expect(await transactionsOf(card.id)).toMatchObject([{ status: 'completed', amountEuros: 30 }])
  })

  test('after a reversal, an expiry and the end of the card is booked all the same', async () => {
    const { agent, card } = await aPayingCard(client, 100)
    const { authorizationId } = await network.authorize(card.id, 30)
    await network.reverse(card.id, authorizationId)
    expect(await balanceOf(agent.id)).toEqual([100, 0])
    await bodyOf(client.cards.close({ params: { id: card.id } }))
    await network.clear(card.id, authorizationId, 30)
    expect(await balanceOf(agent.id)).toEqual([70, 0])
    expect(await transactionsOf(card.id)).toMatchObject([{ status: 'completed', declineReason: null }])
    await expectVerifiedLedger(client)
  })

  test('a clearing above the balance is paid by the platform, and owed until money comes in', async () => {
    const { own, agent, card } = await anOwnCard(30)
    const { authorizationId } = await network.authorize(card.id, 30)
    await network.clear(card.id, authorizationId, 37.5)
    expect([await balanceOf(agent.id, own), await owed(own)]).toEqual([[0, 0], 7.5])
    expect(await paymentsOf(card.id, own)).toMatchObject([{ approvedEuros: 30, clearedEuros: 37.5 }])
    await expectVerifiedLedger(own)
    await network.refund(card.id, authorizationId, 10)
    expect([await balanceOf(agent.id, own), await owed(own)]).toEqual([[2.5, 0], 0])
    await expectVerifiedLedger(own)
  })

  test('without an authorization matches an intent, and completes it', async () => {
    const { agent, card } = await aPayingCard(client, 100)
    const intent = await anIntent(client, agent.id, { amountEuros: 40 })
    await network.clear(card.id, null, 40)
    expect(await intentOf(intent.id)).toMatchObject({ status: 'completed' })
    expect(await balanceOf(agent.id)).toEqual([60, 0])
    expect(await paymentsOf(card.id)).toMatchObject([{ source: 'intent', intentId: intent.id }])
    expect(await transactionsOf(card.id)).toMatchObject([{ intentId: intent.id, status: 'completed' }])
  })

  test('without an authorization, and without an intent, counts against the limits as one payment', async () => {
    const { agent, card } = await aPayingCard(client, 100)
    await network.clear(card.id, null, 40)
    expect(await usesOf([agent.id, card.id])).toEqual([
      { reserved: 0, spent: 4_000, open: 0, made: 1 },
      { reserved: 0, spent: 4_000, open: 0, made: 1 },
    ])
  })

  test('of a payment that lost its intent to another one is paid by the wallet, and counts for the agent', async () => {
    const { agent, card } = await aPayingCard(client, 200)
    const intent = await anIntent(client, agent.id, { amountEuros: 40 })
    const first = await network.authorize(card.id, 40)
    await network.reverse(card.id, first.authorizationId)
    const second = await network.authorize(card.id, 41)
    expect((await paymentsOf(card.id))[0]).toMatchObject({ intentId: intent.id })
    await network.clear(card.id, first.authorizationId, 40)
    await network.clear(card.id, second.authorizationId, 41)
    expect(await balanceOf(agent.id)).toEqual([119, 0])
    expect(await usesOf([agent.id, card.id])).toEqual([
      { reserved: 0, spent: 8_100, open: 0, made: 2 },
      { reserved: 0, spent: 8_100, open: 0, made: 1 },
    ])
    expect((await paymentsOf(card.id)).map(({ source }) => source)).toEqual(['intent', 'wallet'])
    await expectVerifiedLedger(client)
  })
})

/** Pays an intent of a token with a budget. The merchant reverses that, so that the intent can be paid again. */
async function aReversedPayment() {
  const { agent, card } = await aPayingCard(client, 200)
  const token = await aToken(client, agent.id, { maxAmountEuros: 50 })
  const intent = await anIntent(service.client(String(token.token)), agent.id, { amountEuros: 40 })
  const { authorizationId } = await network.authorize(card.id, 40)
  await network.reverse(card.id, authorizationId)
  return { agent, card, intent, authorizationId, subjects: [agent.id, card.id, token.id] }
}

const approvedByNetwork = (authorizationId: string, euros: number) => ({
  kind: 'outcome' as const,
  authorizationId,
  asks: [{ amountCents: cents(BigInt(euros * 100)), approved: true }],
  merchant: bookshop,
})

const paidOnce = [
  { reserved: 0, spent: 4_100, open: 0, made: 1 },
  { reserved: 0, spent: 4_100, open: 0, made: 0 },
  { reserved: 0, spent: 4_100, open: 0, made: 1 },
]

describe('a message about an earlier payment of an intent that another one has paid', () => {
  test.each(['reversal', 'expiry', 'increment', 'outcome'] as const)(
    'leaves the limits what was paid: a further %s',
    async late => {
      const { card, authorizationId, subjects } = await aReversedPayment()
      const second = await network.authorize(card.id, 41)
      await network.clear(card.id, second.authorizationId, 41)
      expect(await usesOf(subjects)).toEqual(paidOnce)
      await {
        reversal: () => network.reverse(card.id, authorizationId),
        expiry: () => network.send(card.id, { kind: 'expiry', authorizationId }),
        increment: () => network.authorize(card.id, 1, {}, { authorizationId, ask: 1 }),
        outcome: () => network.send(card.id, approvedByNetwork(authorizationId, 40)),
      }[late]()
      expect(await usesOf(subjects)).toEqual(paidOnce)
    },
  )

  test.each(['after', 'before'])('is booked: a refund %s the other payment', async when => {
    const { agent, card, intent, authorizationId, subjects } = await aReversedPayment()
    if (when === 'before') await network.refund(card.id, authorizationId, 40)
    const second = await network.authorize(card.id, 41)
    expect(second.reply.kind).toBe('approved')
    await network.clear(card.id, second.authorizationId, 41)
    if (when === 'after') await network.refund(card.id, authorizationId, 40)
    expect(await balanceOf(agent.id)).toEqual([199, 0])
    expect(await usesOf(subjects)).toEqual(paidOnce)
    expect(await transactionsOf(card.id)).toMatchObject([
      { status: 'completed', amountEuros: 41, intentId: intent.id },
      { status: 'refunded', amountEuros: 40, intentId: null },
    ])
    await expectVerifiedLedger(client)
  })

  test('is declined: a further request of a payment that was declined', async () => {
    const { agent, card } = await aPayingCard(client, 60, {
      rules: { requireIntent: true, dailyLimitEuros: 50 },
    })
    await anIntent(client, agent.id, { amountEuros: 40 })
    await bodyOf(client.cards.freeze({ params: { id: card.id }, body: {} }))
    const { authorizationId } = await network.authorize(card.id, 40)
    await bodyOf(client.cards.unfreeze({ params: { id: card.id }, body: {} }))
    const second = await network.authorize(card.id, 40)
    await network.clear(card.id, second.authorizationId, 40)
    const further = await network.authorize(card.id, 40, {}, { authorizationId, ask: 1 })
    expect(further.reply).toMatchObject({ kind: 'declined', reason: expect.stringMatching(/pays no more/) })
    expect(await balanceOf(agent.id)).toEqual([20, 0])
  })

  test('is paid by the wallet, and counts for the agent: the network has approved it all the same', async () => {
    const { agent, card } = await aPayingCard(client, 200)
    const intent = await anIntent(client, agent.id, { amountEuros: 40 })
    await bodyOf(client.cards.freeze({ params: { id: card.id }, body: {} }))
    const first = await network.authorize(card.id, 40)
    expect(first.reply.kind).toBe('declined')
    await bodyOf(client.cards.unfreeze({ params: { id: card.id }, body: {} }))
    const second = await network.authorize(card.id, 41)
    await network.clear(card.id, second.authorizationId, 41)
    await network.send(card.id, approvedByNetwork(first.authorizationId, 40))
    expect(await paymentsOf(card.id)).toMatchObject([
      { status: 'cleared', source: 'intent', intentId: intent.id },
      { status: 'authorized', source: 'wallet', intentId: null },
    ])
    expect(await balanceOf(agent.id)).toEqual([119, 40])
    expect(await usesOf([agent.id, card.id])).toEqual([
      { reserved: 4_000, spent: 4_100, open: 1, made: 1 },
      { reserved: 4_000, spent: 4_100, open: 1, made: 0 },
    ])
    await expectVerifiedLedger(client)
  })
})

describe('a refund', () => {
  test('before the clearing is booked, and the payment ends as if it had come after it', async () => {
    const { agent, card } = await aPayingCard(client, 100)
    const { authorizationId } = await network.authorize(card.id, 30)
    await network.refund(card.id, authorizationId, 10)
    expect(await balanceOf(agent.id)).toEqual([80, 30])
    await network.clear(card.id, authorizationId, 30)
    expect(await balanceOf(agent.id)).toEqual([80, 0])
    expect(await transactionsOf(card.id)).toMatchObject([
      { type: 'card', status: 'completed', amountEuros: 30, refundedEuros: 10 },
    ])
  })

  test('after a reversal is booked', async () => {
    const { agent, card } = await aPayingCard(client, 100)
    const { authorizationId } = await network.authorize(card.id, 30)
    await network.reverse(card.id, authorizationId)
    await network.refund(card.id, authorizationId, 30)
    expect(await balanceOf(agent.id)).toEqual([130, 0])
  })

  test('that belongs to no payment is a payment to the wallet', async () => {
    const { agent, card } = await aPayingCard(client, 100)
    await network.refund(card.id, null, 12)
    expect(await balanceOf(agent.id)).toEqual([112, 0])
    expect(await transactionsOf(card.id)).toMatchObject([
      { type: 'refund', status: 'completed', amountEuros: 12 },
    ])
    await expectVerifiedLedger(client)
  })
})

describe('what a merchant does not collect', () => {
  test.each([
    ['a shop', bookshop, 7],
    ['a hotel', lodging, 31],
  ])('at %s is given back in time, and not before', async (_, merchant, days) => {
    const { own, agent, card } = await anOwnCard(100)
    await network.authorize(card.id, 30, merchant)
    await bodyOf(own.sandbox.advance({ body: { minutes: days * 1_440 - 5 } }))
    expect(await balanceOf(agent.id, own)).toEqual([70, 30])
    await bodyOf(own.sandbox.advance({ body: { minutes: 6 } }))
    expect(await balanceOf(agent.id, own)).toEqual([100, 0])
    expect(await paymentsOf(card.id, own)).toMatchObject([{ status: 'expired', heldEuros: 0 }])
    expect(await transactionsOf(card.id, own)).toMatchObject([{ status: 'declined' }])
    expect(await usesOf([agent.id])).toEqual([{ reserved: 0, spent: 0, open: 0, made: 0 }])
  })

  test('frees its intent, which another payment may then pay', async () => {
    const { own, agent, card } = await anOwnCard(100)
    const intent = await anIntent(own, agent.id, { amountEuros: 30, expiresInMinutes: 20_000 })
    await network.authorize(card.id, 30)
    await bodyOf(own.sandbox.advance({ body: { minutes: 7 * 1_440 + 1 } }))
    expect((await network.authorize(card.id, 30)).reply.kind).toBe('approved')
    expect((await paymentsOf(card.id, own)).map(({ intentId, status }) => [intentId, status])).toEqual([
      [intent.id, 'authorized'],
      [intent.id, 'expired'],
    ])
  })
})
