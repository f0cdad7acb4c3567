import './audit/decisions.ts'
import './audit/exports.ts'
import './audit/purging.ts'
import './audit/sealing.ts'
import './audit/tampering.ts'
import './audit/tree.ts'
import { describe, expect, test } from '@jest/globals'
import { firstIdAt, newId } from '../../src/values/ids.ts'
import { aKey, aLiveClient, anAgent, aPolicy, aToken, bodyOf, type TestClient } from '../support/factories.ts'
import { startTestService } from '../support/harness.ts'

const service = await startTestService({ own: true })

const actionsOf = async (client: TestClient, query = {}): Promise<string[]> =>
  (await bodyOf(client.audit.list({ query }))).data.map(({ action }) => action)

async function insertEntry(ownerId: string, members: { at?: string; requestId?: string }): Promise<void> {
  const at = new Date(members.at ?? '2026-01-01T00:00:00.000Z')
  // An id begins with its time; the rest of another id makes it unique.
  const id = members.at ? firstIdAt('event', at) + newId('event').slice(-16) : newId('event')
  await service.sql(
    `insert into events (id, owner_id, mode, actor_type, action, event, data, outcome, resource_id, request_id, created_at,
       recorded_at)
     values ($1, $2, 'test', 'key', 'long.ago', 'long.ago', '{}', 'done', 'x', $3, $4, $4)`,
    [id, ownerId, members.requestId ?? 'r', at],
  )
}

describe('the audit trail', () => {
  test('records who did what to which record, when, by which request and from where', async () => {
    const { client, ownerId } = await service.owner()
    const agent = await anAgent(client)
    const [key] = (await client.keys.list()).body.data
    const answer = await client.agents.freeze({ params: { id: agent.id } })
    const { data } = await bodyOf(client.audit.list())
    expect(data[0]).toEqual({
      id: expect.stringMatching(/^audit_[0-9a-z]{26}$/),
      ownerId,
      mode: 'test',
      actorType: 'key',
      actorId: key?.id,
      personId: null,
      sha256: null,
      receivedAt: null,
      action: 'agents.freeze',
      event: 'agent.frozen',
      outcome: 'done',
      resourceId: agent.id,
      agentId: agent.id,
      requestId: answer.headers.get('x-request-id'),
      runId: null,
      address: '127.0.0.1',
      at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    })
  })

  test('records what the dashboard did', async () => {
    const { client, ownerId } = await service.owner()
    await bodyOf(service.dash.customers.update({ params: { id: ownerId }, body: { plan: 'starter' } }))
    const [latest] = (await bodyOf(client.audit.list())).data
    expect(latest).toMatchObject({
      actorType: 'dash',
      actorId: null,
      action: 'customers.update',
      resourceId: ownerId,
    })
  })

  test('has no entry for a refusal or for reading', async () => {
    const { client } = await service.owner()
    const params = { id: (await anAgent(client)).id }
    const before = await actionsOf(client)
    expect((await client.agents.unfreeze({ params })).status).toBe(400)
    expect((await client.agents.freeze({ params: { id: 'agent_1' } })).status).toBe(404)
    await bodyOf(client.agents.get({ params }))
    expect(await actionsOf(client)).toEqual(before)
  })

  test('cannot be changed or removed, not even in the database', async () => {
    await service.owner()
    await expect(service.sql(`update events set action = 'other'`)).rejects.toThrow('append-only')
    await expect(service.sql('delete from events')).rejects.toThrow('append-only')
    await expect(service.sql('truncate events')).rejects.toThrow(/append-only|foreign key/)
  })
})

/** Creating an agent makes two entries, as it creates a wallet, too. */
const CREATED = ['agents.create', 'agents.create']

describe('an audit search', () => {
  test('by actor finds all actors of a kind, or one of them', async () => {
    const { client } = await service.owner()
    const second = await aKey(client)
    await anAgent(service.client(String(second.key)))
    expect(await actionsOf(client, { actor: second.id })).toEqual(CREATED)
    expect(await actionsOf(client, { actor: 'key' })).toEqual([...CREATED, 'keys.create'])
    expect(await actionsOf(client, { actor: 'dash' })).toEqual(['keys.openAccount', 'keys.openAccount'])
    expect(await actionsOf(client, { actor: 'agent' })).toEqual([])
  })

  test('by action finds one operation, or all of an area', async () => {
    const { client } = await service.owner()
    const { id } = await anAgent(client)
    await bodyOf(client.agents.freeze({ params: { id } }))
    await aToken(client, id)
    expect(await actionsOf(client, { action: 'agents.create' })).toEqual(CREATED)
    expect(await actionsOf(client, { action: 'agents.*' })).toEqual(['agents.freeze', ...CREATED])
    expect(await actionsOf(client, { action: 'agent.*' })).toEqual([])
  })

  test.each(['agents', '%', 'agents.%', '*', 'agents.cre*'])('refuses the action %s', async action => {
    const { client } = await service.owner()
    const answer = await client.audit.list({ query: { action } })
    expect(answer).toMatchObject({ status: 400, error: expect.stringContaining('action') })
  })

  test('by resource and by request finds their entries', async () => {
    const { client } = await service.owner()
    const policy = await aPolicy(client)
    const answer = await client.agents.create({ body: { name: 'A', policyId: policy.id } })
    expect(await actionsOf(client, { resource: policy.id })).toEqual(['policies.create'])
    const requestId = answer.headers.get('x-request-id')
    const { data } = await bodyOf(client.audit.list({ query: { requestId: String(requestId) } }))
    expect(data.map(({ event }) => event)).toEqual(['policy.assigned', 'wallet.created', 'agent.created'])
    expect(await actionsOf(client, { requestId: 'nothing' })).toEqual([])
  })

  test('by time includes the beginning and excludes the end', async () => {
    const { client, ownerId } = await service.owner()
    const [first, second, third] = [
      '2026-01-01T00:00:00.000Z',
      '2026-01-02T00:00:00.000Z',
      '2026-01-03T00:00:00.000Z',
    ]
    for (const at of [first, second, third]) await insertEntry(ownerId, { at: String(at) })
    const { data } = await bodyOf(client.audit.list({ query: { from: String(first), to: String(third) } }))
    expect(data.map(({ at }) => at)).toEqual([second, first])
  })

  test('by text searches action, event, resource, actor and request, in any case', async () => {
    const { client, ownerId } = await service.owner()
    const agent = await anAgent(client)
    await insertEntry(ownerId, { requestId: 'Order-4711' })
    const [key] = (await client.keys.list()).body.data
    expect(await actionsOf(client, { q: 'ORDER-47' })).toEqual(['long.ago'])
    expect(await actionsOf(client, { q: agent.id.slice(-12) })).toEqual(['agents.create'])
    expect(await actionsOf(client, { q: 'nt.creat', actor: 'key' })).toEqual(['agents.create'])
    expect(await actionsOf(client, { q: String(key?.id).slice(-12), actor: 'key' })).toEqual(CREATED)
  })

  test.each(['%', '_', '\\', '100%', 'a_c', "'; drop table agents; --"])('treats %s as text', async q => {
    const { client, ownerId } = await service.owner()
    await insertEntry(ownerId, { requestId: 'abc' })
    const before = await actionsOf(client)
    expect(before.length).toBeGreaterThan(0)
    const matches = (await bodyOf(client.audit.list({ query: { q } }))).data
    expect(matches.every(entry => JSON.stringify(Object.values(entry)).includes(q))).toBe(true)
    await insertEntry(ownerId, { requestId: `r-${q}-r` })
    const [latest] = (await bodyOf(client.audit.list({ query: { q } }))).data
    expect(latest?.requestId).toBe(`r-${q}-r`)
  })

  test('is complete, page by page, while entries are added', async () => {
    const { client } = await service.owner()
    for (let count = 0; count < 3; count++) await anAgent(client)
    const query = { action: 'agents.*', q: 'agent.created', limit: 2 }
    const page = await bodyOf(client.audit.list({ query }))
    await anAgent(client)
    const rest = await bodyOf(client.audit.list({ query: { ...query, cursor: String(page.nextCursor) } }))
    expect(new Set([...page.data, ...rest.data].map(({ resourceId }) => resourceId)).size).toBe(3)
    expect(rest).toMatchObject({ hasMore: false, nextCursor: null })
    const other = await client.audit.list({ query: { limit: 2, cursor: String(page.nextCursor) } })
    expect(other.code).toBe('invalid_cursor')
  })
})

describe('reading the audit trail', () => {
  test('is limited to the owner’s mode', async () => {
    const owner = await service.owner()
    const stranger = await service.owner()
    await anAgent(stranger.client)
    const live = await aLiveClient(service, owner)
    expect(await actionsOf(owner.client)).toEqual(['keys.create', 'keys.openAccount', 'keys.openAccount'])
    expect(await actionsOf(live)).toEqual(['keys.create'])
  })

  test('is refused to agents, and to keys without the scope', async () => {
    const { client } = await service.owner()
    const agent = await anAgent(client)
    const agentClient = service.client(String((await aToken(client, agent.id)).token))
    expect((await agentClient.audit.list()).code).toBe('wrong_caller')
    const narrowClient = service.client(String((await aKey(client, { scopes: ['agents:read'] })).key))
    expect((await narrowClient.audit.list()).code).toBe('missing_scope')
  })
})
