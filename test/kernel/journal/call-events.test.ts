import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import pg from 'pg'
import { POSTGRES_SESSION_OPTIONS } from '../../../src/platform/database.ts'
import { idInRow, newId } from '../../../src/values/ids.ts'
import { anAgentUnder, aWallet, bodyOf, type TestClient } from '../../support/factories.ts'
import { startTestService } from '../../support/harness.ts'
import { BELIEFS } from '../../support/planner-beliefs.ts'
import { recordSql, type SqlRecorder } from '../../support/sql-recorder.ts'

let recorder!: SqlRecorder
const service = await startTestService({
  through: async url => {
    recorder = await recordSql(url)
    return recorder.url
  },
})

/** Two transfers for intents: calls with events of several records, with and without an agent. */
async function payTwice() {
  const { client, ownerId } = await service.owner()
  const agent = await anAgentUnder(client, { maxTransactionEuros: 50, autoApproveLimitEuros: 20 })
  const payee = await aWallet(client)
  const pay = async (amountEuros: number) => {
    const body = { agentId: agent.id, amountEuros, walletId: payee.id, purpose: 'A share' }
    const { id: intentId } = await bodyOf(client.intents.create({ body }))
    const transfer = { fromWalletId: agent.walletId, toWalletId: payee.id, amountEuros, intentId }
    await bodyOf(client.transfers.create({ body: transfer }))
    return intentId
  }
  return { client, ownerId, agentId: agent.id, intentIds: [await pay(5), await pay(6)] }
}

type Stored = Record<'id' | 'request' | 'agent' | 'resource' | 'call', string> &
  Record<'sameRequest' | 'sameAgent' | 'sameResource', boolean>

const storedEvents = (ownerId: string) =>
  service.sql<Stored>(
    `select id, request_id as request, coalesce(agent_id, '') as agent, resource_id as resource, left(id, -2) as call,
       same_request as "sameRequest", same_agent as "sameAgent", same_resource as "sameResource"
     from events where owner_id = $1 order by id`,
    [ownerId],
  )

async function pagesOf(
  list: (query: object) => Promise<{ data: { id: string }[]; nextCursor: string | null }>,
) {
  const ids: string[] = []
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const page = await list(cursor ? { cursor } : {})
    ids.push(...page.data.map(({ id }) => id))
    cursor = page.nextCursor
  }
  return ids
}

const listsOf = (client: TestClient) => ({
  events: (query: object) => pagesOf(more => bodyOf(client.events.list({ query: { ...query, ...more } }))),
  audit: async (query: object) =>
    (await pagesOf(more => bodyOf(client.audit.list({ query: { ...query, ...more } })))).map(id =>
      id.replace('audit', 'event'),
    ),
})

describe('the events of a call', () => {
  test('have ids that follow each other, in the order in which they happened', async () => {
    const { ownerId } = await payTwice()
    const calls = Map.groupBy(await storedEvents(ownerId), ({ call }) => call)
    const [longest = []] = [...calls.values()].sort((one, other) => other.length - one.length)
    expect(longest.length).toBeGreaterThan(5)
    expect(longest.map(({ id }) => id)).toEqual(longest.map(({ id }, n) => idInRow(id, n)))
    for (const events of calls.values()) expect(new Set(events.map(({ request }) => request)).size).toBe(1)
  })

  test('have one index entry for their request, and one for each of their agents and records', async () => {
    const { ownerId } = await payTwice()
    for (const events of Map.groupBy(await storedEvents(ownerId), ({ call }) => call).values())
      for (const [member, isRepeated] of [
        ['request', 'sameRequest'],
        ['agent', 'sameAgent'],
        ['resource', 'sameResource'],
      ] as const) {
        const first = events.filter(event => !event[isRepeated]).map(event => event[member])
        expect(first).toEqual([...new Set(events.map(event => event[member]))])
      }
  })
})

describe('a list of events', () => {
  test('has all events of a request, an agent or a record, whatever the pages', async () => {
    const { client, ownerId, agentId, intentIds } = await payTwice()
    const { events, audit } = listsOf(client)
    const stored = (await storedEvents(ownerId)).reverse()
    const idsWith = (member: 'request' | 'agent' | 'resource', value: string) =>
      stored.filter(event => event[member] === value).map(({ id }) => id)
    for (const limit of [1, 2, 3, 100]) {
      expect(await events({ agentId, limit })).toEqual(idsWith('agent', agentId))
      expect(await audit({ agentId, limit })).toEqual(idsWith('agent', agentId))
      const requestId = String(stored[0]?.request)
      expect(idsWith('request', requestId).length).toBeGreaterThan(5)
      expect(await events({ requestId, limit })).toEqual(idsWith('request', requestId))
      expect(await audit({ requestId, limit })).toEqual(idsWith('request', requestId))
      const resource = String(intentIds[0])
      expect(await audit({ resource, limit })).toEqual(idsWith('resource', resource))
    }
  })

  test('has events whose ids do not follow each other, as earlier versions wrote them', async () => {
    const { client, ownerId } = await service.owner()
    const ids = [newId('event'), newId('event'), newId('event')].sort()
    for (const id of ids)
      await service.sql(
        `insert into events (id, owner_id, mode, agent_id, event, data, request_id, created_at, actor_type, action, outcome, resource_id)
         values ($1, $2, 'test', 'agent_1', 'agent.frozen', '{}', 'earlier', now(), 'key', 'agents.freeze', 'done', 'agent_1')`,
        [id, ownerId],
      )
    const { events, audit } = listsOf(client)
    const newest = ids.toReversed()
    expect(await events({ requestId: 'earlier', limit: 2 })).toEqual(newest)
    expect(await events({ agentId: 'agent_1', limit: 2 })).toEqual(newest)
    expect(await audit({ resource: 'agent_1', limit: 2 })).toEqual(newest)
  })

  test('bounds a period before it looks for the other events of a call', async () => {
    const { client, ownerId, agentId } = await payTwice()
    const { events, audit } = listsOf(client)
    const ofAgent = (await storedEvents(ownerId)).filter(({ agent }) => agent === agentId).length
    const [past, now, future] = [-600_000, 0, 600_000].map(ms => new Date(Date.now() + ms).toISOString())
    expect(await events({ agentId, from: past, to: future })).toHaveLength(ofAgent)
    expect(await audit({ agentId, from: past, to: future })).toHaveLength(ofAgent)
    expect(await audit({ agentId, from: future })).toEqual([])
    expect(await audit({ agentId, to: past })).toEqual([])
    expect(await audit({ agentId, from: past, to: now, limit: 1 })).toHaveLength(ofAgent)
  })
})

test('the timeline of an intent goes on within a call', async () => {
  const { client, intentIds } = await payTwice()
  const params = { id: String(intentIds[0]) }
  const whole = await bodyOf(client.intents.timeline({ params }))
  const pages = await pagesOf(more =>
    bodyOf(client.intents.timeline({ params, query: { limit: 1, ...more } })),
  )
  expect(whole.data.length).toBeGreaterThan(6)
  expect(pages).toEqual(whole.data.map(({ id }) => id))
})

describe('the first events of calls are found in the order of their index', () => {
  const database = new pg.Client({ connectionString: service.databaseUrl, ...POSTGRES_SESSION_OPTIONS })
  const texts = new Map<string, string>()
  beforeAll(async () => {
    const { client, agentId, intentIds } = await payTwice()
    const asked: Readonly<Record<string, () => Promise<unknown>>> = {
      events_by_request: () => client.events.list({ query: { requestId: 'none' } }),
      events_by_agent: () => client.events.list({ query: { agentId } }),
      events_by_resource: () => client.audit.list({ query: { resource: intentIds[0] } }),
    }
    for (const [index, ask] of Object.entries(asked)) {
      await recorder.measure(index, ask)
      const lists = [...(recorder.statements.get(index) ?? [])].filter(text =>
        text.includes('first.first_id'),
      )
      expect(lists).toHaveLength(1)
      texts.set(index, String(lists[0]))
    }
    await database.connect()
    await database.query('begin')
    await database.query('set local role none')
  })
  afterAll(() => database.end())

  test.each(Object.entries(BELIEFS))('with %s', async (_, believe) => {
    await database.query(believe)
    for (const [index, text] of texts) {
      const { rows } = await database.query<{ 'QUERY PLAN': string }>(
        `explain (generic_plan, costs off) ${text}`,
      )
      const plan = rows.map(row => row['QUERY PLAN']).join('\n')
      expect(plan).toMatch(/Presorted Key: events(_\d+)?\.id/)
      expect(plan).toMatch(
        new RegExp(`Index (Only )?Scan Backward using \\w*${index.replace('events_by_', '')}`),
      )
      expect(plan).not.toMatch(/Seq Scan|Bitmap|Hash|Materialize/)
    }
  })
})
