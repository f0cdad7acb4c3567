import { describe, expect, test } from '@jest/globals'
import { days, minutes } from '../../../src/values/clock.ts'
import { INSTANT, intentOf, intentsIn } from '../../support/control/intents.ts'
import { aLiveClient, anAgent, anAgentUnder, anIntent, bodyOf } from '../../support/factories.ts'
import { startTestService } from '../../support/harness.ts'

const service = await startTestService({ own: true })
const { setClock, asAgent, eventsOf, anOwnerWithAgent } = intentsIn(service)

describe('the expiry of an intent', () => {
  test('an expiry is an event of its own, without a decider', async () => {
    const { client, agent } = await anOwnerWithAgent()
    const before = await anIntent(client, agent.id, { expiresInMinutes: 1 })
    await bodyOf(client.sandbox.advance({ body: { minutes: 1 } }))
    expect(await intentOf(client, before.id)).toEqual({
      ...before,
      status: 'expired',
      updatedAt: expect.stringMatching(INSTANT),
    })
    expect((await eventsOf(before.id)).at(-1)).toEqual({
      event: 'intent.expired',
      data: {
        intentId: before.id,
        agentId: agent.id,
        status: 'expired',
        amountEuros: 25,
        merchant: 'Bookshop',
      },
      agent_id: agent.id,
    })
    const [entry] = (await bodyOf(client.audit.list({ query: { resource: before.id } }))).data
    expect(entry).toMatchObject({
      actorType: 'process',
      actorId: null,
      action: 'intents.expire',
      event: 'intent.expired',
    })
  })
})

describe('the approved intents of an agent', () => {
  test('are listed page by page, the newest first, to the owner and to the agent', async () => {
    const { client } = await service.owner()
    const agent = await anAgentUnder(client, { autoApproveLimitEuros: 20 })
    const other = await anAgentUnder(client, { autoApproveLimitEuros: 20 })
    await anIntent(client, other.id, { amountEuros: 5 })
    await anIntent(client, agent.id, { amountEuros: 25 })
    const ids: string[] = []
    for (const merchant of ['Library', 'Archive', 'Museum'])
      ids.unshift((await anIntent(client, agent.id, { amountEuros: 5, merchant })).id)
    const asked = [
      [client, { agentId: agent.id }],
      [await asAgent(client, agent.id), {}],
    ] as const
    for (const [caller, query] of asked) {
      const pages: string[] = []
      for (let cursor: string | undefined; pages.length < 5; ) {
        const filters = { ...query, status: 'approved', limit: 2, ...(cursor && { cursor }) } as const
        const { data, nextCursor } = await bodyOf(caller.intents.list({ query: filters }))
        pages.push(...data.map(({ id }) => id))
        if (nextCursor === null) break
        cursor = nextCursor
      }
      expect(pages).toEqual(ids)
    }
    const waiting = await bodyOf(client.intents.list({ query: { agentId: agent.id, status: 'created' } }))
    expect(waiting.data).toHaveLength(1)
  })
})

describe('the timeline of an intent', () => {
  test('a timeline lists events with their actors, oldest first', async () => {
    const { client, agent } = await anOwnerWithAgent()
    const tokenClient = await asAgent(client, agent.id)
    const { id } = await anIntent(tokenClient, agent.id)
    const approved = await client.intents.approve({ params: { id } })
    await bodyOf(tokenClient.intents.cancel({ params: { id } }))
    const { data: entries } = await bodyOf(client.intents.timeline({ params: { id } }))
    expect(new Set(entries.map(({ resourceId }) => resourceId))).toEqual(new Set([id]))
    expect(entries).toMatchObject([
      { event: 'intent.created', actorType: 'agent', actorId: expect.stringMatching(/^token_/) },
      { event: 'intent.approved', actorType: 'key', actorId: expect.stringMatching(/^key_/) },
      { event: 'intent.cancelled', actorType: 'agent', actorId: expect.stringMatching(/^token_/) },
    ])
    expect(entries[1]?.requestId).toBe(approved.headers.get('x-request-id'))
    expect(entries.map(({ at }) => at)).toEqual(entries.map(({ at }) => at).toSorted())
  })

  test('goes by the owner’s clock, as the intent does', async () => {
    const { client, agent } = await anOwnerWithAgent()
    const { id, expiresAt } = await anIntent(client, agent.id, { expiresInMinutes: 60 })
    await bodyOf(client.sandbox.advance({ body: { days: 1 } }))
    const { data: entries } = await bodyOf(client.intents.timeline({ params: { id } }))
    expect(entries.map(({ event }) => event)).toEqual(['intent.created', 'intent.expired'])
    const late = Date.parse(String(entries[1]?.at)) - Date.parse(expiresAt)
    expect(late).toBeGreaterThanOrEqual(0)
    expect(late).toBeLessThan(minutes(60))
  })
})

describe('a list of intents', () => {
  test('has the newest first in complete pages while more are declared', async () => {
    const { client, agent } = await anOwnerWithAgent()
    const ids: string[] = []
    for (let count = 0; count < 4; count++) ids.unshift((await anIntent(client, agent.id)).id)
    const first = await bodyOf(client.intents.list({ query: { limit: 3 } }))
    await anIntent(client, agent.id)
    const cursor = String(first.nextCursor)
    const rest = await bodyOf(client.intents.list({ query: { limit: 3, cursor } }))
    expect([...first.data, ...rest.data].map(({ id }) => id)).toEqual(ids)
    expect([first.hasMore, rest.hasMore, rest.nextCursor]).toEqual([true, false, null])
    expect((await client.intents.list({ query: { limit: 3, cursor, status: 'created' } })).code).toBe(
      'invalid_cursor',
    )
  })

  test('is narrowed by its filters', async () => {
    const { client, ownerId, agent } = await anOwnerWithAgent({ autoApproveLimitEuros: 10 })
    const early = await anIntent(client, agent.id, { amountEuros: 5, clientIntentId: 'one' })
    await setClock(ownerId, days(2))
    const other = await anAgent(client)
    const late = await anIntent(client, other.id, { amountEuros: 20, merchant: 'Airline' })
    const idsWith = async (query: object) =>
      (await bodyOf(client.intents.list({ query }))).data.map(({ id }) => id)
    const between = new Date(Date.parse(early.createdAt) + days(1)).toISOString()
    expect(await idsWith({ status: 'approved' })).toEqual([early.id])
    expect(await idsWith({ status: 'created' })).toEqual([late.id])
    expect(await idsWith({ status: 'denied' })).toEqual([])
    expect(await idsWith({ agentId: agent.id })).toEqual([early.id])
    expect(await idsWith({ merchant: 'Airline' })).toEqual([late.id])
    expect(await idsWith({ merchant: 'air' })).toEqual([])
    expect(await idsWith({ clientIntentId: 'one' })).toEqual([early.id])
    expect(await idsWith({ from: between })).toEqual([late.id])
    expect(await idsWith({ to: between })).toEqual([early.id])
    expect(await idsWith({ from: early.createdAt, to: late.createdAt })).toEqual([early.id])
    expect(await idsWith({ agentId: agent.id, status: 'created' })).toEqual([])
    expect((await client.intents.list({ query: { status: 'lost' as 'created' } })).status).toBe(400)
  })

  test('has no intents of others', async () => {
    const owner = await anOwnerWithAgent()
    await anIntent(owner.client, owner.agent.id)
    const live = await aLiveClient(service, owner)
    expect((await bodyOf((await service.owner()).client.intents.list())).data).toEqual([])
    expect((await bodyOf(live.intents.list())).data).toEqual([])
  })
})
