import { describe, expect, test } from '@jest/globals'
import { firstIdAt, newId } from '../../src/values/ids.ts'
import {
  aKey,
  aLiveClient,
  anAgent,
  aPolicy,
  aToken,
  aWebhook,
  bodyOf,
  type TestClient,
} from '../support/factories.ts'
import { startTestService } from '../support/harness.ts'
import './events/event-schemas.ts'

const service = await startTestService()

const namesOf = async (client: TestClient, query = {}): Promise<string[]> =>
  (await bodyOf(client.events.list({ query }))).data.map(({ event }) => event)

async function insertEvent(ownerId: string, at: string): Promise<string> {
  // The id of that time, as lists are ordered by ids.
  const id = firstIdAt('event', new Date(at)) + newId('event').slice(-16)
  await service.sql(
    `insert into events (id, owner_id, mode, event, data, request_id, created_at, actor_type, action, outcome, resource_id)
     values ($1, $2, 'test', 'agent.deleted', '{}', 'r', $3, 'key', 'agents.delete', 'done', 'agent_1')`,
    [id, ownerId, at],
  )
  return id
}

describe('an event', () => {
  test('names what happened, the record and the request', async () => {
    const { client, ownerId } = await service.owner()
    const agent = await anAgent(client)
    const answer = await client.agents.freeze({
      params: { id: agent.id },
      body: { reason: 'Unusual spending' },
    })
    const [latest] = (await client.events.list()).body.data
    expect(latest).toEqual({
      id: expect.stringMatching(/^event_[0-9a-z]{26}$/),
      ownerId,
      mode: 'test',
      event: 'agent.frozen',
      createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      data: { agentId: agent.id, status: 'frozen', reason: 'Unusual spending' },
      requestId: answer.headers.get('x-request-id'),
      runId: null,
    })
    expect((await client.events.get({ params: { id: String(latest?.id) } })).body).toEqual(latest)
  })

  test('is not found by another owner, in the other mode, or under an invalid id', async () => {
    const owner = await service.owner()
    const stranger = await service.owner()
    const [event] = (await owner.client.events.list()).body.data
    const params = { id: String(event?.id) }
    const live = await aLiveClient(service, owner)
    const answers = [
      await stranger.client.events.get({ params }),
      await live.events.get({ params }),
      await owner.client.events.get({ params: { id: 'event_00000000000000000000000000' } }),
    ]
    for (const answer of answers) expect(answer).toMatchObject({ status: 404, code: 'event_not_found' })
  })

  test('cannot be changed or removed, not even in the database', async () => {
    await service.owner()
    await expect(service.sql(`update events set event = 'other'`)).rejects.toThrow('append-only')
    await expect(service.sql('delete from events')).rejects.toThrow('append-only')
    await expect(service.sql('truncate events cascade')).rejects.toThrow('append-only')
  })
})

describe('a list of events', () => {
  test('has the newest first, and only the owner’s', async () => {
    const { client } = await service.owner()
    const stranger = await service.owner()
    await anAgent(stranger.client)
    await aPolicy(client)
    await anAgent(client)
    expect(await namesOf(client)).toEqual([
      'wallet.created',
      'agent.created',
      'policy.created',
      'key.created',
      'customer.created',
    ])
  })

  test('is filtered by name and by agent', async () => {
    const { client } = await service.owner()
    const agent = await anAgent(client)
    await anAgent(client)
    await bodyOf(client.agents.freeze({ params: { id: agent.id } }))
    expect(await namesOf(client, { event: 'agent.frozen' })).toEqual(['agent.frozen'])
    expect(await namesOf(client, { agentId: agent.id })).toEqual(['agent.frozen', 'agent.created'])
    expect(await namesOf(client, { agentId: agent.id, event: 'agent.deleted' })).toEqual([])
  })

  test.each([
    ['agent.frozn', /^event: There is no event "agent\.frozn"\. Did you mean agent\.frozen/],
    ['', /^event: There is no event ""\. .*GET \/events\/types/],
    ['*', /^event: There is no event "\*"/],
  ])('refuses the unknown event name %j, as every list does', async (event, message) => {
    const { client } = await service.owner()
    const { id } = await aWebhook(client)
    const query = { event }
    const answers = [
      await client.events.list({ query }),
      await client.webhooks.deliveries({ params: { id }, query }),
      await client.webhooks.allDeliveries({ query }),
      await client.webhooks.deadLetters({ query }),
      await client.webhooks.replayDeadLetters({ body: query }),
      await client.webhooks.replayDeliveries({ body: query }),
      await client.webhooks.test({ params: { id }, body: query }),
    ]
    for (const answer of answers)
      expect(answer).toMatchObject({
        status: 400,
        code: 'unknown_event',
        error: expect.stringMatching(message),
      })
  })

  test('is filtered by time, from its beginning up to and without its end', async () => {
    const { client, ownerId } = await service.owner()
    const instants = ['2026-01-01T00:00:00.000Z', '2026-01-02T00:00:00.000Z', '2026-01-03T00:00:00.000Z']
    for (const at of instants) await insertEvent(ownerId, at)
    const times = async (query: object) =>
      (await bodyOf(client.events.list({ query }))).data.map(({ createdAt }) => createdAt)
    const [first, second, third] = instants
    expect(await times({ from: first, to: third })).toEqual([second, first])
    expect(await times({ to: second })).toEqual([first])
    expect(await times({ event: 'agent.deleted', from: '2026-01-02T01:00:00.000+01:00' })).toEqual([
      third,
      second,
    ])
  })

  test('refuses an invalid time', async () => {
    const { client } = await service.owner()
    const answer = await client.events.list({ query: { from: 'yesterday' } })
    expect(answer).toMatchObject({ status: 400, error: expect.stringContaining('from') })
  })

  test('is complete, page by page, while events are added', async () => {
    const { client } = await service.owner()
    for (let count = 0; count < 4; count++) await anAgent(client)
    const before = (await bodyOf(client.events.list())).data.map(({ id }) => id)
    const ids: string[] = []
    let cursor: string | null = null
    do {
      const query: { limit: number; cursor?: string } = { limit: 2, ...(cursor ? { cursor } : {}) }
      const page = await bodyOf(client.events.list({ query }))
      ids.push(...page.data.map(({ id }) => id))
      cursor = page.nextCursor
      await anAgent(client)
    } while (cursor)
    expect(ids).toEqual(before)
  })
})

describe('an agent’s token', () => {
  test('sees what happened to its agent, and nothing else', async () => {
    const { client } = await service.owner()
    const agent = await anAgent(client)
    const other = await anAgent(client)
    const agentClient = service.client(String((await aToken(client, agent.id)).token))
    expect(await namesOf(agentClient)).toEqual(['token.created', 'agent.created'])
    expect(await namesOf(agentClient, { agentId: other.id })).toEqual([])
    const [others] = (await bodyOf(client.events.list({ query: { agentId: other.id } }))).data
    expect((await agentClient.events.get({ params: { id: String(others?.id) } })).code).toBe(
      'event_not_found',
    )
  })

  test('refuses a page cursor of its owner', async () => {
    const { client } = await service.owner()
    const agent = await anAgent(client)
    const agentClient = service.client(String((await aToken(client, agent.id)).token))
    const { nextCursor } = await bodyOf(client.events.list({ query: { limit: 1 } }))
    const answer = await agentClient.events.list({ query: { limit: 1, cursor: String(nextCursor) } })
    expect(answer).toMatchObject({ status: 400, code: 'invalid_cursor' })
  })
})

test('reading events requires the scope', async () => {
  const { client } = await service.owner()
  const narrowClient = service.client(String((await aKey(client, { scopes: ['agents:read'] })).key))
  expect((await narrowClient.events.list()).code).toBe('missing_scope')
  expect((await narrowClient.events.get({ params: { id: 'event_1' } })).code).toBe('missing_scope')
})
