import { describe, expect, test } from '@jest/globals'
import { aPayingCard, networkBefore } from '../../support/cards/network.ts'
import { anIntent, bodyOf } from '../../support/factories.ts'
import { startTestService } from '../../support/harness.ts'
import { expectVerifiedLedger } from '../../support/verified-ledger.ts'

const service = await startTestService()
const { client } = await service.owner()
const network = networkBefore(service)

const balanceOf = async (agentId: string) => {
  const { availableEuros, heldEuros } = await bodyOf(client.agents.balance({ params: { id: agentId } }))
  return [availableEuros, heldEuros]
}
const paymentsOf = async (cardId: string) =>
  (await bodyOf(client.authorizations.list({ params: { id: cardId }, query: {} }))).data

describe('a payment by card without an intent', () => {
  test('is held, cleared and refunded', async () => {
    const { agent, card } = await aPayingCard(client, 100)
    const { reply, authorizationId } = await network.authorize(card.id, 30)
    expect(reply).toEqual({ kind: 'approved', approvedCents: 3_000n, askedCents: 3_000n })
    expect(await balanceOf(agent.id)).toEqual([70, 30])
    expect(await paymentsOf(card.id)).toMatchObject([
      { status: 'authorized', amountEuros: 30, heldEuros: 30, merchant: 'Bookshop', source: 'wallet' },
    ])
    await network.clear(card.id, authorizationId, 30)
    expect(await balanceOf(agent.id)).toEqual([70, 0])
    await network.refund(card.id, authorizationId, 10)
    expect(await balanceOf(agent.id)).toEqual([80, 0])
    expect(await paymentsOf(card.id)).toMatchObject([
      { status: 'cleared', clearedEuros: 30, refundedEuros: 10, heldEuros: 0 },
    ])
    const { data } = await bodyOf(client.transactions.list({ query: { cardId: card.id } }))
    expect(data).toMatchObject([{ type: 'card', status: 'completed', amountEuros: 30, refundedEuros: 10 }])
    await expectVerifiedLedger(client)
  })
})

describe('a payment by card that an intent covers', () => {
  test('pays the intent out of its hold', async () => {
    const { agent, card } = await aPayingCard(client, 100, { rules: { requireIntent: true } })
    const intent = await anIntent(client, agent.id, { amountEuros: 40, merchant: 'Bookshop' })
    expect(intent.status).toBe('approved')
    const declined = await network.authorize(card.id, 60)
    expect(declined.reply).toMatchObject({ kind: 'declined' })
    const { reply, authorizationId } = await network.authorize(card.id, 42)
    expect(reply).toMatchObject({ kind: 'approved' })
    expect(await balanceOf(agent.id)).toEqual([56, 44])
    await network.clear(card.id, authorizationId, 42)
    expect(await balanceOf(agent.id)).toEqual([58, 0])
    expect(await bodyOf(client.intents.get({ params: { id: intent.id } }))).toMatchObject({
      status: 'completed',
      payment: { type: 'card', status: 'completed', amountEuros: 42 },
    })
    await expectVerifiedLedger(client)
  })

  test.each([
    [{ maxTransactionEuros: 25 }, /limit of € 25.00 for one payment/],
    [{ dailyLimitEuros: 25 }, /budget for the day of € 25.00/],
    [{ monthlyLimitEuros: 25 }, /budget for the month of € 25.00/],
  ])('keeps to the limits of a card that was made for the intent: %j', async (limits, reason) => {
    const { agent } = await aPayingCard(client, 100)
    const intent = await anIntent(client, agent.id, { amountEuros: 40, merchant: 'Bookshop' })
    const body = { agentId: agent.id, usage: 'single' as const, intentId: intent.id, limits }
    const card = await bodyOf(client.cards.create({ body }))
    const { reply: above } = await network.authorize(card.id, 25.01)
    expect(above).toMatchObject({ kind: 'declined', reason: expect.stringMatching(reason) })
    const { reply, authorizationId } = await network.authorize(card.id, 25)
    expect(reply).toMatchObject({ kind: 'approved' })
    await network.clear(card.id, authorizationId, 25)
    const counted = await service.sql(
      `select reserved_cents::int as reserved, spent_cents::int as spent from counters where subject = $1 and period = 'all'`,
      [card.id],
    )
    expect(counted).toEqual([{ reserved: 0, spent: 2_500 }])
    await expectVerifiedLedger(client)
  })
})
