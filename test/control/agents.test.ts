import './agents/agent-changes.ts'
import './agents/agents-where-steps-are.ts'
import { describe, expect, test } from '@jest/globals'
import { aKey, aLiveClient, anAgent, aPolicy, aToken, bodyOf, type TestClient } from '../support/factories.ts'
import { startTestService } from '../support/harness.ts'
import { traceOf, transactionCount } from '../support/trace.ts'

const service = await startTestService()

const idsOf = async (client: TestClient, query = {}): Promise<string[]> =>
  (await bodyOf(client.agents.list({ query }))).data.map(({ id }) => id)

describe('a new agent', () => {
  test('is active, with a wallet and without a policy', async () => {
    const { client, ownerId } = await service.owner()
    const { status, body } = await client.agents.create({ body: { name: 'Research assistant' } })
    expect(status).toBe(201)
    expect(body).toEqual({
      id: expect.stringMatching(/^agent_[0-9a-z]{26}$/),
      ownerId,
      mode: 'test',
      name: 'Research assistant',
      description: null,
      externalId: null,
      status: 'active',
      frozenReason: null,
      frozenByAlertId: null,
      walletId: expect.stringMatching(/^wallet_/),
      policyId: null,
      metadata: {},
      createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      updatedAt: body.createdAt,
    })
    expect((await client.agents.get({ params: { id: body.id } })).body).toEqual(body)
  })

  test('stores all given members', async () => {
    const { client } = await service.owner()
    const body = {
      name: 'Größenwahn 🚀',
      description: 'Buys papers.',
      externalId: 'crm-17',
      metadata: { team: 'research' },
    }
    expect(await anAgent(client, body)).toMatchObject(body)
  })

  test('writes its event in the same transaction', async () => {
    const { client } = await service.owner()
    const answer = await client.agents.create({ body: { name: 'A' } })
    expect(await traceOf(service, answer)).toEqual({
      events: ['agent.created', 'wallet.created'],
      actions: ['agents.create'],
      entries: 2,
    })
    expect(await transactionCount(service, answer, 'agents', answer.body.id)).toBe(1)
  })

  test('gets a copy of the given template', async () => {
    const { client } = await service.owner()
    const template = await aPolicy(client, { dailyLimitEuros: 70 })
    const answer = await client.agents.create({ body: { name: 'A', policyId: template.id } })
    const own = await bodyOf(client.policies.effective({ params: { agentId: answer.body.id } }))
    expect(own).toMatchObject({ templateId: template.id, agentId: answer.body.id, dailyLimitEuros: 70 })
    expect(answer.body.policyId).toBe(own.id)
    expect(own.id).not.toBe(template.id)
    expect((await traceOf(service, answer))?.events).toEqual([
      'agent.created',
      'wallet.created',
      'policy.assigned',
    ])
    expect(await transactionCount(service, answer, 'policies', own.id)).toBe(1)
  })

  test('is refused with a template that does not exist, is another owner’s or is no template', async () => {
    const { client } = await service.owner()
    const stranger = await service.owner()
    const deleted = await aPolicy(client)
    await bodyOf(client.policies.delete({ params: { id: deleted.id } }))
    const own = await anAgent(client, { policyId: (await aPolicy(client)).id })
    const strangers = await aPolicy(stranger.client)
    const before = await idsOf(client)
    for (const policyId of ['policy_1', deleted.id, String(own.policyId), strangers.id]) {
      const answer = await client.agents.create({ body: { name: 'A', policyId } })
      expect(answer).toMatchObject({ status: 404, code: 'unknown_reference' })
      expect(answer.error).toContain('policyId')
    }
    expect(await idsOf(client)).toEqual(before)
  })

  test.each([
    ['no name', { name: undefined }, 'name'],
    ['an empty name', { name: '   ' }, 'name'],
    ['a name that is too long', { name: 'n'.repeat(201) }, 'name'],
    ['a description that is too long', { description: 'd'.repeat(1_001) }, 'description'],
    [
      '51 members of metadata',
      { metadata: Object.fromEntries([...Array(51).keys()].map(n => [`m${n}`, ''])) },
      'metadata',
    ],
    ['metadata that is no text', { metadata: { size: 1 } }, 'metadata.size'],
    ['a status', { status: 'frozen' }, 'status'],
    ['an owner', { ownerId: 'customer_1' }, 'ownerId'],
    ['a mode', { mode: 'live' }, 'mode'],
  ])('is refused with %s', async (_, invalid, field) => {
    const { client, key } = await service.owner()
    const answer = await service.http('POST', '/agents', { token: key, body: { name: 'A', ...invalid } })
    expect(answer.status).toBe(400)
    expect(answer.body.error).toContain(field)
    expect(await idsOf(client)).toEqual([])
  })
})

describe('an external id', () => {
  test('is unique among an owner’s agents', async () => {
    const { client } = await service.owner()
    const stranger = await service.owner()
    const first = await anAgent(client, { externalId: 'crm-17' })
    const second = await anAgent(client)
    const refusal = { status: 409, code: 'external_id_taken' }
    expect(await client.agents.create({ body: { name: 'B', externalId: 'crm-17' } })).toMatchObject(refusal)
    const body = { externalId: 'crm-17' }
    expect(await client.agents.update({ params: { id: second.id }, body })).toMatchObject(refusal)
    expect((await client.agents.update({ params: { id: first.id }, body })).status).toBe(200)
    expect((await stranger.client.agents.create({ body: { name: 'B', ...body } })).status).toBe(201)
    expect(await idsOf(client, { externalId: 'crm-17' })).toEqual([first.id])
  })

  test('is taken by one of ten agents that are created with it at once', async () => {
    const { client } = await service.owner()
    const body = { name: 'A', externalId: 'crm-17' }
    const answers = await Promise.all(Array.from({ length: 10 }, () => client.agents.create({ body })))
    expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array(9).fill(409)])
    expect(await idsOf(client)).toHaveLength(1)
  })
})

describe('an agent that is not the caller’s', () => {
  test.each(['another owner’s', 'the other mode’s', 'nobody’s'])('is not found: %s', async whose => {
    const owner = await service.owner()
    const { id } = await anAgent(owner.client)
    const live = await aLiveClient(service, owner)
    const stranger = await service.owner()
    const client = { 'another owner’s': stranger.client, 'the other mode’s': live }[whose] ?? owner.client
    const params = { id: whose === 'nobody’s' ? 'agent_00000000000000000000000000' : id }
    const answers = [
      await client.agents.get({ params }),
      await client.agents.update({ params, body: { name: 'Mine' } }),
      await client.agents.freeze({ params }),
      await client.agents.unfreeze({ params }),
      await client.agents.delete({ params }),
    ]
    for (const answer of answers) expect(answer).toMatchObject({ status: 404, code: 'agent_not_found' })
    expect(await idsOf(client)).not.toContain(params.id === id ? id : '')
    expect((await owner.client.agents.get({ params: { id } })).body.status).toBe('active')
  })
})

describe('a list of agents', () => {
  test('has the newest first and can be narrowed to a status', async () => {
    const { client } = await service.owner()
    const first = await anAgent(client)
    const second = await anAgent(client)
    await bodyOf(client.agents.freeze({ params: { id: first.id } }))
    expect(await idsOf(client)).toEqual([second.id, first.id])
    expect(await idsOf(client, { status: 'frozen' })).toEqual([first.id])
    expect(await idsOf(client, { status: 'active' })).toEqual([second.id])
  })

  test('is complete over its pages while agents are created and deleted', async () => {
    const { client } = await service.owner()
    const agents = []
    for (let count = 0; count < 5; count++) agents.unshift((await anAgent(client)).id)
    const first = await bodyOf(client.agents.list({ query: { limit: 2 } }))
    expect(first.hasMore).toBe(true)
    await anAgent(client)
    await bodyOf(client.agents.delete({ params: { id: String(first.data[1]?.id) } }))
    const rest = await bodyOf(client.agents.list({ query: { limit: 3, cursor: String(first.nextCursor) } }))
    expect([...first.data, ...rest.data].map(({ id }) => id)).toEqual(agents)
    expect(rest).toMatchObject({ hasMore: false, nextCursor: null })
  })

  test('refuses the cursor of another list', async () => {
    const { client } = await service.owner()
    const stranger = await service.owner()
    for (const each of [client, stranger.client]) for (let count = 0; count < 2; count++) await anAgent(each)
    const own = String((await bodyOf(client.agents.list({ query: { limit: 1 } }))).nextCursor)
    const strangers = String((await bodyOf(stranger.client.agents.list({ query: { limit: 1 } }))).nextCursor)
    const events = String((await bodyOf(client.events.list({ query: { limit: 1 } }))).nextCursor)
    const forged = `${own.slice(0, 10)}${own[10] === 'A' ? 'B' : 'A'}${own.slice(11)}`
    for (const cursor of [
      strangers,
      events,
      forged,
      'x',
      `${own}AAAA`,
      Buffer.from('agent_1').toString('base64url'),
    ]) {
      const answer = await client.agents.list({ query: { limit: 1, cursor } })
      expect(answer).toMatchObject({ status: 400, code: 'invalid_cursor' })
    }
    const filtered = await client.agents.list({ query: { limit: 1, cursor: own, status: 'active' } })
    expect(filtered.code).toBe('invalid_cursor')
    expect((await client.agents.list({ query: { limit: 5, cursor: own } })).status).toBe(200)
  })

  test.each(['0', '101', 'abc', '1.5', '-1', ''])('refuses the limit "%s"', async limit => {
    const { key } = await service.owner()
    const answer = await service.http('GET', `/agents?limit=${limit}`, { token: key })
    expect(answer.status).toBe(400)
    expect(answer.body.error).toContain('limit')
  })
})

describe('an operation on agents', () => {
  test('needs its scope', async () => {
    const { client } = await service.owner()
    const params = { id: (await anAgent(client)).id }
    const reader = service.client(String((await aKey(client, { scopes: ['agents:read'] })).key))
    expect((await reader.agents.get({ params })).status).toBe(200)
    const token = await aToken(client, params.id, { scopes: ['events:read'] })
    const blind = service.client(String(token.token))
    const refused = [
      await reader.agents.create({ body: { name: 'No' } }),
      await reader.agents.update({ params, body: {} }),
      await reader.agents.freeze({ params }),
      await reader.agents.unfreeze({ params }),
      await reader.agents.delete({ params }),
      await blind.agents.list(),
      await blind.agents.get({ params }),
    ]
    for (const answer of refused) expect(answer).toMatchObject({ status: 403, code: 'missing_scope' })
  })
})
