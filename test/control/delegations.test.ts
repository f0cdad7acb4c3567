import './delegations/delegation-budgets.ts'
import './delegations/delegation-ends.ts'
import { describe, expect, test } from '@jest/globals'
import { codeOf, delegationsIn, statusesOf } from '../support/control/delegations.ts'
import {
  aDelegation,
  aKey,
  aLiveClient,
  anAgent,
  aToken,
  bodyOf,
  redeemDelegation,
} from '../support/factories.ts'
import { startTestService } from '../support/harness.ts'
import { tablesWith, traceOf, transactionCount } from '../support/trace.ts'

const service = await startTestService()
const { aDelegate, anyone, anOwnerWithAgent } = delegationsIn(service)

describe('a delegation', () => {
  test('is created with a code that is shown once and stored nowhere', async () => {
    const { client, ownerId, agent } = await anOwnerWithAgent()
    const body = { agentId: agent.id, maxAmountEuros: 20, expiresInMinutes: 60, label: 'Subcontractor' }
    const answer = await client.delegations.create({ body, idempotencyKey: 'one' })
    const { code, ...record } = answer.body
    expect(code).toMatch(/^dlg_[0-9A-Za-z]{43}$/)
    expect(record).toEqual({
      id: expect.stringMatching(/^delegation_[0-9a-z]{26}$/),
      ownerId,
      mode: 'test',
      agentId: agent.id,
      parentDelegationId: null,
      label: 'Subcontractor',
      merchant: null,
      status: 'issued',
      maxAmountEuros: 20,
      spentEuros: 0,
      heldEuros: 0,
      remainingEuros: 20,
      hint: code?.slice(-4),
      codeExpiresAt: record.expiresAt,
      expiresAt: expect.any(String),
      redeemedAt: null,
      tokenId: null,
      revokedAt: null,
      createdAt: expect.any(String),
      updatedAt: expect.any(String),
    })
    expect(await traceOf(service, answer)).toMatchObject({ events: ['delegation.created'], entries: 1 })
    expect(await transactionCount(service, answer, 'delegations', record.id)).toBe(1)
    expect((await client.delegations.create({ body, idempotencyKey: 'one' })).body.code).toBe(null)
    expect(await tablesWith(service, String(code))).toEqual([])
    expect((await client.delegations.get({ params: record })).body).toEqual(record)
    expect((await client.delegations.list({ query: { status: 'issued' } })).body.data).toEqual([record])
  })

  test('can be redeemed for a day at most', async () => {
    const { client, agent } = await anOwnerWithAgent()
    const long = await aDelegation(client, agent.id, { expiresInMinutes: 10_000 })
    expect(Date.parse(long.codeExpiresAt) - Date.parse(long.createdAt)).toBe(86_400_000)
    await bodyOf(client.sandbox.advance({ body: { days: 1 } }))
    expect(await anyone.delegations.redeem(codeOf(long))).toMatchObject({ status: 410, code: 'code_expired' })
  })

  test('is refused for an agent that does not exist, is another owner’s or of the other mode', async () => {
    const owner = await anOwnerWithAgent()
    const stranger = await anOwnerWithAgent()
    const live = await aLiveClient(service, owner)
    const body = { agentId: owner.agent.id, maxAmountEuros: 1, expiresInMinutes: 1 }
    for (const client of [stranger.client, live])
      expect(await client.delegations.create({ body })).toMatchObject({
        status: 404,
        code: 'agent_not_found',
      })
    const { id } = await aDelegation(owner.client, owner.agent.id)
    for (const client of [stranger.client, live]) {
      expect((await client.delegations.get({ params: { id } })).code).toBe('delegation_not_found')
      expect((await client.delegations.revoke({ params: { id } })).code).toBe('delegation_not_found')
    }
  })

  test.each([
    ['nothing', { maxAmountEuros: 0 }, 'maxAmountEuros'],
    ['a third decimal', { maxAmountEuros: 0.001 }, 'maxAmountEuros'],
    ['no time', { expiresInMinutes: 0 }, 'expiresInMinutes'],
    ['more than a year', { expiresInMinutes: 525_601 }, 'expiresInMinutes'],
    ['an empty merchant', { merchant: ' ' }, 'merchant'],
  ])('is refused with %s, and nothing is created', async (_, invalid, field) => {
    const { client, key, agent } = await anOwnerWithAgent()
    const body = { agentId: agent.id, maxAmountEuros: 1, expiresInMinutes: 1, ...invalid }
    const answer = await service.http('POST', '/authorizations', { token: key, body })
    expect([answer.status, answer.body.error]).toEqual([400, expect.stringContaining(field)])
    expect((await bodyOf(client.delegations.list())).data).toEqual([])
  })

  test('only keys create delegations', async () => {
    const { client, agent } = await anOwnerWithAgent()
    const { tokenClient, params } = await aDelegate(client, agent.id)
    const body = { agentId: agent.id, maxAmountEuros: 1, expiresInMinutes: 1, parentDelegationId: params.id }
    for (const answer of [
      await tokenClient.delegations.create({ body }),
      await tokenClient.delegations.revoke({ params }),
      await tokenClient.agentTokens.create({ params: agent, body: { label: 'More' } }),
    ])
      expect(answer).toMatchObject({ status: 403, code: 'wrong_caller' })
  })
})

describe('a delegation below another one', () => {
  test('is never wider in amount, time, merchant or agent', async () => {
    const { client, agent } = await anOwnerWithAgent()
    const other = await anAgent(client)
    const parent = await aDelegation(client, agent.id, { maxAmountEuros: 10, merchant: 'Bookshop' })
    const parentDelegationId = parent.id
    const allowed = { agentId: agent.id, maxAmountEuros: 10, expiresInMinutes: 59, parentDelegationId }
    const wider = [
      [{ maxAmountEuros: 10.01 }, 400, 'wider_amount', /^maxAmountEuros: the parent has only € 10.00 left/],
      [{ expiresInMinutes: 61 }, 400, 'wider_time', /^expiresInMinutes: the parent expires in 59 minutes/],
      [{ merchant: 'Bakery' }, 400, 'wider_merchant', /^merchant: the parent can pay only Bookshop/],
      [{ merchant: 'Bооkshop' }, 400, 'wider_merchant', /^merchant/],
      [{ agentId: other.id }, 400, 'parent_of_other_agent', /^agentId/],
      [{ parentDelegationId: 'delegation_01jd8x2m4ye7k9v0c3q5r6t8wz' }, 404, 'parent_not_found', /^parent/],
    ] as const
    for (const [members, status, code, message] of wider)
      expect(await client.delegations.create({ body: { ...allowed, ...members } })).toMatchObject({
        status,
        code,
        error: expect.stringMatching(message),
      })
    const child = await aDelegation(client, agent.id, allowed)
    expect(child).toMatchObject({ merchant: 'Bookshop', remainingEuros: 10, parentDelegationId })
    const named = await aDelegation(client, agent.id, { ...allowed, merchant: 'bookshop ' })
    expect(named.merchant).toBe('bookshop')
    const query = { parentDelegationId }
    expect((await bodyOf(client.delegations.list({ query }))).data.map(({ id }) => id)).toEqual([
      named.id,
      child.id,
    ])
  })

  test('is refused if the parent is over, or deeper than eight', async () => {
    const { client, agent } = await anOwnerWithAgent()
    let parentDelegationId: string | null = null
    const chain: string[] = []
    for (let depth = 0; depth <= 8; depth++) {
      const expiresInMinutes = 60 - depth
      const child = await aDelegation(client, agent.id, { parentDelegationId, expiresInMinutes })
      parentDelegationId = child.id
      chain.push(child.id)
    }
    const body = { agentId: agent.id, maxAmountEuros: 1, expiresInMinutes: 1, parentDelegationId }
    expect((await client.delegations.create({ body })).code).toBe('parent_too_deep')
    await bodyOf(client.delegations.revoke({ params: { id: String(chain[3]) } }))
    expect((await client.delegations.create({ body })).code).toBe('parent_over')
    expect(await statusesOf(client, chain)).toEqual([...Array(3).fill('issued'), ...Array(6).fill('revoked')])
  })
})

describe('the code of a delegation', () => {
  test('a code is redeemed once for a token of the agent, without another credential', async () => {
    const { client, ownerId, agent } = await anOwnerWithAgent()
    const delegation = await aDelegation(client, agent.id)
    const answer = await anyone.delegations.redeem(codeOf(delegation))
    expect(answer).toMatchObject({ status: 201, body: { id: delegation.id, ownerId, status: 'redeemed' } })
    expect(await traceOf(service, answer)).toMatchObject({
      events: ['token.created', 'delegation.redeemed'],
      entries: 2,
    })
    const { token, tokenId } = answer.body
    expect(token).toMatch(/^at_dlg_[0-9A-Za-z]{43}$/)
    expect(await tablesWith(service, String(token))).toEqual([])
    const params = { id: agent.id, tokenId: String(tokenId) }
    expect((await client.agentTokens.get({ params })).body).toMatchObject({
      delegationId: delegation.id,
      scopes: expect.arrayContaining(['intents:write', 'runs:write']),
    })
    const tokenClient = service.client(String(token))
    expect((await bodyOf(tokenClient.agents.list())).data.map(({ id }) => id)).toEqual([agent.id])
    const again = await anyone.delegations.redeem(codeOf(delegation))
    expect(again).toMatchObject({ status: 410, code: 'code_used' })
  })

  test('is redeemed by one of a hundred requests at once', async () => {
    const { client, agent } = await anOwnerWithAgent()
    const delegation = await aDelegation(client, agent.id)
    const answers = await Promise.all(
      Array.from({ length: 100 }, () => anyone.delegations.redeem(codeOf(delegation))),
    )
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1)
    expect(answers.filter(({ code }) => code === 'code_used')).toHaveLength(99)
    const tokens = await service.sql('select id from agent_tokens where delegation_id = $1', [delegation.id])
    expect(tokens).toHaveLength(1)
  })

  test('is refused if it is wrong, incomplete or of something else', async () => {
    const { client, key, agent } = await anOwnerWithAgent()
    const { code } = await aDelegation(client, agent.id)
    const { token } = await aToken(client, agent.id)
    for (const invalid of [
      String(code).slice(0, -1),
      `${code}x`,
      String(code).toUpperCase(),
      key,
      String(token),
    ])
      expect(await anyone.delegations.redeem({ body: { code: invalid } })).toMatchObject({
        status: 404,
        code: 'code_not_found',
      })
    expect((await service.http('GET', '/agents', { token: String(code) })).status).toBe(401)
    expect((await anyone.delegations.redeem({ body: { code: String(code) } })).status).toBe(201)
  })

  test('gives no more scopes than the creating key has, and is refused if the owner is suspended', async () => {
    const { client, ownerId, agent } = await anOwnerWithAgent()
    const scopes = ['delegations:write' as const, 'intents:read' as const]
    const narrow = service.client(String((await aKey(client, { scopes })).key))
    const { tokenId } = await redeemDelegation(anyone, await aDelegation(narrow, agent.id))
    const params = { id: agent.id, tokenId: String(tokenId) }
    expect((await bodyOf(client.agentTokens.get({ params }))).scopes).toEqual(['intents:read'])
    const other = await aDelegation(client, agent.id)
    await bodyOf(service.dash.customers.update({ params: { id: ownerId }, body: { status: 'suspended' } }))
    expect((await anyone.delegations.redeem(codeOf(other))).code).toBe('owner_suspended')
  })

  test('redeems a code with an idempotency key that other callers can neither use nor read', async () => {
    const { client, agent } = await anOwnerWithAgent()
    const [mine, theirs] = [await aDelegation(client, agent.id), await aDelegation(client, agent.id)]
    const idempotencyKey = 'guessed'
    const stranger = await anyone.delegations.redeem({ body: { code: 'dlg_guess' }, idempotencyKey })
    expect(stranger.code).toBe('code_not_found')
    const first = await anyone.delegations.redeem({ ...codeOf(mine), idempotencyKey })
    const other = await anyone.delegations.redeem({ ...codeOf(theirs), idempotencyKey })
    expect([first.status, other.status]).toEqual([201, 201])
    const again = await anyone.delegations.redeem({ ...codeOf(mine), idempotencyKey })
    expect(again).toMatchObject({ status: 201, body: { ...first.body, token: null } })
    expect(again.headers.get('idempotent-replayed')).toBe('true')
  })
})
