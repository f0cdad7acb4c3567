import { describe, expect, test } from '@jest/globals'
import {
  aKey,
  aLiveClient,
  anAgent,
  anAgentUnder,
  aPolicy,
  aToken,
  made,
  type TestClient,
} from '../support/factories.ts'
import { startHouse } from '../support/harness.ts'
import { traceOf, transactionsOf } from '../support/trace.ts'

const house = await startHouse()

/** One value for every rule, none of them what it is by default. */
const every = {
  name: 'Everything',
  maxTransactionEuros: 25.5,
  dailyLimitEuros: 70,
  monthlyLimitEuros: 1_000.01,
  autoApproveLimitEuros: 0,
  merchantAllowlist: ['*.example.com', 'Bookshop'],
  merchantBlocklist: ['casino.example'],
  mccCategories: ['software'],
  allowedCountries: ['DE', 'FR'],
  lockToFirstMerchant: true,
  cooldownMinutes: 0,
  allowedMccs: ['5942'],
  blockedMccs: ['7995'],
  requireIntent: true,
  requireAttestation: true,
  attestationWindowMinutes: 10,
  expiresAfterMinutes: 60,
  expirationAction: 'freeze' as const,
  activeHoursStart: 22,
  activeHoursEnd: 6,
  maxUsageCount: 3,
  amountTolerancePercent: 2.5,
}

const noRule = {
  maxTransactionEuros: null,
  dailyLimitEuros: null,
  monthlyLimitEuros: null,
  autoApproveLimitEuros: null,
  merchantAllowlist: [],
  merchantBlocklist: [],
  mccCategories: [],
  allowedCountries: [],
  lockToFirstMerchant: false,
  cooldownMinutes: null,
  requireIntent: false,
  requireAttestation: false,
  expiresAfterMinutes: null,
  expirationAction: 'notify',
  activeHoursStart: null,
  activeHoursEnd: null,
  maxUsageCount: null,
  amountTolerancePercent: null,
}

const detail = async (client: TestClient, id: string) => made(client.policies.get({ params: { id } }))
const effective = async (client: TestClient, agentId: string) =>
  made(client.policies.effective({ params: { agentId } }))
const versionsOf = async (client: TestClient, id: string) =>
  (await made(client.policies.versions({ params: { id } }))).data

describe('a new policy', () => {
  test('without rules is the contract’s record with none', async () => {
    const { client, ownerId } = await house.owner()
    const { status, body } = await client.policies.create({ body: { name: 'Research budget' } })
    expect(status).toBe(201)
    expect(body).toEqual({
      id: expect.stringMatching(/^policy_[0-9a-z]{26}$/),
      agentId: null,
      ownerId,
      name: 'Research budget',
      ...noRule,
      updatedAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    })
  })

  test('with every rule keeps every rule', async () => {
    const { client, ownerId } = await house.owner()
    const policy = await aPolicy(client, every)
    expect(await detail(client, policy.id)).toEqual({
      id: policy.id,
      ownerId,
      mode: 'test',
      agentId: null,
      templateId: null,
      version: 1,
      ...every,
      assignedAt: null,
      expiresAt: null,
      expiredAt: null,
      createdAt: policy.updatedAt,
      updatedAt: policy.updatedAt,
    })
    expect(await versionsOf(client, policy.id)).toMatchObject([
      { version: 1, rules: every, changedByType: 'key' },
    ])
  })

  test('leaves its event and audit entry in the same transaction', async () => {
    const { client } = await house.owner()
    const answer = await client.policies.create({ body: { name: 'A' } })
    expect(await traceOf(house, answer)).toEqual({
      events: ['policy.created'],
      actions: ['policies.create'],
      entries: 1,
    })
    expect(await transactionsOf(house, answer, 'policies', answer.body.id)).toBe(1)
  })

  test('holds amounts to the cent, however large', async () => {
    const { client } = await house.owner()
    for (const maxTransactionEuros of [0, 0.01, 0.1, 0.29, 1.1, 19.99, 4_503_599.63, 99_999_999_999.99])
      expect((await aPolicy(client, { maxTransactionEuros })).maxTransactionEuros).toBe(maxTransactionEuros)
  })

  test.each([
    ['no name', { name: undefined }, 'name'],
    ['an empty name', { name: '' }, 'name'],
    ['a negative amount', { dailyLimitEuros: -1 }, 'dailyLimitEuros'],
    ['three decimals', { maxTransactionEuros: 1.005 }, 'maxTransactionEuros'],
    ['an amount as text', { maxTransactionEuros: '5' }, 'maxTransactionEuros'],
    ['an hour that no clock has', { activeHoursStart: 24 }, 'activeHoursStart'],
    ['half a minute', { cooldownMinutes: 0.5 }, 'cooldownMinutes'],
    ['no window at all', { attestationWindowMinutes: 0 }, 'attestationWindowMinutes'],
    ['another action', { expirationAction: 'explode' }, 'expirationAction'],
    ['a code with letters', { allowedMccs: ['59x2'] }, 'allowedMccs'],
    ['a country in small letters', { allowedCountries: ['de'] }, 'allowedCountries'],
    ['no list', { merchantAllowlist: 'Bookshop' }, 'merchantAllowlist'],
    ['a rule that does not exist', { dailyLimit: 5 }, 'dailyLimit'],
  ])('is refused with %s', async (_, wrong, named) => {
    const { client, key } = await house.owner()
    const answer = await house.http('POST', '/policies', { token: key, body: { name: 'A', ...wrong } })
    expect(answer.status).toBe(400)
    expect(answer.body).toEqual({ error: expect.stringContaining(named) })
    expect((await client.policies.list()).body.data).toEqual([])
  })
})

describe('replacing', () => {
  test('writes back what was read and loses nothing', async () => {
    const { client } = await house.owner()
    const before = await detail(client, (await aPolicy(client, every)).id)
    const after = await made(client.policies.replace({ params: { id: before.id }, body: before }))
    expect(after).toEqual({ ...before, version: 2, updatedAt: expect.any(String) })
  })

  test('lifts the rules that are left out, and keeps each version', async () => {
    const { client } = await house.owner()
    const { id } = await aPolicy(client, every)
    const answer = await client.policies.replace({ params: { id }, body: { name: 'Bare', maxUsageCount: 1 } })
    expect(answer.body).toMatchObject({
      ...noRule,
      name: 'Bare',
      maxUsageCount: 1,
      allowedMccs: [],
      version: 2,
    })
    expect(await versionsOf(client, id)).toMatchObject([
      { policyId: id, version: 2, rules: { name: 'Bare', maxUsageCount: 1 } },
      { policyId: id, version: 1, rules: every },
    ])
    expect((await traceOf(house, answer))?.events).toEqual(['policy.updated'])
    expect(await transactionsOf(house, answer, 'policies', id)).toBe(1)
  })

  test('is refused where the policy has changed since it was read', async () => {
    const { client } = await house.owner()
    const { id } = await aPolicy(client)
    const read = await detail(client, id)
    await made(client.policies.replace({ params: { id }, body: { name: 'First' } }))
    const late = await client.policies.replace({ params: { id }, body: { ...read, name: 'Second' } })
    expect(late).toMatchObject({ status: 409, code: 'version_conflict' })
    expect(await detail(client, id)).toMatchObject({ name: 'First', version: 2 })
  })

  test('succeeds once when five write the same version at once', async () => {
    const { client } = await house.owner()
    const { id } = await aPolicy(client)
    const write = (n: number) =>
      client.policies.replace({ params: { id }, body: { name: `Name ${n}`, version: 1 } })
    const answers = await Promise.all([1, 2, 3, 4, 5].map(write))
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409, 409])
    expect((await versionsOf(client, id)).map(({ version }) => version)).toEqual([2, 1])
  })

  test('counts a version for each of five writers who name none', async () => {
    const { client } = await house.owner()
    const { id } = await aPolicy(client)
    const write = (n: number) => client.policies.replace({ params: { id }, body: { name: `Name ${n}` } })
    const answers = await Promise.all([1, 2, 3, 4, 5].map(write))
    expect(answers.map(({ body }) => body.version).sort()).toEqual([2, 3, 4, 5, 6])
    expect((await versionsOf(client, id)).map(({ version }) => version)).toEqual([6, 5, 4, 3, 2, 1])
  })
})

describe('assigning', () => {
  test('gives the agent a copy of its own that remembers its template', async () => {
    const { client } = await house.owner()
    const agent = await anAgent(client)
    const template = await aPolicy(client, every)
    const params = { agentId: agent.id }
    const answer = await client.policies.assign({ params, body: { policyId: template.id } })
    expect(answer).toMatchObject({
      status: 200,
      body: {
        ...every,
        agentId: agent.id,
        templateId: template.id,
        version: 1,
        assignedAt: expect.any(String),
      },
    })
    expect(answer.body.id).not.toBe(template.id)
    expect(await effective(client, agent.id)).toEqual(answer.body)
    expect((await client.agents.get({ params: { id: agent.id } })).body.policyId).toBe(answer.body.id)
    expect(await traceOf(house, answer)).toMatchObject({ events: ['policy.assigned'], entries: 1 })
    expect(await transactionsOf(house, answer, 'agents', agent.id)).toBe(1)
  })

  test('turns the policy that the agent has into a copy of the new template', async () => {
    const { client } = await house.owner()
    const agent = await anAgent(client, { policyId: (await aPolicy(client, every)).id })
    const other = await aPolicy(client, { name: 'Other', dailyLimitEuros: 5 })
    const before = await effective(client, agent.id)
    const after = await made(
      client.policies.assign({ params: { agentId: agent.id }, body: { policyId: other.id } }),
    )
    expect(after).toMatchObject({ id: before.id, ...noRule, name: 'Other', dailyLimitEuros: 5, version: 2 })
    expect(after.templateId).toBe(other.id)
    expect((await versionsOf(client, after.id)).map(({ version }) => version)).toEqual([2, 1])
  })

  test('is refused without an agent, without a template, and with another agent’s own policy', async () => {
    const { client } = await house.owner()
    const stranger = await house.owner()
    const template = await aPolicy(client)
    const agent = await anAgent(client, { policyId: template.id })
    const strangers = await aPolicy(stranger.client)
    const gone = await anAgent(client)
    await made(client.agents.delete({ params: { id: gone.id } }))
    const assign = async (agentId: string, policyId: string) =>
      (await client.policies.assign({ params: { agentId }, body: { policyId } })).code
    expect(await assign('agent_1', template.id)).toBe('agent_not_found')
    expect(await assign(gone.id, template.id)).toBe('agent_not_found')
    expect(await assign(agent.id, strangers.id)).toBe('policy_not_found')
    expect(await assign(agent.id, String(agent.policyId))).toBe('not_a_template')
    expect(await assign((await anAgent(stranger.client)).id, template.id)).toBe('agent_not_found')
  })

  test('leaves one policy when two templates are assigned at once', async () => {
    for (let round = 0; round < 5; round++) {
      const { client } = await house.owner()
      const agent = await anAgent(client)
      const templates = [await aPolicy(client, { name: 'One' }), await aPolicy(client, { name: 'Two' })]
      const params = { agentId: agent.id }
      const answers = await Promise.all(
        templates.map(({ id }) => client.policies.assign({ params, body: { policyId: id } })),
      )
      expect(answers.map(({ status }) => status)).toEqual([200, 200])
      expect(new Set(answers.map(({ body }) => body.id)).size).toBe(1)
      const own = (await client.policies.list({ query: { kind: 'agent' } })).body.data
      expect(own).toHaveLength(1)
      const last = answers.find(({ body }) => body.version === 2)?.body
      expect(await effective(client, agent.id)).toEqual(last)
      expect((await versionsOf(client, String(last?.id))).map(({ version }) => version)).toEqual([2, 1])
    }
  })

  test('and applying at once end in order', async () => {
    const { client } = await house.owner()
    const template = await aPolicy(client)
    const agents = [await anAgent(client), await anAgent(client), await anAgent(client)]
    const assign = ({ id }: { id: string }) =>
      client.policies.assign({ params: { agentId: id }, body: { policyId: template.id } })
    const apply = () => client.policies.apply({ params: { id: template.id } })
    const answers = await Promise.all([...agents.map(assign), apply(), ...agents.map(assign), apply()])
    expect(answers.map(({ status }) => status)).toEqual(Array(8).fill(200))
    for (const { id } of agents)
      expect(await effective(client, id)).toMatchObject({ templateId: template.id })
  })
})

describe('a changed template', () => {
  test('reaches its agents when it is applied, and not before', async () => {
    const { client } = await house.owner()
    const template = await aPolicy(client, { dailyLimitEuros: 10 })
    const other = await aPolicy(client, { dailyLimitEuros: 99 })
    const one = await anAgent(client, { policyId: template.id })
    const two = await anAgent(client, { policyId: template.id })
    const untouched = await anAgent(client, { policyId: other.id })
    const limits = async () =>
      Promise.all([one, two, untouched].map(async ({ id }) => (await effective(client, id)).dailyLimitEuros))
    const params = { id: template.id }
    await made(client.policies.replace({ params, body: { name: 'Tighter', dailyLimitEuros: 5 } }))
    expect(await limits()).toEqual([10, 10, 99])
    const answer = await client.policies.apply({ params })
    expect(answer.body).toEqual({ policyId: template.id, version: 2, agentIds: [one.id, two.id] })
    expect(await limits()).toEqual([5, 5, 99])
    expect((await traceOf(house, answer))?.events).toEqual([
      'policy.updated',
      'policy.updated',
      'policy.applied',
    ])
    const own = await effective(client, one.id)
    expect(own).toMatchObject({ name: 'Tighter', version: 2, templateId: template.id })
    expect(await transactionsOf(house, answer, 'policies', own.id)).toBe(1)
  })

  test('does not reach a deleted agent, whose own policy goes with it', async () => {
    const { client } = await house.owner()
    const template = await aPolicy(client)
    const gone = await anAgent(client, { policyId: template.id })
    const stays = await anAgent(client, { policyId: template.id })
    const deleted = await client.agents.delete({ params: { id: gone.id } })
    expect((await traceOf(house, deleted))?.events).toEqual(['agent.deleting', 'policy.deleted'])
    const { agentIds } = await made(client.policies.apply({ params: { id: template.id } }))
    expect(agentIds).toEqual([stays.id])
    expect(await versionsOf(client, String(gone.policyId))).toHaveLength(1)
  })

  test('is applied to templates only', async () => {
    const { client } = await house.owner()
    const agent = await anAgent(client, { policyId: (await aPolicy(client)).id })
    const answer = await client.policies.apply({ params: { id: String(agent.policyId) } })
    expect(answer).toMatchObject({ status: 400, code: 'not_a_template' })
    expect((await client.policies.apply({ params: { id: 'policy_1' } })).code).toBe('policy_not_found')
  })
})

describe('a policy that has ended', () => {
  /** An owner with an agent whose policy has ended after an hour. */
  async function anEnded() {
    const { client } = await house.owner()
    const { id, policyId } = await anAgentUnder(client, { expiresAfterMinutes: 60 })
    await made(client.sandbox.advance({ body: { minutes: 60 } }))
    const params = { id: String(policyId) }
    expect((await made(client.policies.get({ params }))).expiredAt).not.toBeNull()
    const ends = async () =>
      (await made(client.events.list({ query: { event: 'policy.expired', agentId: id } }))).data.length
    const change = (rules: object) =>
      made(client.policies.replace({ params, body: { name: 'Changed', ...rules } }))
    return { client, id, params, ends, change }
  }

  test('goes on when it is given a later end, and ends again', async () => {
    const { client, params, ends, change } = await anEnded()
    expect((await change({ expiresAfterMinutes: 90 })).expiredAt).toBeNull()
    expect(await ends()).toBe(1)
    await made(client.sandbox.advance({ body: { minutes: 30 } }))
    expect(await ends()).toBe(2)
    expect((await made(client.policies.get({ params }))).expiredAt).not.toBeNull()
  })

  test('goes on when it is to have no end', async () => {
    const { client, ends, change } = await anEnded()
    expect(await change({})).toMatchObject({ expiresAt: null, expiredAt: null })
    await made(client.sandbox.advance({ body: { days: 1 } }))
    expect(await ends()).toBe(1)
  })

  test('remains so when the other end has passed as well, or when something else is changed', async () => {
    const { client, id, params, ends, change } = await anEnded()
    const { expiredAt } = await made(client.policies.get({ params }))
    expect((await change({ expiresAfterMinutes: 30 })).expiredAt).toBe(expiredAt)
    const body = { field: 'requireIntent', value: true } as const
    await made(client.policies.toggle({ params: { agentId: id }, body }))
    expect((await made(client.policies.get({ params }))).expiredAt).toBe(expiredAt)
    await made(client.sandbox.advance({ body: { minutes: 1 } }))
    expect(await ends()).toBe(1)
  })

  test('does not end once more because its template is applied', async () => {
    const { client, params, ends } = await anEnded()
    const templateId = String((await made(client.policies.get({ params }))).templateId)
    await made(client.policies.apply({ params: { id: templateId } }))
    await made(client.sandbox.advance({ body: { minutes: 1 } }))
    expect(await ends()).toBe(1)
  })
})

describe('toggling', () => {
  test.each(['lockToFirstMerchant', 'requireIntent', 'requireAttestation'] as const)(
    'switches %s for one agent, and for no other',
    async field => {
      const { client } = await house.owner()
      const template = await aPolicy(client)
      const agent = await anAgent(client, { policyId: template.id })
      const neighbour = await anAgent(client, { policyId: template.id })
      const before = await effective(client, agent.id)
      const params = { agentId: agent.id }
      const answer = await client.policies.toggle({ params, body: { field, value: true } })
      expect(answer).toMatchObject({ status: 200, body: { id: before.id, agentId: agent.id, [field]: true } })
      expect(Object.keys(answer.body).sort()).toEqual(Object.keys(template).sort())
      expect(await effective(client, agent.id)).toEqual({
        ...before,
        [field]: true,
        version: 2,
        updatedAt: answer.body.updatedAt,
      })
      expect((await effective(client, neighbour.id))[field]).toBe(false)
      expect((await detail(client, template.id))[field]).toBe(false)
      expect((await traceOf(house, answer))?.events).toEqual(['policy.updated'])
      const back = await made(client.policies.toggle({ params, body: { field, value: false } }))
      expect(back[field]).toBe(false)
    },
  )

  test('is refused without a policy or an agent, and for anything else', async () => {
    const { client, key } = await house.owner()
    const { id } = await anAgent(client)
    const body = { field: 'requireIntent', value: true } as const
    const bare = await client.policies.toggle({ params: { agentId: id }, body })
    expect(bare).toMatchObject({ status: 400, code: 'no_policy_assigned' })
    expect((await client.policies.toggle({ params: { agentId: 'agent_1' }, body })).code).toBe(
      'agent_not_found',
    )
    for (const wrong of [
      { field: 'dailyLimitEuros', value: true },
      { field: 'requireIntent', value: 'yes' },
      {},
    ]) {
      const answer = await house.http('PATCH', `/policies/agent/${id}/toggle`, { token: key, body: wrong })
      expect(answer.status).toBe(400)
    }
  })
})

describe('deleting', () => {
  test('removes a template and leaves the copies and the versions', async () => {
    const { client } = await house.owner()
    const template = await aPolicy(client, { dailyLimitEuros: 10 })
    const agent = await anAgent(client, { policyId: template.id })
    const params = { id: template.id }
    const answer = await client.policies.delete({ params })
    expect(answer).toMatchObject({ status: 204, body: undefined })
    expect((await traceOf(house, answer))?.events).toEqual(['policy.deleted'])
    const refused = [
      await client.policies.get({ params }),
      await client.policies.replace({ params, body: { name: 'Ghost' } }),
      await client.policies.apply({ params }),
      await client.policies.delete({ params }),
    ]
    for (const again of refused) expect(again).toMatchObject({ status: 404, code: 'policy_not_found' })
    expect(await effective(client, agent.id)).toMatchObject({ dailyLimitEuros: 10, templateId: template.id })
    expect(await versionsOf(client, template.id)).toHaveLength(1)
    expect((await client.policies.list({ query: { kind: 'template' } })).body.data).toEqual([])
  })

  test('is refused for an agent’s own policy', async () => {
    const { client } = await house.owner()
    const agent = await anAgent(client, { policyId: (await aPolicy(client)).id })
    const answer = await client.policies.delete({ params: { id: String(agent.policyId) } })
    expect(answer).toMatchObject({ status: 400, code: 'policy_assigned' })
  })
})

describe('a list of policies', () => {
  test('has the newest first, and can be narrowed to templates or to their copies', async () => {
    const { client } = await house.owner()
    const one = await aPolicy(client)
    const two = await aPolicy(client)
    const { policyId } = await anAgent(client, { policyId: one.id })
    const ids = async (query = {}) => (await made(client.policies.list({ query }))).data.map(({ id }) => id)
    expect(await ids()).toEqual([policyId, two.id, one.id])
    expect(await ids({ kind: 'template' })).toEqual([two.id, one.id])
    expect(await ids({ kind: 'agent' })).toEqual([policyId])
    expect(await ids({ templateId: one.id })).toEqual([policyId])
    expect(await ids({ templateId: two.id })).toEqual([])
  })
})

describe('the presets', () => {
  test('are six, each complete, explained, and a policy as it is', async () => {
    const { client } = await house.owner()
    const { data } = await made(client.policies.presets())
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
      expect(await detail(client, id)).toMatchObject(preset.policy)
      expect(preset.summary.length).toBeGreaterThan(20)
      for (const rule of Object.keys(preset.explanation)) expect(preset.policy).toHaveProperty(rule)
    }
  })

  test('are pages of a list like any other', async () => {
    const { client } = await house.owner()
    const first = await made(client.policies.presets({ query: { limit: 4 } }))
    const rest = await made(
      client.policies.presets({ query: { limit: 4, cursor: String(first.nextCursor) } }),
    )
    expect([first.data.length, rest.data.length, rest.hasMore]).toEqual([4, 2, false])
  })

  test('do not include what nobody made', async () => {
    const { client } = await house.owner()
    const answer = await client.policies.preset({ params: { presetId: 'reckless' } })
    expect(answer).toMatchObject({ status: 404, code: 'preset_not_found' })
  })
})

describe('a policy that is not the caller’s', () => {
  test('is not found: another owner’s, the other mode’s', async () => {
    const owner = await house.owner()
    const agent = await anAgent(owner.client, { policyId: (await aPolicy(owner.client)).id })
    const params = { id: String(agent.policyId) }
    const stranger = (await house.owner()).client
    for (const client of [stranger, await aLiveClient(house, owner)]) {
      const answers = [
        await client.policies.get({ params }),
        await client.policies.replace({ params, body: { name: 'Mine' } }),
        await client.policies.delete({ params }),
        await client.policies.versions({ params }),
        await client.policies.apply({ params }),
      ]
      for (const answer of answers) expect(answer).toMatchObject({ status: 404, code: 'policy_not_found' })
      const toggle = { field: 'requireIntent', value: true } as const
      const ofAgent = [
        await client.policies.effective({ params: { agentId: agent.id } }),
        await client.policies.toggle({ params: { agentId: agent.id }, body: toggle }),
      ]
      for (const answer of ofAgent) expect(answer).toMatchObject({ status: 404, code: 'agent_not_found' })
      expect((await client.policies.list()).body.data).toEqual([])
    }
  })
})

describe('an agent’s token', () => {
  test('reads its own policy and its versions, and no template', async () => {
    const { client } = await house.owner()
    const template = await aPolicy(client)
    const agent = await anAgent(client, { policyId: template.id })
    await anAgent(client, { policyId: template.id })
    const itself = house.client(String((await aToken(client, agent.id)).token))
    const own = await effective(itself, agent.id)
    expect((await itself.policies.list()).body.data).toEqual([own])
    expect((await itself.policies.get({ params: { id: own.id } })).body).toEqual(own)
    expect(await versionsOf(itself, own.id)).toHaveLength(1)
    expect((await itself.policies.get({ params: { id: template.id } })).code).toBe('policy_not_found')
  })

  test('is told when it has none', async () => {
    const { client } = await house.owner()
    const agent = await anAgent(client)
    const itself = house.client(String((await aToken(client, agent.id)).token))
    const answer = await itself.policies.effective({ params: { agentId: agent.id } })
    expect(answer).toMatchObject({ status: 404, code: 'no_policy_assigned' })
  })
})

describe('scopes', () => {
  test('are asked for by each operation', async () => {
    const { client } = await house.owner()
    const { id } = await aPolicy(client)
    const reader = house.client(String((await aKey(client, { scopes: ['policies:read'] })).key))
    expect((await reader.policies.get({ params: { id } })).status).toBe(200)
    const blind = house.client(String((await aKey(client, { scopes: ['agents:read'] })).key))
    const agentId = (await anAgent(client)).id
    const refused = [
      await reader.policies.create({ body: { name: 'No' } }),
      await reader.policies.replace({ params: { id }, body: { name: 'No' } }),
      await reader.policies.delete({ params: { id } }),
      await reader.policies.apply({ params: { id } }),
      await reader.policies.assign({ params: { agentId }, body: { policyId: id } }),
      await reader.policies.toggle({ params: { agentId }, body: { field: 'requireIntent', value: true } }),
      await blind.policies.list(),
      await blind.policies.get({ params: { id } }),
      await blind.policies.versions({ params: { id } }),
      await blind.policies.presets(),
      await blind.policies.preset({ params: { presetId: 'standard' } }),
      await blind.policies.effective({ params: { agentId } }),
    ]
    for (const answer of refused) expect(answer).toMatchObject({ status: 403, code: 'missing_scope' })
  })
})
