import { describe, expect, test } from '@jest/globals'
import { type Cents, cents } from '../../../src/values/money.ts'
import { aPayingCard, bookshop } from '../../support/cards/network.ts'
import { anIntent, bodyOf } from '../../support/factories.ts'
import { expectVerifiedLedger } from '../../support/verified-ledger.ts'
import { balanceOf, client, intentOf, network, paymentsOf, service, transactionsOf } from './service.ts'

const increment = (cardId: string, authorizationId: string, cents: Cents, ask = 1) =>
  network.send(cardId, {
    kind: 'authorization',
    authorizationId,
    ask,
    amountCents: cents,
    partialAllowed: false,
    merchant: bookshop,
  })

const outcome = (cardId: string, authorizationId: string, amountCents: Cents, approved: boolean) =>
  network.send(cardId, {
    kind: 'outcome',
    authorizationId,
    asks: [{ amountCents, approved }],
    merchant: bookshop,
  })

describe('an authorization', () => {
  test('of nothing checks the card, and holds nothing', async () => {
    const { agent, card } = await aPayingCard(client, 100)
    expect((await network.authorize(card.id, 0)).reply).toMatchObject({ kind: 'approved' })
    expect(await balanceOf(agent.id)).toEqual([100, 0])
    expect(await transactionsOf(card.id)).toEqual([])
  })

  test('an authorization is approved in part only for lack of money, and only if the network allows it', async () => {
    const { agent, card } = await aPayingCard(client, 20, { rules: { maxTransactionEuros: 50 } })
    const some = { partialAllowed: true }
    expect((await network.authorize(card.id, 30)).reply).toMatchObject({ kind: 'declined' })
    expect((await network.authorize(card.id, 30, {}, some)).reply).toMatchObject({ approvedCents: 2_000n })
    expect(await balanceOf(agent.id)).toEqual([0, 20])
    expect((await network.authorize(card.id, 30, {}, some)).reply).toMatchObject({ kind: 'declined' })
    await expectVerifiedLedger(client)
  })

  test('of a frozen agent, with a frozen wallet, or with a frozen card is declined with the reason', async () => {
    const { agent, card } = await aPayingCard(client, 100)
    await bodyOf(client.cards.freeze({ params: { id: card.id } }))
    expect((await network.authorize(card.id, 10)).reply).toMatchObject({
      reason: expect.stringContaining('card is frozen'),
    })
    await bodyOf(client.cards.unfreeze({ params: { id: card.id } }))
    await bodyOf(client.wallets.update({ params: { id: agent.walletId }, body: { status: 'frozen' } }))
    expect((await network.authorize(card.id, 10)).reply).toMatchObject({ kind: 'declined' })
    await bodyOf(client.wallets.update({ params: { id: agent.walletId }, body: { status: 'active' } }))
    await bodyOf(client.agents.freeze({ params: { id: agent.id } }))
    expect((await network.authorize(card.id, 10)).reply).toMatchObject({ kind: 'declined' })
    expect(await balanceOf(agent.id)).toEqual([100, 0])
  })

  test('an authorization that needs approval is declined, with the advice to declare an intent', async () => {
    const { card } = await aPayingCard(client, 100, { rules: { autoApproveLimitEuros: 5 } })
    const { reply } = await network.authorize(card.id, 10)
    expect(reply).toMatchObject({ kind: 'declined', reason: expect.stringContaining('declare an intent') })
  })

  test('is held to the card and to the policy, and the narrower is named', async () => {
    const { card } = await aPayingCard(client, 100, {
      rules: { maxTransactionEuros: 50 },
      card: {
        limits: { maxTransactionEuros: 20, monthlyLimitEuros: 30 },
        controls: { blockedMccs: ['7995'] },
      },
    })
    const reasonOf = async (euros: number, merchant = {}) => {
      const { reply } = await network.authorize(card.id, euros, merchant)
      return reply.kind === 'declined' ? reply.reason : reply.kind
    }
    expect(await reasonOf(25)).toMatch(/^On the card: .*20/)
    expect(await reasonOf(10, { mcc: '7995' })).toMatch(/^On the card: /)
    expect(await reasonOf(20)).toBe('approved')
    expect(await reasonOf(15)).toMatch(/card’s budget for the month/)
    const policy = await aPayingCard(client, 100, {
      rules: { maxTransactionEuros: 10 },
      card: { limits: { maxTransactionEuros: 20 } },
    })
    const { reply } = await network.authorize(policy.card.id, 15)
    expect(reply).toMatchObject({ kind: 'declined', reason: expect.not.stringContaining('On the card') })
  })

  test('is paid by the purse of its card, where that has one', async () => {
    const { agent, card } = await aPayingCard(client, 100)
    await bodyOf(client.cards.fund({ params: { id: card.id }, body: { amountEuros: 30 } }))
    expect((await network.authorize(card.id, 31)).reply.kind).toBe('declined')
    expect((await network.authorize(card.id, 30)).reply.kind).toBe('approved')
    expect((await paymentsOf(card.id))[0]).toMatchObject({ source: 'purse', heldEuros: 30 })
    expect(await balanceOf(agent.id)).toEqual([70, 0])
  })

  test('of a card for one payment is its only one, a reversed one leaves it free, and its end closes it', async () => {
    const { client: own } = await service.owner()
    const { card } = await aPayingCard(own, 100, { card: { usage: 'single' } })
    const first = await network.authorize(card.id, 10)
    expect((await network.authorize(card.id, 10)).reply.kind).toBe('declined')
    await network.reverse(card.id, first.authorizationId)
    const second = await network.authorize(card.id, 10)
    expect(second.reply.kind).toBe('approved')
    await network.clear(card.id, second.authorizationId, 10)
    await bodyOf(own.sandbox.advance({ body: { minutes: 1 } }))
    expect(await bodyOf(own.cards.get({ params: { id: card.id } }))).toMatchObject({ status: 'closed' })
  })

  test('an authorization is hidden from other owners', async () => {
    const { client: stranger } = await service.owner()
    const { card } = await aPayingCard(client, 100)
    await network.authorize(card.id, 10)
    const [payment] = await paymentsOf(card.id)
    const params = { id: card.id, authorizationId: String(payment?.id) }
    const answers = await Promise.all([
      stranger.authorizations.list({ params, query: {} }),
      stranger.authorizations.get({ params }),
      stranger.authorizations.explanation({ params }),
      stranger.authorizations.simulate({ params, body: { amountEuros: 1, merchant: 'X' } }),
    ])
    expect(answers.map(({ status }) => status)).toEqual([404, 404, 404, 404])
  })
})

describe('an increment', () => {
  test('is decided by what the wallet has, and is one use with its authorization', async () => {
    const { agent, card } = await aPayingCard(client, 50)
    const { authorizationId } = await network.authorize(card.id, 30)
    expect((await increment(card.id, authorizationId, cents(2_500n))).reply.kind).toBe('declined')
    expect((await increment(card.id, authorizationId, cents(2_000n), 2)).reply.kind).toBe('approved')
    expect(await balanceOf(agent.id)).toEqual([0, 50])
    await network.reverse(card.id, authorizationId, 5)
    expect(await balanceOf(agent.id)).toEqual([5, 45])
  })

  test('of a payment that an intent covers is approved within its hold, and not above it', async () => {
    const { agent, card } = await aPayingCard(client, 100)
    await anIntent(client, agent.id, { amountEuros: 40 })
    const { authorizationId } = await network.authorize(card.id, 30)
    expect((await increment(card.id, authorizationId, cents(1_500n))).reply.kind).toBe('declined')
    expect((await increment(card.id, authorizationId, cents(1_400n), 2)).reply.kind).toBe('approved')
    expect(await balanceOf(agent.id)).toEqual([56, 44])
  })

  test('of nothing, and of a payment that is over, is declined', async () => {
    const { agent, card } = await aPayingCard(client, 100)
    expect((await increment(card.id, `none ${card.id}`, cents(100n))).reply.kind).toBe('declined')
    const { authorizationId } = await network.authorize(card.id, 30)
    await network.reverse(card.id, authorizationId)
    expect((await increment(card.id, authorizationId, cents(100n))).reply.kind).toBe('declined')
    expect(await balanceOf(agent.id)).toEqual([100, 0])
  })
})

describe('of several intents', () => {
  test('the one that names the card pays, then the smallest, then the first to end', async () => {
    const { agent, card } = await aPayingCard(client, 500)
    const declare = (amountEuros: number, expiresInMinutes: number, cardId: string | null = null) =>
      anIntent(client, agent.id, {
        amountEuros,
        expiresInMinutes,
        cardId,
        purpose: `${amountEuros} ${expiresInMinutes}`,
      })
    const last = await declare(40, 300)
    const third = await declare(40, 100)
    const second = await declare(35, 200)
    const first = await declare(60, 400, card.id)
    for (let n = 0; n < 4; n++) await network.authorize(card.id, 30)
    const paid = (await paymentsOf(card.id)).map(({ intentId }) => intentId).toReversed()
    expect(paid).toEqual([first.id, second.id, third.id, last.id])
  })
})

describe('the processor’s account of its answers', () => {
  test('approves what we declined: it is held as far as there is money, and cleared', async () => {
    const { agent, card } = await aPayingCard(client, 20)
    const { authorizationId, reply } = await network.authorize(card.id, 30)
    expect(reply.kind).toBe('declined')
    await outcome(card.id, authorizationId, cents(3_000n), true)
    expect(await paymentsOf(card.id)).toMatchObject([{ status: 'authorized', declineReason: null }])
    expect(await transactionsOf(card.id)).toMatchObject([{ status: 'authorization', declineReason: null }])
    expect(await balanceOf(agent.id)).toEqual([0, 20])
  })

  test('approves what we never saw: an intent covers it', async () => {
    const { agent, card } = await aPayingCard(client, 100)
    const intent = await anIntent(client, agent.id, { amountEuros: 30 })
    await outcome(card.id, `unseen ${card.id}`, cents(3_000n), true)
    await network.clear(card.id, `unseen ${card.id}`, 30)
    expect(await intentOf(intent.id)).toMatchObject({ status: 'completed' })
    expect(await balanceOf(agent.id)).toEqual([70, 0])
  })

  test('declines what we approved: nothing is held, and its intent is free', async () => {
    const { agent, card } = await aPayingCard(client, 100)
    const { authorizationId } = await network.authorize(card.id, 30)
    await outcome(card.id, authorizationId, cents(3_000n), false)
    expect(await paymentsOf(card.id)).toMatchObject([{ status: 'declined', heldEuros: 0 }])
    expect(await transactionsOf(card.id)).toMatchObject([{ status: 'declined' }])
    expect(await balanceOf(agent.id)).toEqual([100, 0])
  })
})
