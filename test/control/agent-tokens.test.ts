import './agent-tokens/agent-token-use.ts'
import './agent-tokens/card-data.ts'
import './agent-tokens/token-budgets.ts'
import { describe, expect, test } from '@jest/globals'
import { agentTokensIn } from '../support/control/agent-tokens.ts'
import { aKey, aLiveClient, anAgent, aToken, bodyOf } from '../support/factories.ts'
import { startTestService } from '../support/harness.ts'
import { tablesWith, traceOf, transactionCount } from '../support/trace.ts'

const service = await startTestService({ own: true })
const { clientOf, anOwnerWithAgent } = agentTokensIn(service)
const DAY = 86_400_000

describe('a new token', () => {
  test('is shown once and works', async () => {
    const { client, ownerId, agent } = await anOwnerWithAgent()
    const body = {
      label: 'Laptop',
      scopes: ['agents:read' as const, 'events:read' as const],
      expiresInDays: 30,
    }
    const answer = await client.agentTokens.create({ params: { id: agent.id }, body })
    expect(answer.status).toBe(201)
    const { token, ...record } = answer.body
    expect(token).toMatch(/^at_test_[0-9A-Za-z]{43}$/)
    expect(record).toEqual({
      id: expect.stringMatching(/^token_[0-9a-z]{26}$/),
      ownerId,
      mode: 'test',
      agentId: agent.id,
      label: 'Laptop',
      hint: token?.slice(-4),
      scopes: ['agents:read', 'events:read'],
      maxAmountEuros: null,
      heldEuros: null,
      spentEuros: null,
      remainingEuros: null,
      delegationId: null,
      boundTo: null,
      expiresAt: expect.any(String),
      lastUsedAt: null,
      revokedAt: null,
      createdAt: expect.any(String),
      updatedAt: expect.any(String),
    })
    expect(Math.abs(Date.parse(String(record.expiresAt)) - Date.now() - 30 * DAY)).toBeLessThan(60_000)
    const params = { id: agent.id, tokenId: record.id }
    expect((await client.agentTokens.get({ params })).body).toEqual(record)
    expect((await client.agentTokens.list({ params })).body.data[0]).toEqual(record)
    expect((await clientOf({ token }).agents.get({ params })).body).toEqual(agent)
  })

  test('writes its event in the same transaction', async () => {
    const { client, agent } = await anOwnerWithAgent()
    const answer = await client.agentTokens.create({ params: { id: agent.id }, body: { label: 'Laptop' } })
    expect(await traceOf(service, answer)).toEqual({
      events: ['token.created'],
      actions: ['agentTokens.create'],
      entries: 1,
    })
    expect(await transactionCount(service, answer, 'agent_tokens', answer.body.id)).toBe(1)
  })

  test('is stored without its secret, and a replay does not show the secret', async () => {
    const { client, agent } = await anOwnerWithAgent()
    const twice = { params: { id: agent.id }, body: { label: 'Twice' }, idempotencyKey: 'token-1' }
    const first = await client.agentTokens.create(twice)
    const second = await client.agentTokens.create(twice)
    expect(second.body).toEqual({ ...first.body, token: null })
    expect(second.headers.get('idempotent-replayed')).toBe('true')
    expect(await tablesWith(service, String(first.body.token))).toEqual([])
  })

  test('has the default scopes if none are named', async () => {
    const { token } = await anOwnerWithAgent()
    expect(token.scopes).toEqual([
      'access-events:read',
      'agents:read',
      'canvas:read',
      'canvas:write',
      'card-requests:read',
      'card-requests:write',
      'cards:read',
      'checkout:read',
      'checkout:write',
      'collect:read',
      'credentials:read',
      'credentials:write',
      'delegations:read',
      'disputes:read',
      'disputes:write',
      'events:read',
      'evidence:read',
      'evidence:write',
      'insight:read',
      'intents:read',
      'intents:write',
      'mandates:read',
      'merchants:read',
      'mpp:pay',
      'mpp:read',
      'outcomes:read',
      'outcomes:write',
      'payment-tokens:read',
      'payment-tokens:write',
      'policies:read',
      'receipts:read',
      'receipts:write',
      'runs:read',
      'runs:write',
      'tokens:read',
      'transactions:read',
      'transfers:read',
      'wallets:read',
    ])
  })

  test('never has more scopes than the key that creates it', async () => {
    const { client, agent } = await anOwnerWithAgent()
    const narrow = service.client(
      String((await aKey(client, { scopes: ['tokens:write', 'events:read'] })).key),
    )
    expect((await aToken(narrow, agent.id)).scopes).toEqual(['events:read'])
    const body = { label: 'More', scopes: ['agents:read' as const] }
    const refused = await narrow.agentTokens.create({ params: { id: agent.id }, body })
    expect(refused).toMatchObject({ status: 403, code: 'scope_not_held' })
    expect(refused.error).toContain('agents:read')
  })

  test.each([
    'agents:write',
    'policies:write',
    'keys:read',
    'keys:write',
    'tokens:write',
    'customers:write',
    'audit:read',
  ] as const)('never has %s, and the refusal says what it can have', async scope => {
    const { key, agent } = await anOwnerWithAgent()
    const body = { label: 'Too much', scopes: ['agents:read', scope] }
    const answer = await service.http('POST', `/v1/agents/${agent.id}/tokens`, { token: key, body })
    expect(answer).toMatchObject({ status: 400, body: { error: expect.stringMatching(/^scopes/) } })
    expect(answer.body.error).toMatch(/reader.*payer.*agents:read/)
  })

  test('has the scopes of a set that is named, each once, and the record shows them', async () => {
    const { client, agent } = await anOwnerWithAgent()
    const reader = await aToken(client, agent.id, { scopes: ['reader'] })
    expect(reader.scopes).toContain('wallets:read')
    expect(reader.scopes.filter(scope => !scope.endsWith(':read'))).toEqual([])
    const payer = await aToken(client, agent.id, { scopes: ['payer', 'intents:read', 'collect:write'] })
    expect(payer.scopes).toEqual(expect.arrayContaining([...reader.scopes, 'intents:write', 'collect:write']))
    expect(new Set(payer.scopes).size).toBe(payer.scopes.length)
  })

  test('of the set reader declares no intent; one of the set payer does', async () => {
    const { client, agent } = await anOwnerWithAgent()
    const withSet = async (set: 'reader' | 'payer') =>
      service.client(String((await aToken(client, agent.id, { scopes: [set] })).token))
    const body = { agentId: agent.id, amountEuros: 1, merchant: 'Bookshop', purpose: 'A paper' }
    const [refused, declared] = [
      await (await withSet('reader')).intents.create({ body }),
      await (await withSet('payer')).intents.create({ body }),
    ]
    expect([refused.status, refused.code, declared.status]).toEqual([403, 'missing_scope', 201])
  })

  test('a token gets no scope set that exceeds the scopes of its creating key', async () => {
    const { client, agent } = await anOwnerWithAgent()
    const narrow = service.client(
      String((await aKey(client, { scopes: ['tokens:write', 'intents:read', 'intents:write'] })).key),
    )
    const refused = await narrow.agentTokens.create({
      params: { id: agent.id },
      body: { label: 'More', scopes: ['payer'] },
    })
    expect(refused).toMatchObject({ status: 403, code: 'scope_not_held' })
  })

  test.each([
    ['a scope that does not exist', { scopes: ['money:print'] }, 'scopes'],
    ['no scope at all', { scopes: [] }, 'scopes'],
    ['less than a day', { expiresInDays: 0 }, 'expiresInDays'],
    ['more than a year', { expiresInDays: 366 }, 'expiresInDays'],
    ['an empty label', { label: ' ' }, 'label'],
  ])('is refused with %s', async (_, invalid, field) => {
    const { key, agent } = await anOwnerWithAgent()
    const body = { label: 'Laptop', ...invalid }
    const answer = await service.http('POST', `/agents/${agent.id}/tokens`, { token: key, body })
    expect(answer.status).toBe(400)
    expect(answer.body.error).toContain(field)
  })

  test('is refused for an agent that is deleted, another owner’s or of the other mode', async () => {
    const owner = await anOwnerWithAgent()
    const deleted = await anAgent(owner.client)
    await bodyOf(owner.client.agents.delete({ params: { id: deleted.id } }))
    const elsewhere = await anOwnerWithAgent()
    const live = await aLiveClient(service, owner)
    const body = { label: 'Laptop' }
    const answers = [
      await owner.client.agentTokens.create({ params: { id: deleted.id }, body }),
      await owner.client.agentTokens.create({ params: { id: elsewhere.agent.id }, body }),
      await live.agentTokens.create({ params: { id: owner.agent.id }, body }),
    ]
    for (const answer of answers) expect(answer).toMatchObject({ status: 404, code: 'agent_not_found' })
  })

  test('is called `at_live_` in live mode', async () => {
    const live = await aLiveClient(service, await service.owner())
    const agent = await anAgent(live)
    const token = await aToken(live, agent.id)
    expect(token).toMatchObject({ mode: 'live', token: expect.stringMatching(/^at_live_/) })
    expect((await clientOf(token).agents.list()).body.data).toEqual([agent])
  })
})

describe('a list of tokens', () => {
  test('has the newest first in complete pages while more are created', async () => {
    const { client, agent, token } = await anOwnerWithAgent()
    const second = await aToken(client, agent.id)
    const params = { id: agent.id }
    const page = await bodyOf(client.agentTokens.list({ params, query: { limit: 1 } }))
    await aToken(client, agent.id)
    const cursor = String(page.nextCursor)
    const rest = await bodyOf(client.agentTokens.list({ params, query: { limit: 1, cursor } }))
    expect([...page.data, ...rest.data].map(({ id }) => id)).toEqual([second.id, token.id])
    expect(rest.hasMore).toBe(false)
  })

  test('of all agents has those of each, and of one where it is named, without a secret', async () => {
    const { client, token } = await anOwnerWithAgent()
    const other = await anAgent(client)
    const tokens = [token, await aToken(client, other.id)]
    const { data } = await bodyOf(client.agentTokens.listAll())
    expect(data.map(({ id }) => id)).toEqual(tokens.map(({ id }) => id).reverse())
    expect(JSON.stringify(data)).not.toContain('at_test_')
    const { data: own } = await bodyOf(client.agentTokens.listAll({ query: { agentId: other.id } }))
    expect(own.map(({ agentId }) => agentId)).toEqual([other.id])
    const { client: stranger } = await service.owner()
    expect((await bodyOf(stranger.agentTokens.listAll())).data).toEqual([])
  })

  test('refuses the cursor of another agent’s list', async () => {
    const { client, agent } = await anOwnerWithAgent()
    await aToken(client, agent.id)
    const page = await bodyOf(client.agentTokens.list({ params: { id: agent.id }, query: { limit: 1 } }))
    const other = await anAgent(client)
    const query = { limit: 1, cursor: String(page.nextCursor) }
    expect((await client.agentTokens.list({ params: { id: other.id }, query })).code).toBe('invalid_cursor')
  })
})
