import { describe, expect, test } from '@jest/globals'
import {
  aKey,
  aLiveClient,
  anAgent,
  anAgentUnder,
  anIntent,
  aToken,
  aWallet,
  made,
  type TestClient,
} from '../support/factories.ts'
import { startHouse } from '../support/harness.ts'
import { tablesWith, traceOf, transactionsOf } from '../support/trace.ts'
import { until } from '../support/until.ts'

const house = await startHouse()

const clientOf = ({ token }: { token: string | null }): TestClient => house.client(String(token))

/** An owner with an agent, and what the agent itself calls with. */
async function anOwnerWithAgent() {
  const owner = await house.owner()
  const agent = await anAgent(owner.client)
  const token = await aToken(owner.client, agent.id)
  return { ...owner, agent, token, itself: clientOf(token) }
}

const DAY = 86_400_000

describe('a new token', () => {
  test('is shown once, and works', async () => {
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
      expiresAt: expect.any(String),
      lastUsedAt: null,
      revokedAt: null,
      createdAt: expect.any(String),
      updatedAt: expect.any(String),
    })
    expect(Math.abs(Date.parse(String(record.expiresAt)) - Date.now() - 30 * DAY)).toBeLessThan(5_000)
    const params = { id: agent.id, tokenId: record.id }
    expect((await client.agentTokens.get({ params })).body).toEqual(record)
    expect((await client.agentTokens.list({ params })).body.data[0]).toEqual(record)
    expect((await clientOf({ token }).agents.get({ params })).body).toEqual(agent)
  })

  test('leaves its event and audit entry in the same transaction', async () => {
    const { client, agent } = await anOwnerWithAgent()
    const answer = await client.agentTokens.create({ params: { id: agent.id }, body: { label: 'Laptop' } })
    expect(await traceOf(house, answer)).toEqual({
      events: ['token.created'],
      actions: ['agentTokens.create'],
      entries: 1,
    })
    expect(await transactionsOf(house, answer, 'agent_tokens', answer.body.id)).toBe(1)
  })

  test('leaves its secret nowhere, and a replay does not show it', async () => {
    const { client, agent } = await anOwnerWithAgent()
    const twice = { params: { id: agent.id }, body: { label: 'Twice' }, idempotencyKey: 'token-1' }
    const first = await client.agentTokens.create(twice)
    const second = await client.agentTokens.create(twice)
    expect(second.body).toEqual({ ...first.body, token: null })
    expect(second.headers.get('idempotent-replayed')).toBe('true')
    expect(await tablesWith(house, String(first.body.token))).toEqual([])
  })

  test('reads the agent’s own records when nothing is said of scopes', async () => {
    const { token } = await anOwnerWithAgent()
    expect(token.scopes).toEqual([
      'agents:read',
      'delegations:read',
      'events:read',
      'intents:read',
      'intents:write',
      'merchants:read',
      'policies:read',
      'runs:read',
      'runs:write',
      'tokens:read',
      'transactions:read',
      'wallets:read',
    ])
  })

  test('never has more than the key that made it', async () => {
    const { client, agent } = await anOwnerWithAgent()
    const narrow = house.client(String((await aKey(client, { scopes: ['tokens:write', 'events:read'] })).key))
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
  ] as const)('never has %s', async scope => {
    const { client, agent } = await anOwnerWithAgent()
    const body = { label: 'Too much', scopes: ['agents:read' as const, scope] }
    const answer = await client.agentTokens.create({ params: { id: agent.id }, body })
    expect(answer).toMatchObject({ status: 400, code: 'scope_never_given' })
    expect(answer.error).toContain(scope)
  })

  test.each([
    ['a scope that does not exist', { scopes: ['money:print'] }, 'scopes'],
    ['no scope at all', { scopes: [] }, 'scopes'],
    ['less than a day', { expiresInDays: 0 }, 'expiresInDays'],
    ['more than a year', { expiresInDays: 366 }, 'expiresInDays'],
    ['an empty label', { label: ' ' }, 'label'],
  ])('is refused with %s', async (_, wrong, named) => {
    const { key, agent } = await anOwnerWithAgent()
    const body = { label: 'Laptop', ...wrong }
    const answer = await house.http('POST', `/agents/${agent.id}/tokens`, { token: key, body })
    expect(answer.status).toBe(400)
    expect(answer.body.error).toContain(named)
  })

  test('is for an agent that is there: not deleted, not another owner’s, not of the other mode', async () => {
    const owner = await anOwnerWithAgent()
    const deleted = await anAgent(owner.client)
    await made(owner.client.agents.delete({ params: { id: deleted.id } }))
    const elsewhere = await anOwnerWithAgent()
    const live = await aLiveClient(house, owner)
    const body = { label: 'Laptop' }
    const answers = [
      await owner.client.agentTokens.create({ params: { id: deleted.id }, body }),
      await owner.client.agentTokens.create({ params: { id: elsewhere.agent.id }, body }),
      await live.agentTokens.create({ params: { id: owner.agent.id }, body }),
    ]
    for (const answer of answers) expect(answer).toMatchObject({ status: 404, code: 'agent_not_found' })
  })

  test('says that it is live', async () => {
    const live = await aLiveClient(house, await house.owner())
    const agent = await anAgent(live)
    const token = await aToken(live, agent.id)
    expect(token).toMatchObject({ mode: 'live', token: expect.stringMatching(/^at_live_/) })
    expect((await clientOf(token).agents.list()).body.data).toEqual([agent])
  })
})

describe('an agent', () => {
  test('sees itself and its own tokens, and no other agent', async () => {
    const { client, agent, token, itself } = await anOwnerWithAgent()
    const other = await anAgent(client)
    const others = await aToken(client, other.id)
    expect((await itself.agents.list()).body.data).toEqual([agent])
    const tokens = (await itself.agentTokens.list({ params: { id: agent.id } })).body.data
    expect(tokens.map(({ id }) => id)).toEqual([token.id])
    const answers = [
      await itself.agents.get({ params: { id: other.id } }),
      await itself.agentTokens.list({ params: { id: other.id } }),
      await itself.agentTokens.get({ params: { id: other.id, tokenId: others.id } }),
      await itself.policies.effective({ params: { agentId: other.id } }),
    ]
    expect(answers.map(({ status }) => status)).toEqual([404, 404, 404, 404])
  })

  test('changes nothing of itself', async () => {
    const { agent, token, itself } = await anOwnerWithAgent()
    const params = { id: agent.id }
    const answers = [
      await itself.agents.update({ params, body: { name: 'Boss' } }),
      await itself.agents.freeze({ params }),
      await itself.agents.unfreeze({ params }),
      await itself.agents.delete({ params }),
      await itself.agents.create({ body: { name: 'Child' } }),
      await itself.agentTokens.create({ params, body: { label: 'More' } }),
      await itself.agentTokens.revoke({ params: { ...params, tokenId: token.id } }),
      await itself.policies.create({ body: { name: 'Mine' } }),
      await itself.keys.list(),
      await itself.customers.me(),
      await itself.audit.list(),
    ]
    for (const answer of answers) expect(answer).toMatchObject({ status: 403, code: 'wrong_caller' })
  })

  test('needs the scope', async () => {
    const { client, agent } = await anOwnerWithAgent()
    const narrow = clientOf(await aToken(client, agent.id, { scopes: ['events:read'] }))
    const answers = [
      await narrow.agents.get({ params: { id: agent.id } }),
      await narrow.agentTokens.list({ params: { id: agent.id } }),
      await narrow.policies.list(),
    ]
    for (const answer of answers) expect(answer).toMatchObject({ status: 403, code: 'missing_scope' })
  })

  test('still reads while it is frozen', async () => {
    const { client, agent, itself } = await anOwnerWithAgent()
    await made(client.agents.freeze({ params: { id: agent.id } }))
    expect((await itself.agents.get({ params: { id: agent.id } })).body.status).toBe('frozen')
  })
})

describe('a list of tokens', () => {
  test('has the newest first, page by page, while more are made', async () => {
    const { client, agent, token } = await anOwnerWithAgent()
    const second = await aToken(client, agent.id)
    const params = { id: agent.id }
    const page = await made(client.agentTokens.list({ params, query: { limit: 1 } }))
    await aToken(client, agent.id)
    const cursor = String(page.nextCursor)
    const rest = await made(client.agentTokens.list({ params, query: { limit: 1, cursor } }))
    expect([...page.data, ...rest.data].map(({ id }) => id)).toEqual([second.id, token.id])
    expect(rest.hasMore).toBe(false)
  })

  test('does not take the cursor of another agent’s list', async () => {
    const { client, agent } = await anOwnerWithAgent()
    await aToken(client, agent.id)
    const page = await made(client.agentTokens.list({ params: { id: agent.id }, query: { limit: 1 } }))
    const other = await anAgent(client)
    const query = { limit: 1, cursor: String(page.nextCursor) }
    expect((await client.agentTokens.list({ params: { id: other.id }, query })).code).toBe('invalid_cursor')
  })
})

describe('revoking', () => {
  test('stops a token within a second', async () => {
    const { client, agent, token, itself } = await anOwnerWithAgent()
    const params = { id: agent.id, tokenId: token.id }
    expect((await itself.agents.list()).status).toBe(200)
    const answer = await client.agentTokens.revoke({ params })
    const began = performance.now()
    expect(answer).toMatchObject({ status: 200, body: { id: token.id, revokedAt: expect.any(String) } })
    await until('it stops', async () => (await itself.agents.list()).status === 401)
    expect(performance.now() - began).toBeLessThan(1_000)
    expect(await traceOf(house, answer)).toEqual({
      events: ['token.revoked'],
      actions: ['agentTokens.revoke'],
      entries: 1,
    })
    expect(await transactionsOf(house, answer, 'agent_tokens', token.id)).toBe(1)
    expect(await client.agentTokens.revoke({ params })).toMatchObject({ status: 400, code: 'token_revoked' })
  })

  test('finds a token only under its own agent and its own owner', async () => {
    const { client, agent, token } = await anOwnerWithAgent()
    const other = await anAgent(client)
    const stranger = await house.owner()
    const wrong = [
      { by: client, id: other.id, tokenId: token.id },
      { by: client, id: agent.id, tokenId: 'token_00000000000000000000000000' },
      { by: stranger.client, id: agent.id, tokenId: token.id },
    ]
    for (const { by, ...params } of wrong) {
      expect((await by.agentTokens.get({ params })).code).toBe('token_not_found')
      expect((await by.agentTokens.revoke({ params })).code).toBe('token_not_found')
    }
    expect((await stranger.client.agentTokens.list({ params: { id: agent.id } })).code).toBe(
      'agent_not_found',
    )
  })

  test('happens to all of an agent’s tokens when the agent is deleted', async () => {
    const { client, agent, token, itself } = await anOwnerWithAgent()
    const second = await aToken(client, agent.id)
    const gone = await aToken(client, agent.id)
    await made(client.agentTokens.revoke({ params: { id: agent.id, tokenId: gone.id } }))
    const answer = await client.agents.delete({ params: { id: agent.id } })
    expect(await traceOf(house, answer)).toMatchObject({
      events: ['agent.deleting', 'token.revoked', 'token.revoked'],
      entries: 3,
    })
    for (const { id } of [token, second])
      expect(await transactionsOf(house, answer, 'agent_tokens', id)).toBe(1)
    await until('it stops', async () => (await itself.agents.list()).status === 401)
  })

  test('leaves no open token behind when one is made while the agent is deleted', async () => {
    for (let round = 0; round < 5; round++) {
      const { client } = await house.owner()
      const params = { id: (await anAgent(client)).id }
      await Promise.all([
        client.agentTokens.create({ params, body: { label: 'Late' } }),
        client.agents.delete({ params }),
        client.agentTokens.create({ params, body: { label: 'Later' } }),
      ])
      const tokens = (await client.agentTokens.list({ params })).body.data
      expect(tokens.filter(({ revokedAt }) => revokedAt === null)).toEqual([])
    }
  })
})

describe('a token opens nothing', () => {
  test('when it has expired', async () => {
    const { token, itself } = await anOwnerWithAgent()
    await house.sql(`update agent_tokens set expires_at = now() - interval '1 second' where id = $1`, [
      token.id,
    ])
    expect(await itself.agents.list()).toMatchObject({ status: 401, code: 'unauthenticated' })
  })

  test('when a key is presented as a token, or a token as a key', async () => {
    const { key, token } = await anOwnerWithAgent()
    const swapped = [
      key.replace('sk_sandbox_', 'at_test_'),
      String(token.token).replace('at_test_', 'sk_test_'),
    ]
    for (const secret of swapped)
      expect((await house.http('GET', '/agents', { token: secret })).status).toBe(401)
  })
})

describe('a token with a budget', () => {
  test('shows what is held, spent and left of it, and nothing left once it is revoked', async () => {
    const { client } = await house.owner()
    const agent = await anAgentUnder(client, { autoApproveLimitEuros: 50 })
    const scopes = ['intents:write' as const, 'transfers:create' as const, 'tokens:read' as const]
    const given = await aToken(client, agent.id, { maxAmountEuros: 30, scopes })
    expect(given).toMatchObject({ heldEuros: 0, spentEuros: 0, remainingEuros: 30 })
    const itself = clientOf(given)
    const walletId = (await aWallet(client)).id
    const paid = await anIntent(itself, agent.id, { amountEuros: 12, walletId })
    const payment = { fromWalletId: agent.walletId, toWalletId: walletId, amountEuros: 10, intentId: paid.id }
    await made(itself.transfers.create({ body: payment }))
    await anIntent(itself, agent.id, { amountEuros: 5, merchant: 'Library' })
    // What the owner spends by another way is of no token.
    await anIntent(client, agent.id, { amountEuros: 9, merchant: 'Museum' })
    const params = { id: agent.id, tokenId: given.id }
    const stands = { heldEuros: 5, spentEuros: 10, remainingEuros: 15 }
    expect(await made(itself.agentTokens.get({ params }))).toMatchObject(stands)
    expect((await made(client.agentTokens.list({ params }))).data[0]).toMatchObject(stands)
    expect(await made(client.agentTokens.revoke({ params }))).toMatchObject({ ...stands, remainingEuros: 0 })
  })
})
