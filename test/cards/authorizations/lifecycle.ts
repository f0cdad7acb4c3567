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
})
