import './policies/large-lists.ts'
import './policies/policy-changes.ts'
import './policies/policy-templates.ts'
import './policies/policy-versions.ts'
import './policies/usage.ts'
import { describe, expect, test } from '@jest/globals'
import { everyRule, noRules, policyOf, versionsOf } from '../support/control/policies.ts'
import { aKey, aLiveClient, anAgent, aPolicy, bodyOf } from '../support/factories.ts'
import { startTestService } from '../support/harness.ts'
import { traceOf, transactionCount } from '../support/trace.ts'

const service = await startTestService()

describe('a new policy', () => {
  test('without rules is the contract’s record without any, and without an agent', async () => {
    const { client, ownerId } = await service.owner()
    const { status, body } = await client.policies.create({ body: { name: 'Research budget' } })
    expect(status).toBe(201)
    expect(body).toEqual({
      id: expect.stringMatching(/^policy_[0-9a-z]{26}$/),
      ownerId,
      name: 'Research budget',
      ...noRules,
      updatedAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    })
  })

  test('keeps every given rule', async () => {
    const { client, ownerId } = await service.owner()
    const policy = await aPolicy(client, everyRule)
    expect(await policyOf(client, policy.id)).toEqual({
      id: policy.id,
      ownerId,
      mode: 'test',
      agentId: null,
      templateId: null,
      version: 1,
      ...everyRule,
      overrides: [],
      assignedAt: null,
      expiresAt: null,
      expiredAt: null,
      createdAt: policy.updatedAt,
      updatedAt: policy.updatedAt,
    })
    expect(await versionsOf(client, policy.id)).toMatchObject([
      { version: 1, rules: everyRule, changedByType: 'key' },
    ])
  })

  test('leaves its event in the same transaction', async () => {
    const { client } = await service.owner()
    const answer = await client.policies.create({ body: { name: 'A' } })
    expect(await traceOf(service, answer)).toEqual({
      events: ['policy.created'],
      actions: ['policies.create'],
      entries: 1,
    })
    expect(await transactionCount(service, answer, 'policies', answer.body.id)).toBe(1)
  })

  test('keeps amounts to the cent, however large', async () => {
    const { client } = await service.owner()
    for (const maxTransactionEuros of [0, 0.01, 0.1, 0.29, 1.1, 19.99, 4_503_599.63, 99_999_999_999.99])
      expect((await aPolicy(client, { maxTransactionEuros })).maxTransactionEuros).toBe(maxTransactionEuros)
  })

  test.each([
    ['no name', { name: undefined }, 'name'],
    ['an empty name', { name: '' }, 'name'],
    ['a negative amount', { dailyLimitEuros: -1 }, 'dailyLimitEuros'],
    ['three decimals', { maxTransactionEuros: 1.005 }, 'maxTransactionEuros'],
    ['an amount as text', { maxTransactionEuros: '5' }, 'maxTransactionEuros'],
    ['hour 24', { activeHoursStart: 24 }, 'activeHoursStart'],
    ['a method of machine payments twice', { mppMethods: ['card', 'card'] }, 'mppMethods'],
    ['half a minute', { cooldownMinutes: 0.5 }, 'cooldownMinutes'],
    ['a margin above 100 %', { conversionMarginPercent: 100.5 }, 'conversionMarginPercent'],
    ['a negative margin', { conversionMarginPercent: -1 }, 'conversionMarginPercent'],
    ['a window of 0 minutes', { attestationWindowMinutes: 0 }, 'attestationWindowMinutes'],
    ['an unknown action', { expirationAction: 'explode' }, 'expirationAction'],
    ['a code with letters', { allowedMccs: ['59x2'] }, 'allowedMccs'],
    ['a country in small letters', { allowedCountries: ['de'] }, 'allowedCountries'],
    ['text in place of a list', { merchantAllowlist: 'Bookshop' }, 'merchantAllowlist'],
    ['a rule that does not exist', { dailyLimit: 5 }, 'dailyLimit'],
  ])('is refused with %s', async (_, wrongMembers, namedMember) => {
    const { client, key } = await service.owner()
    const answer = await service.http('POST', '/policies', {
      token: key,
      body: { name: 'A', ...wrongMembers },
    })
    expect(answer.status).toBe(400)
    expect(answer.body).toEqual({ error: expect.stringContaining(namedMember) })
    expect((await client.policies.list()).body.data).toEqual([])
  })
})

describe('the presets', () => {
  test('are six, each explained and complete: it can be posted as it is', async () => {
    const { client } = await service.owner()
    const { data } = await bodyOf(client.policies.presets())
    expect(data.map(({ id }) => id)).toEqual([
      'conservative',
      'standard',
      'saas-subscriptions',
      'travel',
      'research-agent',
      'machine-payments',
    ])
    for (const preset of data) {
      expect((await client.policies.preset({ params: { presetId: preset.id } })).body).toEqual(preset)
      const { id } = await aPolicy(client, preset.policy)
      expect(await policyOf(client, id)).toMatchObject(preset.policy)
      expect(preset.summary.length).toBeGreaterThan(20)
      for (const rule of Object.keys(preset.explanation)) expect(preset.policy).toHaveProperty(rule)
    }
  })

  test('are listed page by page', async () => {
    const { client } = await service.owner()
    const firstPage = await bodyOf(client.policies.presets({ query: { limit: 4 } }))
    const secondPage = await bodyOf(
      client.policies.presets({ query: { limit: 4, cursor: String(firstPage.nextCursor) } }),
    )
    expect([firstPage.data.length, secondPage.data.length, secondPage.hasMore]).toEqual([4, 2, false])
  })

  test('do not include an unknown name', async () => {
    const { client } = await service.owner()
    const answer = await client.policies.preset({ params: { presetId: 'reckless' } })
    expect(answer).toMatchObject({ status: 404, code: 'preset_not_found' })
  })
})

describe('a list of policies', () => {
  test('has the newest first, and can be filtered by templates and by their copies', async () => {
    const { client } = await service.owner()
    const older = await aPolicy(client)
    const newer = await aPolicy(client)
    const { policyId } = await anAgent(client, { policyId: older.id })
    const ids = async (query = {}) => (await bodyOf(client.policies.list({ query }))).data.map(({ id }) => id)
    expect(await ids()).toEqual([policyId, newer.id, older.id])
    expect(await ids({ kind: 'template' })).toEqual([newer.id, older.id])
    expect(await ids({ kind: 'agent' })).toEqual([policyId])
    expect(await ids({ templateId: older.id })).toEqual([policyId])
    expect(await ids({ templateId: newer.id })).toEqual([])
  })
})

describe('a policy of another owner or mode', () => {
  test('is not found', async () => {
    const owner = await service.owner()
    const agent = await anAgent(owner.client, { policyId: (await aPolicy(owner.client)).id })
    const params = { id: String(agent.policyId) }
    const stranger = (await service.owner()).client
    for (const client of [stranger, await aLiveClient(service, owner)]) {
      const answers = [
        await client.policies.get({ params }),
        await client.policies.replace({ params, body: { name: 'Mine' } }),
        await client.policies.delete({ params }),
        await client.policies.versions({ params }),
        await client.policies.apply({ params }),
      ]
      for (const answer of answers) expect(answer).toMatchObject({ status: 404, code: 'policy_not_found' })
      const toggle = { field: 'requireIntent', value: true } as const
      const agentAnswers = [
        await client.policies.effective({ params: { agentId: agent.id } }),
        await client.policies.toggle({ params: { agentId: agent.id }, body: toggle }),
      ]
      for (const answer of agentAnswers)
        expect(answer).toMatchObject({ status: 404, code: 'agent_not_found' })
      expect((await client.policies.list()).body.data).toEqual([])
    }
  })
})

describe('each operation', () => {
  test('asks for its scope', async () => {
    const { client } = await service.owner()
    const { id } = await aPolicy(client)
    const reader = service.client(String((await aKey(client, { scopes: ['policies:read'] })).key))
    expect((await reader.policies.get({ params: { id } })).status).toBe(200)
    const withoutScope = service.client(String((await aKey(client, { scopes: ['agents:read'] })).key))
    const agentId = (await anAgent(client)).id
    const refused = [
      await reader.policies.create({ body: { name: 'No' } }),
      await reader.policies.replace({ params: { id }, body: { name: 'No' } }),
      await reader.policies.delete({ params: { id } }),
      await reader.policies.apply({ params: { id } }),
      await reader.policies.assign({ params: { agentId }, body: { policyId: id } }),
      await reader.policies.toggle({ params: { agentId }, body: { field: 'requireIntent', value: true } }),
      await withoutScope.policies.list(),
      await withoutScope.policies.get({ params: { id } }),
      await withoutScope.policies.versions({ params: { id } }),
      await withoutScope.policies.presets(),
      await withoutScope.policies.preset({ params: { presetId: 'standard' } }),
      await withoutScope.policies.effective({ params: { agentId } }),
    ]
    for (const answer of refused) expect(answer).toMatchObject({ status: 403, code: 'missing_scope' })
  })
})
