import './card-requests/answers.ts'
import './card-requests/limits.ts'
import './card-requests/endings.ts'
import './card-requests/request-runs.ts'
import './card-requests/several-people.ts'
import { describe, expect, test } from '@jest/globals'
import { aCardRequest, aCardWith, getRequest, request, toldAbout } from '../support/cards/card-requests.ts'
import { delegationsIn } from '../support/control/delegations.ts'
import { aDeletedAgent, aFundedAgent, anAgent, aToken, bodyOf } from '../support/factories.ts'
import { startTestService } from '../support/harness.ts'

const service = await startTestService()
const owner = await service.owner()
const { client } = owner
const agent = await aFundedAgent(client)
const agentClient = service.client(String((await aToken(client, agent.id)).token))

describe('a card request', () => {
  test('for a new card is made by the agent itself, and waits 72 hours for a person', async () => {
    const made = await bodyOf(
      agentClient.cardRequests.create({
        body: {
          type: 'new_card',
          usage: 'single',
          displayName: 'Papers',
          limits: { maxTransactionEuros: 50 },
          controls: { allowedCountries: ['DE'] },
          reason: 'Papers for the review',
        },
      }),
    )
    expect(made).toEqual({
      id: expect.stringMatching(/^cardreq_/),
      ownerId: owner.ownerId,
      mode: 'test',
      agentId: agent.id,
      delegationId: null,
      type: 'new_card',
      status: 'pending',
      cardId: null,
      usage: 'single',
      displayName: 'Papers',
      limits: { maxTransactionEuros: 50, dailyLimitEuros: null, monthlyLimitEuros: null },
      controls: expect.objectContaining({ allowedCountries: ['DE'], merchantAllowlist: [] }),
      reason: 'Papers for the review',
      approvedLimits: null,
      approval: null,
      answeredAt: null,
      answeredBy: null,
      comment: null,
      failureReason: null,
      expiresAt: expect.any(String),
      workflowId: `card-request/${made.id}`,
      createdAt: expect.any(String),
      updatedAt: expect.any(String),
    })
    expect(Date.parse(made.expiresAt) - Date.parse(made.createdAt)).toBe(72 * 3_600_000)
    expect(await getRequest(agentClient, made.id)).toEqual(made)
    expect(await toldAbout(client, made.id)).toEqual([
      {
        requestId: made.id,
        agentId: agent.id,
        cardId: null,
        type: 'new_card',
        status: 'pending',
        maxTransactionEuros: 50,
        dailyLimitEuros: null,
        monthlyLimitEuros: null,
        reason: 'Papers for the review',
      },
    ])
  })

  test('an invalid card request is refused with its member, and creates nothing', async () => {
    const card = await aCardWith(client, {}, agent)
    const reason = 'Papers'
    const bodies: readonly [object, string][] = [
      [{ type: 'new_card', cardId: card.id, reason }, 'cardId'],
      [{ type: 'limit_change', limits: { dailyLimitEuros: 5 }, reason }, 'cardId'],
      [{ type: 'limit_change', cardId: card.id, reason }, 'limits'],
      [{ type: 'limit_change', cardId: card.id, limits: { dailyLimitEuros: null }, reason }, 'limits'],
      [
        { type: 'limit_change', cardId: card.id, limits: { dailyLimitEuros: 5 }, usage: 'multi', reason },
        'usage',
      ],
      [
        { type: 'limit_change', cardId: card.id, limits: { dailyLimitEuros: 5 }, controls: {}, reason },
        'controls',
      ],
      [{ type: 'new_card', limits: { dailyLimitEuros: 0.001 }, reason }, 'limits.dailyLimitEuros'],
      [{ type: 'new_card', limits: { dailyLimitEuros: -1 }, reason }, 'limits.dailyLimitEuros'],
      [{ type: 'new_card' }, 'reason'],
      [{ type: 'new_card', reason: '   ' }, 'reason'],
      [{ type: 'gift', reason }, 'type'],
      [{ type: 'new_card', reason: 'For 4242 4242 4242 4242' }, 'number of a card'],
    ]
    const before = (await bodyOf(client.cardRequests.list({ query: { limit: 100 } }))).data.length
    for (const [body, member] of bodies) {
      const answer = await client.cardRequests.create({ body: { agentId: agent.id, ...body } as never })
      expect([answer.status, answer.error]).toEqual([400, expect.stringContaining(member)])
      expect(answer.error).not.toContain('4242')
    }
    expect((await bodyOf(client.cardRequests.list({ query: { limit: 100 } }))).data).toHaveLength(before)
  })

  test('needs an agent that is active', async () => {
    const frozen = await anAgent(client)
    await bodyOf(client.agents.freeze({ params: { id: frozen.id }, body: { reason: 'Look' } }))
    const deleted = await aDeletedAgent(client)
    const code = async (agentId: string) => (await request(client, agentId)).code
    expect(await code(frozen.id)).toBe('agent_not_active')
    expect(await code(deleted.id)).toBe('agent_not_found')
    const { status, error } = await client.cardRequests.create({ body: { type: 'new_card', reason: 'X' } })
    expect([status, error]).toEqual([400, expect.stringContaining('agentId')])
  })

  test('for other limits needs an open card of the agent, and limits that it does not have', async () => {
    const [card, other] = [
      await aCardWith(client, { dailyLimitEuros: 20 }, agent),
      await aFundedAgent(client),
    ]
    const ask = (agentId: string, cardId: string, dailyLimitEuros: number) =>
      request(client, agentId, { type: 'limit_change', cardId, limits: { dailyLimitEuros } })
    expect(await ask(agent.id, card.id, 20)).toMatchObject({ status: 400, code: 'no_change' })
    expect(await ask(other.id, card.id, 30)).toMatchObject({ status: 404, code: 'card_not_found' })
    expect(await ask(agent.id, 'card_none', 30)).toMatchObject({ status: 404, code: 'card_not_found' })
    expect(await bodyOf(ask(agent.id, card.id, 30))).toMatchObject({ status: 'pending', cardId: card.id })
    await bodyOf(client.cards.close({ params: { id: card.id }, body: {} }))
    expect(await ask(agent.id, card.id, 40)).toMatchObject({ status: 400, code: 'card_closed' })
  })

  test('is made twice with one key once', async () => {
    const body = { type: 'new_card', agentId: agent.id, reason: 'Papers' }
    const headers = { 'idempotency-key': 'request-1' }
    const ask = () => service.http('POST', '/v1/card-requests', { token: owner.key, headers, body })
    const [first, second] = [await ask(), await ask()]
    expect([first.status, second.body]).toEqual([201, first.body])
  })

  test('is one of at most twenty of an agent that wait, also of many at once', async () => {
    const busy = await anAgent(client)
    const answers = await Promise.all(Array.from({ length: 25 }, () => request(client, busy.id)))
    const refused = answers.filter(({ status }) => status !== 201)
    expect(refused.map(({ code }) => code)).toEqual(Array(5).fill('too_many_pending'))
    const [first] = (await bodyOf(client.cardRequests.list({ query: { agentId: busy.id, limit: 1 } }))).data
    await bodyOf(client.cardRequests.cancel({ params: { id: String(first?.id) }, body: {} }))
    expect((await request(client, busy.id)).status).toBe(201)
  })

  test('card requests are filtered, and visible only to their owner and agent', async () => {
    const one = await aFundedAgent(client)
    const card = await aCardWith(client, {}, one)
    const [wish, change] = [
      await aCardRequest(client, one.id),
      await aCardRequest(client, one.id, {
        type: 'limit_change',
        cardId: card.id,
        limits: { dailyLimitEuros: 5 },
      }),
    ]
    await bodyOf(client.cardRequests.cancel({ params: { id: wish.id }, body: {} }))
    const idsOf = async (query: object, by = client) =>
      (await bodyOf(by.cardRequests.list({ query: { agentId: one.id, ...query } }))).data.map(({ id }) => id)
    expect(await idsOf({})).toEqual([change.id, wish.id])
    expect(await idsOf({ status: 'pending' })).toEqual([change.id])
    expect(await idsOf({ type: 'new_card' })).toEqual([wish.id])
    expect(await idsOf({ cardId: card.id })).toEqual([change.id])
    expect(await idsOf({ to: wish.createdAt })).toEqual([])
    expect(await idsOf({}, agentClient)).toEqual([])
    expect(await idsOf({ limit: 1 })).toEqual([change.id])
    const { client: stranger } = await service.owner()
    const params = { id: wish.id }
    const foreign = [
      agentClient.cardRequests.get({ params }),
      agentClient.cardRequests.cancel({ params, body: {} }),
      stranger.cardRequests.get({ params }),
      stranger.cardRequests.approve({ params, body: {} }),
      stranger.cardRequests.deny({ params, body: { reason: 'No' } }),
      stranger.cardRequests.cancel({ params, body: {} }),
    ]
    for (const answer of await Promise.all(foreign))
      expect([answer.status, answer.code]).toEqual([404, 'request_not_found'])
  })

  test('of a delegation’s token is all that the token sees', async () => {
    const { id: agentId } = await aFundedAgent(client)
    const others = await aCardRequest(client, agentId)
    const { id: delegationId, tokenClient } = await delegationsIn(service).aDelegate(client, agentId)
    const own = await aCardRequest(tokenClient, agentId)
    expect(own.delegationId).toBe(delegationId)
    const { data } = await bodyOf(tokenClient.cardRequests.list({}))
    expect(data.map(({ id }) => id)).toEqual([own.id])
    const params = { id: others.id }
    expect((await tokenClient.cardRequests.cancel({ params, body: {} })).status).toBe(404)
  })

  test('an agent’s token cannot answer a card request', async () => {
    const { id } = await aCardRequest(agentClient, agent.id)
    const params = { id }
    const answers = await Promise.all([
      agentClient.cardRequests.approve({ params, body: {} }),
      agentClient.cardRequests.deny({ params, body: { reason: 'No' } }),
    ])
    expect(answers.map(({ status }) => status)).toEqual([403, 403])
    expect(
      await bodyOf(agentClient.cardRequests.cancel({ params, body: { comment: 'Found one' } })),
    ).toMatchObject({ status: 'cancelled', comment: 'Found one', answeredAt: null, answeredBy: null })
    expect((await toldAbout(client, id)).map(({ status }) => status)).toEqual(['pending', 'cancelled'])
  })
})
