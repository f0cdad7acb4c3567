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
import { aFundedAgent, bodyOf } from '../../support/factories.ts'
import { startTestService } from '../../support/harness.ts'

const service = await startTestService()
const { client } = await service.owner()
const agent = await aFundedAgent(client)

const approve = (id: string, body: Parameters<typeof client.cardRequests.approve>[0]['body'] = {}) =>
  client.cardRequests.approve({ params: { id }, body })
const deny = (id: string) => client.cardRequests.deny({ params: { id }, body: { reason: 'One is enough' } })
const cancel = (id: string) => client.cardRequests.cancel({ params: { id }, body: {} })

const statusesOf = async (id: string) => (await toldAbout(client, id)).map(({ status }) => status)

describe('the answer to a card request', () => {
  test('an approval issues a card with the requested limits', async () => {
    const asked = await aCardRequest(client, agent.id, {
      usage: 'single',
      displayName: 'Papers',
      limits: { maxTransactionEuros: 50, monthlyLimitEuros: 200 },
      controls: { merchantAllowlist: ['Bookshop'], allowedCountries: ['DE'] },
    })
    const approved = await bodyOf(approve(asked.id, { comment: 'Go ahead' }))
    expect(approved).toMatchObject({
      status: 'approved',
      cardId: null,
      approvedLimits: { maxTransactionEuros: 50, dailyLimitEuros: null, monthlyLimitEuros: 200 },
      answeredBy: { type: 'key', id: expect.stringMatching(/^key_/), name: null },
      comment: 'Go ahead',
    })
    await untilIssued(client)
    const { cardId, ...issued } = await getRequest(client, asked.id)
    expect(issued).toMatchObject({ status: 'issued', approvedLimits: approved.approvedLimits })
    expect(await getCard(client, String(cardId))).toMatchObject({
      agentId: agent.id,
      status: 'active',
      usage: 'single',
      displayName: 'Papers',
      limits: { maxTransactionEuros: 50, dailyLimitEuros: null, monthlyLimitEuros: 200 },
      controls: { merchantAllowlist: ['Bookshop'], allowedCountries: ['DE'] },
    })
    expect((await toldAbout(client, asked.id)).map(({ status, cardId }) => [status, cardId])).toEqual([
      ['pending', null],
      ['approved', null],
      ['issued', cardId],
    ])
    const { data } = await bodyOf(client.events.list({ query: { event: 'card.issued', limit: 1 } }))
    expect(data[0]?.data).toMatchObject({ cardId })
  })

  test('an approval changes only the requested limits', async () => {
    const card = await aCardWith(client, { maxTransactionEuros: 10, dailyLimitEuros: 20 }, agent)
    const asked = await aCardRequest(client, agent.id, {
      type: 'limit_change',
      cardId: card.id,
      limits: { maxTransactionEuros: 50, monthlyLimitEuros: 300 },
    })
    await bodyOf(approve(asked.id, { limits: { monthlyLimitEuros: 250 } }))
    expect((await getCard(client, card.id)).limits.maxTransactionEuros).toBe(10)
    await minuteLater(client)
    expect(await getRequest(client, asked.id)).toMatchObject({ status: 'changed', cardId: card.id })
    expect((await getCard(client, card.id)).limits).toEqual({
      maxTransactionEuros: 50,
      dailyLimitEuros: 20,
      monthlyLimitEuros: 250,
    })
    expect(await statusesOf(asked.id)).toEqual(['pending', 'approved', 'changed'])
    const { data } = await bodyOf(client.events.list({ query: { event: 'card.limits_changed', limit: 1 } }))
    expect(data[0]?.data).toMatchObject({ cardId: card.id, maxTransactionEuros: 50, monthlyLimitEuros: 250 })
  })

  test('no leaves everything as it was, with the reason', async () => {
    const asked = await aCardRequest(client, agent.id)
    expect(await bodyOf(deny(asked.id))).toMatchObject({
      status: 'denied',
      comment: 'One is enough',
      approvedLimits: null,
      answeredBy: { type: 'key' },
    })
    await minuteLater(client)
    expect(await getRequest(client, asked.id)).toMatchObject({ status: 'denied', cardId: null })
    expect((await toldAbout(client, asked.id)).at(-1)).toMatchObject({ reason: 'One is enough' })
  })

  test('is given once: a second one is refused with the first', async () => {
    const answers = { approved: approve, denied: deny, cancelled: cancel }
    for (const [status, answer] of Object.entries(answers)) {
      const { id } = await aCardRequest(client, agent.id)
      await bodyOf(answer(id) as ReturnType<typeof cancel>)
      for (const again of [approve(id), deny(id), cancel(id)])
        expect(await again).toMatchObject({
          status: 400,
          code: 'request_not_waiting',
          error: `The request is already ${status}.`,
        })
    }
  })

  test('of many at once is one, and the records agree', async () => {
    for (let round = 0; round < 8; round++) {
      const { id } = await aCardRequest(client, agent.id)
      const answers = await Promise.all([approve(id), deny(id), cancel(id), approve(id), deny(id)])
      const [winner, ...others] = answers.filter(({ status }) => status === 200)
      expect(others).toEqual([])
      const now = await getRequest(client, id)
      expect(winner?.body).toEqual(now)
      expect(await statusesOf(id)).toEqual(['pending', now.status])
      if (now.status === 'approved') await minuteLater(client)
    }
  })

  test('yes many times at once, and carried out by many, makes one card', async () => {
    const { client } = await service.owner()
    const { id: agentId } = await aFundedAgent(client)
    const { id } = await aCardRequest(client, agentId)
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => client.cardRequests.approve({ params: { id }, body: {} })),
    )
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
    await Promise.all([minuteLater(client), minuteLater(client), minuteLater(client)])
    await untilIssued(client)
    const { cardId } = await getRequest(client, id)
    const { data } = await bodyOf(client.cards.list({ query: { agentId } }))
    expect(data.map(card => card.id)).toEqual([cardId])
  })

  test('is given again to the same idempotency key', async () => {
    const { client, key } = await service.owner()
    const { id: agentId } = await aFundedAgent(client)
    const { id } = await aCardRequest(client, agentId)
    const headers = { 'idempotency-key': 'yes-1' }
    const path = `/v1/card-requests/${id}/approve`
    const say = () => service.http('POST', path, { token: key, headers, body: { comment: 'Yes' } })
    const [first, second] = [await say(), await say()]
    expect([first.status, second.status, second.body]).toEqual([200, 200, first.body])
    await minuteLater(client)
    expect((await say()).body).toEqual(first.body)
    expect((await bodyOf(client.cards.list({ query: { agentId } }))).data).toHaveLength(1)
  })
})
