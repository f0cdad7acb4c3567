import { describe, expect, test } from '@jest/globals'
import { openStream } from '../support/delivery/event-stream.ts'
import {
  aDelegation,
  aLiveClient,
  anAgent,
  anAgentUnder,
  aToken,
  bodyOf,
  redeemDelegation,
  type TestClient,
} from '../support/factories.ts'
import { startTestService } from '../support/harness.ts'
import { until } from '../support/until.ts'
import { openTransaction } from './streams/journal-rows.ts'
import './streams/endings.ts'
import './streams/order.ts'
import './streams/plans.ts'
import './streams/waits.ts'

const service = await startTestService({ streamTimes: { silenceMs: 100 } })
/** Only notices wake it. */
const noticed = await startTestService({ streamTimes: { pollMs: 3_600_000, silenceMs: 3_600_000 } })
const tenantOf = (ownerId: string) => ({ ownerId, mode: 'test' }) as const

const idsOf = async (client: TestClient, query = {}): Promise<string[]> =>
  (await bodyOf(client.events.list({ query }))).data.map(({ id }) => id).toReversed()

describe('a stream of events', () => {
  test('gives each event as it is read at its address, with its id', async () => {
    const { client, key } = await service.owner()
    const stream = await openStream(service.url, { token: key })
    expect([stream.status, stream.headers['content-type'], stream.headers['cache-control']]).toEqual([
      200,
      'text/event-stream; charset=utf-8',
      'no-store',
    ])
    const agent = await anAgent(client)
    const [created] = (await bodyOf(client.events.list({ query: { event: 'agent.created' } }))).data
    await stream.hasAll([String(created?.id)])
    const read = await bodyOf(client.events.get({ params: { id: String(created?.id) } }))
    expect(stream.events.find(({ event }) => event === 'agent.created')).toEqual(read)
    expect(read.data).toMatchObject({ agentId: agent.id })
    expect(stream.text()).toMatch(/^retry: 1000\n\n/)
    stream.close()
  })

  test('is read by the typed client one event after the other', async () => {
    const { client } = await service.owner()
    const { body } = await client.events.stream({ query: { event: 'agent.frozen' } })
    const { id } = await anAgent(client)
    await client.agents.freeze({ params: { id } })
    for await (const event of body) {
      expect(event).toMatchObject({ event: 'agent.frozen', data: { agentId: id } })
      break
    }
  })

  test('begins with what happens from now on', async () => {
    const { client, key } = await service.owner()
    await anAgent(client)
    const before = await idsOf(client)
    const stream = await openStream(service.url, { token: key })
    await anAgent(client)
    const after = (await idsOf(client)).slice(before.length)
    await stream.hasAll(after)
    expect(stream.ids).toEqual(after)
    stream.close()
  })

  test('takes only the named event and agent', async () => {
    const { client, key } = await service.owner()
    const [one, other] = [await anAgent(client), await anAgent(client)]
    const query = `?event=agent.frozen&agentId=${one.id}`
    const stream = await openStream(service.url, { token: key, query })
    for (const { id } of [other, one]) {
      await client.agents.freeze({ params: { id } })
      await client.agents.unfreeze({ params: { id } })
    }
    await client.agents.freeze({ params: { id: one.id } })
    const expected = await idsOf(client, { event: 'agent.frozen', agentId: one.id })
    await stream.hasAll(expected)
    expect(stream.ids).toEqual(expected)
    stream.close()
  })

  test('refuses an event that does not exist, as lists do', async () => {
    const { key } = await service.owner()
    const [streamed, listed] = await Promise.all(
      ['/events/stream', '/events'].map(path =>
        service.http('GET', `${path}?event=agent.frozn`, { token: key }),
      ),
    )
    expect([streamed?.status, streamed?.headers.get('x-error-code')]).toEqual([400, 'unknown_event'])
    expect(streamed?.body).toEqual(listed?.body)
    expect(streamed?.body.error).toContain('Did you mean agent.frozen')
  })

  test('says after a time of silence that it is alive', async () => {
    const { key } = await service.owner()
    const stream = await openStream(service.url, { token: key })
    await until('two comments have come', () => stream.text().split(': nothing new\n\n').length > 2)
    expect(stream.ids).toEqual([])
    stream.close()
  })
})

describe('who follows the events', () => {
  test('sees those of the own mode and of no other owner', async () => {
    const owner = await service.owner()
    const stream = await openStream(service.url, { token: owner.key })
    const stranger = await service.owner()
    await anAgent(stranger.client)
    await anAgent(await aLiveClient(service, owner))
    await anAgent(owner.client)
    const mine = await idsOf(owner.client, { event: 'agent.created' })
    await stream.hasAll(mine)
    expect(stream.events.map(({ ownerId, mode }) => [ownerId, mode])).toEqual(
      stream.ids.map(() => [owner.ownerId, 'test']),
    )
    stream.close()
  })

  test('sees as an agent what happens to it alone, and cannot resume from what it cannot see', async () => {
    const { client } = await service.owner()
    const [mine, other] = [await anAgent(client), await anAgent(client)]
    const { token } = await aToken(client, mine.id, { scopes: ['events:read'] })
    const stream = await openStream(service.url, { token: String(token) })
    await client.agents.freeze({ params: { id: other.id } })
    await client.agents.freeze({ params: { id: mine.id } })
    await stream.hasAll(await idsOf(client, { event: 'agent.frozen', agentId: mine.id }))
    expect(new Set(stream.events.map(({ data }) => data.agentId))).toEqual(new Set([mine.id]))
    stream.close()
    const [hidden] = await idsOf(client, { event: 'agent.frozen', agentId: other.id })
    const refused = await openStream(service.url, { token: String(token), lastEventId: hidden })
    expect(refused.status).toBe(400)
  })

  test('sees with the token of a delegation what happens under that', async () => {
    const { client } = await service.owner()
    const agent = await anAgentUnder(client, { maxTransactionEuros: 50 })
    const { id: delegationId, ...made } = await aDelegation(client, agent.id)
    const { token } = await redeemDelegation(client, made)
    const stream = await openStream(service.url, { token: String(token) })
    expect(stream.status).toBe(200)
    const declare = (by: TestClient) =>
      by.intents.create({
        body: { amountEuros: 5, merchant: 'Bookshop', purpose: 'A book', agentId: agent.id },
      })
    await declare(client)
    await declare(service.client(String(token)))
    await until('an event has come', () => stream.ids.length > 0)
    expect(new Set(stream.events.map(({ data }) => data.delegationId))).toEqual(new Set([delegationId]))
    stream.close()
  })
})

describe('a stream that is resumed', () => {
  test('continues behind the last event, none missing and none twice, in the order of the first', async () => {
    const { client, key } = await service.owner()
    const whole = await openStream(service.url, { token: key })
    for (let n = 0; n < 6; n++) await anAgent(client)
    await until('all have come', () => whole.ids.length >= 6)
    const before = whole.ids[1]
    const resumed = await openStream(service.url, { token: key, lastEventId: before })
    await anAgent(client)
    const expected = await idsOf(client)
    await whole.hasAll(expected.slice(-1))
    await resumed.hasAll(expected.slice(-1))
    expect(resumed.ids).toEqual(whole.ids.slice(2))
    for (const stream of [whole, resumed]) stream.close()
  })

  test('continues behind an event that its filter would leave out', async () => {
    const { client, key } = await service.owner()
    const { id } = await anAgent(client)
    const [created] = await idsOf(client, { event: 'agent.created' })
    await client.agents.freeze({ params: { id } })
    const query = '?event=agent.frozen'
    const stream = await openStream(service.url, { token: key, lastEventId: created, query })
    const frozen = await idsOf(client, { event: 'agent.frozen' })
    await stream.hasAll(frozen)
    expect(stream.ids).toEqual(frozen)
    stream.close()
  })

  test.each(['event_01jd8x2m4ye7k9v0c3q5r6t8wz', 'nonsense', '%00', 'x'.repeat(2_000)])(
    'refuses the unknown id %.40s, and says so',
    async lastEventId => {
      const { key } = await service.owner()
      const refused = await service.http('GET', '/events/stream', {
        token: key,
        headers: { 'last-event-id': lastEventId },
      })
      expect([refused.status, refused.headers.get('x-error-code')]).toEqual([400, 'unknown_last_event'])
      expect(refused.body.error).toContain('Last-Event-ID: no such event')
    },
  )

  test('refuses the id of another owner’s event', async () => {
    const [owner, stranger] = [await service.owner(), await service.owner()]
    const [theirs] = await idsOf(stranger.client)
    const refused = await openStream(service.url, { token: owner.key, lastEventId: theirs })
    expect(refused.status).toBe(400)
  })
})

describe('an event of another process', () => {
  test('is told at once by a notice, long before the next poll', async () => {
    const elsewhere = await noticed.another()
    const { client, key } = await noticed.owner()
    const stream = await openStream(elsewhere, { token: key })
    for (let n = 0; n < 5; n++) await anAgent(client)
    const created = await idsOf(client, { event: 'agent.created' })
    await stream.hasAll(created)
    expect(created).toHaveLength(5)
    stream.close()
  })

  test('is found by the poll where its process is of a version that sends no notice', async () => {
    const { ownerId, key } = await service.owner()
    const stream = await openStream(service.url, { token: key })
    const old = await openTransaction(service.databaseUrl)
    const id = await old.add(tenantOf(ownerId))
    await old.commit()
    await stream.hasAll([id])
    expect(stream.ids).toEqual([id])
    stream.close()
  })

  test('does not come while an older transaction is open, and then all come in the order of commits', async () => {
    const { ownerId, key } = await service.owner()
    const stream = await openStream(service.url, { token: key })
    const long = await openTransaction(service.databaseUrl)
    const short = await openTransaction(service.databaseUrl)
    const second = await short.add(tenantOf(ownerId))
    const first = await long.add(tenantOf(ownerId))
    await short.commit()
    await until('a silence has passed', () => stream.text().includes(': nothing new'))
    expect(stream.ids).toEqual([])
    await long.commit()
    await stream.hasAll([first, second])
    expect(stream.ids).toEqual([first, second])
    stream.close()
  })
})
