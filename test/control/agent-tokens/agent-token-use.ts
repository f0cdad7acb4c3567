import { describe, expect, test } from '@jest/globals'
import { agentTokensIn } from '../../support/control/agent-tokens.ts'
import { anAgent, anAgentUnder, anIntent, aToken, aWallet, bodyOf } from '../../support/factories.ts'
import { startTestService } from '../../support/harness.ts'
import { traceOf, transactionCount } from '../../support/trace.ts'

const service = await startTestService()
const { clientOf, anOwnerWithAgent } = agentTokensIn(service)

describe('the token of an agent', () => {
  test('reads its agent and the agent’s tokens, and no other agent', async () => {
    const { client, agent, token, tokenClient } = await anOwnerWithAgent()
    const other = await anAgent(client)
    const others = await aToken(client, other.id)
    expect((await tokenClient.agents.list()).body.data).toEqual([agent])
    const tokens = (await tokenClient.agentTokens.list({ params: { id: agent.id } })).body.data
    expect(tokens.map(({ id }) => id)).toEqual([token.id])
    const answers = [
      await tokenClient.agents.get({ params: { id: other.id } }),
      await tokenClient.agentTokens.list({ params: { id: other.id } }),
      await tokenClient.agentTokens.get({ params: { id: other.id, tokenId: others.id } }),
      await tokenClient.policies.effective({ params: { agentId: other.id } }),
    ]
    expect(answers.map(({ status }) => status)).toEqual([404, 404, 404, 404])
  })

  test('changes nothing of its agent', async () => {
    const { agent, token, tokenClient } = await anOwnerWithAgent()
    const params = { id: agent.id }
    const answers = [
      await tokenClient.agents.update({ params, body: { name: 'Boss' } }),
      await tokenClient.agents.freeze({ params }),
      await tokenClient.agents.unfreeze({ params }),
      await tokenClient.agents.delete({ params }),
      await tokenClient.agents.create({ body: { name: 'Child' } }),
      await tokenClient.agentTokens.create({ params, body: { label: 'More' } }),
      await tokenClient.agentTokens.revoke({ params: { ...params, tokenId: token.id } }),
      await tokenClient.policies.create({ body: { name: 'Mine' } }),
      await tokenClient.keys.list(),
      await tokenClient.customers.me(),
      await tokenClient.audit.list(),
    ]
    for (const answer of answers) expect(answer).toMatchObject({ status: 403, code: 'wrong_caller' })
  })

  test('needs the scope of the operation', async () => {
    const { client, agent } = await anOwnerWithAgent()
    const narrow = clientOf(await aToken(client, agent.id, { scopes: ['events:read'] }))
    const answers = [
      await narrow.agents.get({ params: { id: agent.id } }),
      await narrow.agentTokens.list({ params: { id: agent.id } }),
      await narrow.policies.list(),
    ]
    for (const answer of answers) expect(answer).toMatchObject({ status: 403, code: 'missing_scope' })
  })

  test('still reads while its agent is frozen', async () => {
    const { client, agent, tokenClient } = await anOwnerWithAgent()
    await bodyOf(client.agents.freeze({ params: { id: agent.id } }))
    expect((await tokenClient.agents.get({ params: { id: agent.id } })).body.status).toBe('frozen')
  })
})

describe('revoking a token', () => {
  test('stops it at once', async () => {
    const { client, agent, token, tokenClient } = await anOwnerWithAgent()
    const params = { id: agent.id, tokenId: token.id }
    expect((await tokenClient.agents.list()).status).toBe(200)
    const answer = await client.agentTokens.revoke({ params })
    expect(answer).toMatchObject({ status: 200, body: { id: token.id, revokedAt: expect.any(String) } })
    expect((await tokenClient.agents.list()).status).toBe(401)
    expect(await traceOf(service, answer)).toEqual({
      events: ['token.revoked'],
      actions: ['agentTokens.revoke'],
      entries: 1,
    })
    expect(await transactionCount(service, answer, 'agent_tokens', token.id)).toBe(1)
    expect(await client.agentTokens.revoke({ params })).toMatchObject({ status: 400, code: 'token_revoked' })
  })

  test('finds it only under its own agent and its own owner', async () => {
    const { client, agent, token } = await anOwnerWithAgent()
    const other = await anAgent(client)
    const stranger = await service.owner()
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

  test('is done to all tokens of an agent that is deleted', async () => {
    const { client, agent, token, tokenClient } = await anOwnerWithAgent()
    const second = await aToken(client, agent.id)
    const gone = await aToken(client, agent.id)
    await bodyOf(client.agentTokens.revoke({ params: { id: agent.id, tokenId: gone.id } }))
    const answer = await client.agents.delete({ params: { id: agent.id } })
    expect(await traceOf(service, answer)).toMatchObject({
      events: ['agent.deleting', 'token.revoked', 'token.revoked'],
      entries: 3,
    })
    for (const { id } of [token, second])
      expect(await transactionCount(service, answer, 'agent_tokens', id)).toBe(1)
    expect((await tokenClient.agents.list()).status).toBe(401)
  })

  test('leaves no valid token behind when one is created during the deletion', async () => {
    for (let round = 0; round < 5; round++) {
      const { client } = await service.owner()
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

describe('a token is refused', () => {
  test('when it has expired', async () => {
    const { token, tokenClient } = await anOwnerWithAgent()
    await service.sql(`update agent_tokens set expires_at = now() - interval '1 second' where id = $1`, [
      token.id,
    ])
    expect(await tokenClient.agents.list()).toMatchObject({ status: 401, code: 'unauthenticated' })
  })

  test('when it is presented as a key, or a key as a token', async () => {
    const { key, token } = await anOwnerWithAgent()
    const swapped = [
      key.replace('sk_sandbox_', 'at_test_'),
      String(token.token).replace('at_test_', 'sk_test_'),
    ]
    for (const secret of swapped)
      expect((await service.http('GET', '/agents', { token: secret })).status).toBe(401)
  })
})

describe('a token with a budget', () => {
  test('shows what is held, spent and left, and has nothing left once it is revoked', async () => {
    const { client } = await service.owner()
    const agent = await anAgentUnder(client, { autoApproveLimitEuros: 50 })
    const scopes = ['intents:write' as const, 'transfers:create' as const, 'tokens:read' as const]
    const token = await aToken(client, agent.id, { maxAmountEuros: 30, scopes })
    expect(token).toMatchObject({ heldEuros: 0, spentEuros: 0, remainingEuros: 30 })
    const tokenClient = clientOf(token)
    const walletId = (await aWallet(client)).id
    const paid = await anIntent(tokenClient, agent.id, { amountEuros: 12, walletId })
    const payment = { fromWalletId: agent.walletId, toWalletId: walletId, amountEuros: 10, intentId: paid.id }
    await bodyOf(tokenClient.transfers.create({ body: payment }))
    await anIntent(tokenClient, agent.id, { amountEuros: 5, merchant: 'Library' })
    // Intents that the token neither declared nor paid do not count.
    await anIntent(client, agent.id, { amountEuros: 9, merchant: 'Museum' })
    const params = { id: agent.id, tokenId: token.id }
    const use = { heldEuros: 5, spentEuros: 10, remainingEuros: 15 }
    expect(await bodyOf(tokenClient.agentTokens.get({ params }))).toMatchObject(use)
    expect((await bodyOf(client.agentTokens.list({ params }))).data[0]).toMatchObject(use)
    expect(await bodyOf(client.agentTokens.revoke({ params }))).toMatchObject({ ...use, remainingEuros: 0 })
  })
})
