import { describe, expect, test } from '@jest/globals'
import {
  aCardRequest,
  aCardWith,
  getCard,
  getRequest,
  minuteLater,
  toldAbout,
  untilIssued,
} from '../../support/cards/card-requests.ts'
import { aFundedAgent, aLiveClient, bodyOf } from '../../support/factories.ts'
import { startTestService } from '../../support/harness.ts'

const service = await startTestService()

async function anOwnerWithAgent() {
  const owner = await service.owner()
  return { ...owner, agent: await aFundedAgent(owner.client) }
}

describe('a card request', () => {
  test('a card request without an answer expires after 72 hours of the owner’s clock', async () => {
    const { client, agent } = await anOwnerWithAgent()
    const { id } = await aCardRequest(client, agent.id)
    const params = { id }
    await bodyOf(client.sandbox.advance({ body: { minutes: 72 * 60 - 1 } }))
    expect((await getRequest(client, id)).status).toBe('pending')
    await minuteLater(client)
    expect(await getRequest(client, id)).toMatchObject({ status: 'expired', answeredAt: null })
    expect((await client.cardRequests.approve({ params, body: {} })).code).toBe('request_not_waiting')
    expect((await toldAbout(client, id)).map(({ status }) => status)).toEqual(['pending', 'expired'])
  })

  test('an overdue card request cannot be answered, even before the sweep', async () => {
    const { client, agent, ownerId } = await anOwnerWithAgent()
    const { id } = await aCardRequest(client, agent.id)
    await service.sql(`insert into tenant_clocks values ($1, 'test', $2)`, [ownerId, 72 * 3_600_000])
    const params = { id }
    const answers = await Promise.all([
      client.cardRequests.approve({ params, body: {} }),
      client.cardRequests.deny({ params, body: { reason: 'No' } }),
      client.cardRequests.cancel({ params, body: {} }),
    ])
    expect(answers.map(({ status, code }) => [status, code])).toEqual(Array(3).fill([400, 'request_expired']))
  })

  test('is not approved while its agent is frozen, and is afterwards', async () => {
    const { client, agent } = await anOwnerWithAgent()
    const { id } = await aCardRequest(client, agent.id)
    const params = { id: agent.id }
    const approve = () => client.cardRequests.approve({ params: { id }, body: {} })
    await bodyOf(client.agents.freeze({ params, body: { reason: 'Look' } }))
    expect(await approve()).toMatchObject({ status: 400, code: 'agent_not_active' })
    await bodyOf(client.agents.unfreeze({ params }))
    expect(await bodyOf(approve())).toMatchObject({ status: 'approved' })
  })

  test('fails where its agent is frozen, or its card is closed, before it is carried out', async () => {
    const { client, agent } = await anOwnerWithAgent()
    const card = await aCardWith(client, {}, agent)
    const limits = { dailyLimitEuros: 5 }
    const change = await aCardRequest(client, agent.id, { type: 'limit_change', cardId: card.id, limits })
    await bodyOf(client.cardRequests.approve({ params: { id: change.id }, body: {} }))
    await bodyOf(client.cards.close({ params: { id: card.id }, body: {} }))
    const wish = await aCardRequest(client, agent.id)
    await minuteLater(client)
    const failureReason = 'The card was closed in the meantime.'
    expect(await getRequest(client, change.id)).toMatchObject({ status: 'failed', failureReason })
    await bodyOf(client.cardRequests.approve({ params: { id: wish.id }, body: {} }))
    await bodyOf(client.agents.freeze({ params: { id: agent.id }, body: { reason: 'Look' } }))
    await minuteLater(client)
    expect(await getRequest(client, wish.id)).toMatchObject({
      status: 'failed',
      cardId: null,
      failureReason: 'The agent was frozen or deleted in the meantime.',
    })
    expect((await toldAbout(client, wish.id)).at(-1)).toMatchObject({
      status: 'failed',
      reason: 'The agent was frozen or deleted in the meantime.',
    })
  })

  test('of a closed card is not approved', async () => {
    const { client, agent } = await anOwnerWithAgent()
    const card = await aCardWith(client, {}, agent)
    const { id } = await aCardRequest(client, agent.id, {
      type: 'limit_change',
      cardId: card.id,
      limits: { dailyLimitEuros: 5 },
    })
    await bodyOf(client.cards.close({ params: { id: card.id }, body: {} }))
    expect(await client.cardRequests.approve({ params: { id }, body: {} })).toMatchObject({
      status: 400,
      code: 'card_closed',
    })
    expect(
      await bodyOf(client.cardRequests.deny({ params: { id }, body: { reason: 'Closed' } })),
    ).toMatchObject({
      status: 'denied',
    })
  })

  test('fails where the processor refuses the card', async () => {
    const { client, agent } = await anOwnerWithAgent()
    const { id } = await aCardRequest(client, agent.id, { displayName: 'sandbox refused' })
    await bodyOf(client.cardRequests.approve({ params: { id }, body: {} }))
    await untilIssued(client)
    const failed = await getRequest(client, id)
    expect(failed).toMatchObject({
      status: 'failed',
      failureReason: 'The processor refused to issue the card.',
    })
    expect(await getCard(client, String(failed.cardId))).toMatchObject({ status: 'closed' })
  })

  test('pending card requests are cancelled when their agent is deleted', async () => {
    const { client, agent } = await anOwnerWithAgent()
    const [first, second] = [await aCardRequest(client, agent.id), await aCardRequest(client, agent.id)]
    await bodyOf(client.agents.delete({ params: { id: agent.id } }))
    for (const { id } of [first, second]) {
      expect(await getRequest(client, id)).toMatchObject({
        status: 'cancelled',
        comment: 'The agent is being deleted.',
      })
      expect((await toldAbout(client, id)).map(({ status }) => status)).toEqual(['pending', 'cancelled'])
    }
    await minuteLater(client)
    expect(await bodyOf(client.agents.get({ params: { id: agent.id } }))).toMatchObject({ status: 'deleted' })
  })

  test('fails after its approval if the agent is deleted, before or after the card was requested', async () => {
    for (const isAskedFor of [false, true]) {
      const { client, agent } = await anOwnerWithAgent()
      const { id } = await aCardRequest(client, agent.id, { displayName: 'sandbox away' })
      await bodyOf(client.cardRequests.approve({ params: { id }, body: {} }))
      if (isAskedFor) await minuteLater(client)
      expect((await getRequest(client, id)).status).toBe('approved')
      await bodyOf(client.agents.delete({ params: { id: agent.id } }))
      await minuteLater(client)
      expect(await getRequest(client, id)).toMatchObject({
        status: 'failed',
        failureReason: isAskedFor
          ? 'The card was closed before it was issued.'
          : 'The agent was frozen or deleted in the meantime.',
      })
    }
  })

  test('an approved card request survives an outage of the processor', async () => {
    const { client, agent } = await anOwnerWithAgent()
    const { id } = await aCardRequest(client, agent.id, { displayName: 'sandbox away' })
    await bodyOf(client.cardRequests.approve({ params: { id }, body: {} }))
    await minuteLater(client)
    await minuteLater(client)
    expect(await getRequest(client, id)).toMatchObject({ status: 'approved', cardId: null })
    for (let hour = 0; hour < 3; hour++) await bodyOf(client.sandbox.advance({ body: { minutes: 60 } }))
    const { status, cardId } = await getRequest(client, id)
    expect(status).toBe('issued')
    const { data } = await bodyOf(client.cards.list({ query: { agentId: agent.id } }))
    expect(data).toMatchObject([{ id: cardId, status: 'active', requestId: id }])
  })

  test('of live mode is not approved where there is no processor, and waits', async () => {
    const owner = await service.owner()
    const live = await aLiveClient(service, owner)
    const { id: agentId } = await bodyOf(live.agents.create({ body: { name: 'Reader' } }))
    const { id } = await aCardRequest(live, agentId)
    const answer = await live.cardRequests.approve({ params: { id }, body: {} })
    expect(answer.status).toBe(503)
    expect((await getRequest(live, id)).status).toBe('pending')
  })
})
