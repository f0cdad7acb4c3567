import { describe, expect, test } from '@jest/globals'
import { dispute } from '../../support/commerce/disputes.ts'
import { anAgent, anIntent, aToken, bodyOf } from '../../support/factories.ts'
import { startTestService } from '../../support/harness.ts'
import { aPayingOwner, comeBack, later, payByCard, steady } from '../../support/insight/paying.ts'

const service = await startTestService()

const tokenOf = async (...given: Parameters<typeof aToken>) =>
  service.client(String((await aToken(...given)).token))

describe('the profile of a merchant', () => {
  test('shows paid, refused, refunded and disputed amounts with dates and agents, and the confidence of its name', async () => {
    const owner = await aPayingOwner(service)
    const { client, agent, holder } = owner
    const authorizationId = await payByCard(owner, 25, 'SQ *BOOKSHOP 1234')
    await payByCard(owner, 10, 'Bookshop')
    await comeBack(owner, authorizationId, 5)
    const asked = await anIntent(client, agent.id, { amountEuros: 20_000, merchant: 'bookshop' })
    await bodyOf(client.intents.deny({ params: { id: asked.id }, body: { reason: 'Too dear' } }))
    const { data } = await bodyOf(client.transactions.list({ query: { merchant: 'Bookshop' } }))
    await bodyOf(dispute(client, String(data[0]?.id)))
    const ask = () => bodyOf(client.intelligence.merchant({ params: { key: 'bookshop' } }))
    const profile = await steady(service, ask)
    expect(profile).toMatchObject({
      key: 'bookshop',
      name: 'Bookshop',
      mcc: '5942',
      confidence: 0.5,
      names: ['Bookshop', 'bookshop'],
      count: 2,
      spentEuros: 35,
      refundedEuros: 5,
      netEuros: 30,
      refused: { count: 1, amountEuros: 20_000 },
      disputed: { count: 1, amountEuros: 10 },
      priceChanges: [],
      agents: [
        { agentId: holder.id, count: 2, netEuros: 30, refused: { count: 0 } },
        { agentId: agent.id, name: 'Buyer', count: 0, refused: { count: 1, amountEuros: 20_000 } },
      ],
      otherAgents: 0,
    })
    expect([profile.firstSeenOn, profile.lastSeenOn]).toEqual([profile.to, profile.to])
    const named = await bodyOf(client.intelligence.merchant({ params: { key: 'SQ *BOOKSHOP 77' } }))
    expect(named).toEqual(profile)
    const stranger = (await service.owner()).client
    const foreign = await stranger.intelligence.merchant({ params: { key: 'bookshop' } })
    expect([foreign.status, foreign.code]).toEqual([404, 'merchant_not_found'])
    const refused = await tokenOf(client, agent.id)
    expect(await bodyOf(refused.intelligence.merchant({ params: { key: 'bookshop' } }))).toMatchObject({
      count: 0,
      refused: { count: 1 },
      disputed: { count: 0 },
      agents: [{ agentId: agent.id }],
    })
    const idle = await tokenOf(client, (await anAgent(client)).id)
    expect((await idle.intelligence.merchant({ params: { key: 'bookshop' } })).status).toBe(404)
  })

  test('shows each change of the price of a monthly charge', async () => {
    const owner = await aPayingOwner(service)
    const { client, holder } = owner
    for (const amountEuros of [10, 10, 12, 12]) {
      await payByCard(owner, amountEuros, 'Spotify')
      await later(client, 30)
    }
    const profile = await bodyOf(client.intelligence.merchant({ params: { key: 'spotify' } }))
    expect(profile).toMatchObject({ name: 'Spotify', confidence: 0.95, category: expect.any(String) })
    expect(profile.priceChanges).toEqual([
      {
        agentId: holder.id,
        every: 'month',
        on: expect.any(String),
        fromEuros: 10,
        toEuros: 12,
        change: 0.2,
      },
    ])
  })
})
