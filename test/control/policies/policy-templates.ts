import { describe, expect, test } from '@jest/globals'
import { effectivePolicyOf, everyRule, noRules, versionsOf } from '../../support/control/policies.ts'
import { anAgent, aPolicy, aToken, bodyOf } from '../../support/factories.ts'
import { startTestService } from '../../support/harness.ts'
import { traceOf, transactionCount } from '../../support/trace.ts'

const service = await startTestService()

describe('assigning a policy', () => {
  test('gives the agent a copy of its own that remembers its template', async () => {
    const { client } = await service.owner()
    const agent = await anAgent(client)
    const template = await aPolicy(client, everyRule)
    const params = { agentId: agent.id }
    const answer = await client.policies.assign({ params, body: { policyId: template.id } })
    expect(answer).toMatchObject({
      status: 200,
      body: { ...everyRule, agentId: agent.id, templateId: template.id, version: 1 },
    })
    expect(answer.body.assignedAt).not.toBeNull()
    expect(answer.body.id).not.toBe(template.id)
    expect(await effectivePolicyOf(client, agent.id)).toEqual(answer.body)
    expect((await client.agents.get({ params: { id: agent.id } })).body.policyId).toBe(answer.body.id)
    expect(await traceOf(service, answer)).toMatchObject({ events: ['policy.assigned'], entries: 1 })
    expect(await transactionCount(service, answer, 'agents', agent.id)).toBe(1)
  })

  test('replaces the agent’s policy by a copy of the new template', async () => {
    const { client } = await service.owner()
    const agent = await anAgent(client, { policyId: (await aPolicy(client, everyRule)).id })
    const other = await aPolicy(client, { name: 'Other', dailyLimitEuros: 5 })
    const before = await effectivePolicyOf(client, agent.id)
    const after = await bodyOf(
      client.policies.assign({ params: { agentId: agent.id }, body: { policyId: other.id } }),
    )
    expect(after).toMatchObject({ id: before.id, ...noRules, name: 'Other', dailyLimitEuros: 5, version: 2 })
    expect(after.templateId).toBe(other.id)
    expect((await versionsOf(client, after.id)).map(({ version }) => version)).toEqual([2, 1])
  })

  test('takes a preset by its name, for an existing agent and for a new one', async () => {
    const { client } = await service.owner()
    const agent = await anAgent(client)
    for (const policyId of ['standard', 'Standard', 'SaaS subscriptions']) {
      const preset = policyId === 'SaaS subscriptions' ? 'saas-subscriptions' : 'standard'
      const { policy } = await bodyOf(client.policies.preset({ params: { presetId: preset } }))
      const assigned = client.policies.assign({ params: { agentId: agent.id }, body: { policyId } })
      expect(await bodyOf(assigned)).toMatchObject({ ...policy, agentId: agent.id, templateId: null })
    }
    const another = await anAgent(client, { policyId: 'travel' })
    expect(await effectivePolicyOf(client, another.id)).toMatchObject({ name: 'Travel', templateId: null })
  })

  test('is refused for an unknown agent or template, and for another agent’s own policy', async () => {
    const { client } = await service.owner()
    const stranger = await service.owner()
    const template = await aPolicy(client)
    const agent = await anAgent(client, { policyId: template.id })
    const foreignTemplate = await aPolicy(stranger.client)
    const deleted = await anAgent(client)
    await bodyOf(client.agents.delete({ params: { id: deleted.id } }))
    const assign = async (agentId: string, policyId: string) =>
      (await client.policies.assign({ params: { agentId }, body: { policyId } })).code
    expect(await assign('agent_1', template.id)).toBe('agent_not_found')
    expect(await assign(deleted.id, template.id)).toBe('agent_not_found')
    expect(await assign(agent.id, foreignTemplate.id)).toBe('policy_not_found')
    expect(await assign(agent.id, String(agent.policyId))).toBe('not_a_template')
    expect(await assign((await anAgent(stranger.client)).id, template.id)).toBe('agent_not_found')
  })

  test('leaves one policy when two templates are assigned at once', async () => {
    for (let round = 0; round < 5; round++) {
      const { client } = await service.owner()
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
      expect(await effectivePolicyOf(client, agent.id)).toEqual(last)
      expect((await versionsOf(client, String(last?.id))).map(({ version }) => version)).toEqual([2, 1])
    }
  })

  test('leaves every agent with the template when it is applied at the same time', async () => {
    const { client } = await service.owner()
    const template = await aPolicy(client)
    const agents = [await anAgent(client), await anAgent(client), await anAgent(client)]
    const assign = ({ id }: { id: string }) =>
      client.policies.assign({ params: { agentId: id }, body: { policyId: template.id } })
    const apply = () => client.policies.apply({ params: { id: template.id } })
    const answers = await Promise.all([...agents.map(assign), apply(), ...agents.map(assign), apply()])
    expect(answers.map(({ status }) => status)).toEqual(Array(8).fill(200))
    for (const { id } of agents)
      expect(await effectivePolicyOf(client, id)).toMatchObject({ templateId: template.id })
  })
})

describe('a changed template', () => {
  test('changes its agents when it is applied, not before', async () => {
    const { client } = await service.owner()
    const template = await aPolicy(client, { dailyLimitEuros: 10 })
    const otherTemplate = await aPolicy(client, { dailyLimitEuros: 99 })
    const first = await anAgent(client, { policyId: template.id })
    const second = await anAgent(client, { policyId: template.id })
    const other = await anAgent(client, { policyId: otherTemplate.id })
    const limits = async () =>
      Promise.all(
        [first, second, other].map(async ({ id }) => (await effectivePolicyOf(client, id)).dailyLimitEuros),
      )
    const params = { id: template.id }
    await bodyOf(client.policies.replace({ params, body: { name: 'Tighter', dailyLimitEuros: 5 } }))
    expect(await limits()).toEqual([10, 10, 99])
    const answer = await client.policies.apply({ params })
    expect(answer.body).toEqual({
      policyId: template.id,
      version: 2,
      agentIds: [first.id, second.id],
      agents: [first, second].map(({ id }) => ({ agentId: id, kept: [] })),
    })
    expect(await limits()).toEqual([5, 5, 99])
    expect((await traceOf(service, answer))?.events).toEqual([
      'policy.updated',
      'policy.updated',
      'policy.applied',
    ])
    const own = await effectivePolicyOf(client, first.id)
    expect(own).toMatchObject({ name: 'Tighter', version: 2, templateId: template.id })
    expect(await transactionCount(service, answer, 'policies', own.id)).toBe(1)
  })

  test('leaves a rule that was toggled for one agent, until it is toggled back', async () => {
    const { client } = await service.owner()
    const template = await aPolicy(client)
    const agents = [
      await anAgent(client, { policyId: template.id }),
      await anAgent(client, { policyId: template.id }),
    ]
    const [toggledId, otherId] = agents.map(({ id }) => id) as [string, string]
    const toggle = (value: boolean) =>
      bodyOf(
        client.policies.toggle({ params: { agentId: toggledId }, body: { field: 'requireIntent', value } }),
      )
    const apply = async (rules: object) => {
      await bodyOf(client.policies.replace({ params: { id: template.id }, body: { name: 'New', ...rules } }))
      return (await bodyOf(client.policies.apply({ params: { id: template.id } }))).agents
    }
    await toggle(true)
    expect(await apply({ dailyLimitEuros: 5 })).toEqual([
      { agentId: toggledId, kept: ['requireIntent'] },
      { agentId: otherId, kept: [] },
    ])
    const own = { requireIntent: true, dailyLimitEuros: 5, name: 'New', overrides: ['requireIntent'] }
    expect(await effectivePolicyOf(client, toggledId)).toMatchObject(own)
    expect(await effectivePolicyOf(client, otherId)).toMatchObject({ requireIntent: false, overrides: [] })
    const sameTemplate = { params: { agentId: toggledId }, body: { policyId: template.id } }
    expect(await bodyOf(client.policies.assign(sameTemplate))).toMatchObject(own)
    await toggle(false)
    expect(await effectivePolicyOf(client, toggledId)).toMatchObject({ requireIntent: false, overrides: [] })
    expect(await apply({ requireIntent: true })).toEqual(agents.map(({ id }) => ({ agentId: id, kept: [] })))
    expect(await effectivePolicyOf(client, toggledId)).toMatchObject({ requireIntent: true, overrides: [] })
  })

  test('leaves a rule on that was toggled on for an agent while it was on already', async () => {
    const { client } = await service.owner()
    const template = await aPolicy(client, { requireAttestation: true })
    const { id } = await anAgent(client, { policyId: template.id })
    const body = { field: 'requireAttestation', value: true } as const
    await bodyOf(client.policies.toggle({ params: { agentId: id }, body }))
    await bodyOf(client.policies.replace({ params: { id: template.id }, body: { name: 'Looser' } }))
    await bodyOf(client.policies.apply({ params: { id: template.id } }))
    expect(await effectivePolicyOf(client, id)).toMatchObject({ name: 'Looser', requireAttestation: true })
  })

  test('leaves changes to one agent’s own policy; another template leaves only toggles that are on', async () => {
    const { client } = await service.owner()
    const template = await aPolicy(client, { dailyLimitEuros: 50, merchantBlocklist: ['Casino'] })
    const { id, policyId } = await anAgent(client, { policyId: template.id })
    const read = await effectivePolicyOf(client, id)
    const stricter = { ...read, dailyLimitEuros: 10, lockToFirstMerchant: true }
    const params = { id: String(policyId) }
    expect((await bodyOf(client.policies.replace({ params, body: stricter }))).overrides).toEqual([
      'dailyLimitEuros',
      'lockToFirstMerchant',
    ])
    await bodyOf(client.policies.apply({ params: { id: template.id } }))
    expect(await effectivePolicyOf(client, id)).toMatchObject({
      dailyLimitEuros: 10,
      lockToFirstMerchant: true,
    })
    const other = await aPolicy(client, { name: 'Other', dailyLimitEuros: 7 })
    const assigned = client.policies.assign({ params: { agentId: id }, body: { policyId: other.id } })
    expect(await bodyOf(assigned)).toMatchObject({
      name: 'Other',
      dailyLimitEuros: 7,
      lockToFirstMerchant: true,
      overrides: ['lockToFirstMerchant'],
    })
  })

  test('does not reach a deleted agent, whose own policy is deleted with it', async () => {
    const { client } = await service.owner()
    const template = await aPolicy(client)
    const deletedAgent = await anAgent(client, { policyId: template.id })
    const remainingAgent = await anAgent(client, { policyId: template.id })
    const deleted = await client.agents.delete({ params: { id: deletedAgent.id } })
    expect((await traceOf(service, deleted))?.events).toEqual(['agent.deleting', 'policy.deleted'])
    const { agentIds } = await bodyOf(client.policies.apply({ params: { id: template.id } }))
    expect(agentIds).toEqual([remainingAgent.id])
    expect(await versionsOf(client, String(deletedAgent.policyId))).toHaveLength(1)
  })

  test('is refused to be applied if it is an agent’s own policy', async () => {
    const { client } = await service.owner()
    const agent = await anAgent(client, { policyId: (await aPolicy(client)).id })
    const answer = await client.policies.apply({ params: { id: String(agent.policyId) } })
    expect(answer).toMatchObject({ status: 400, code: 'not_a_template' })
    expect((await client.policies.apply({ params: { id: 'policy_1' } })).code).toBe('policy_not_found')
  })
})

describe('an agent’s token', () => {
  test('reads its own policy and its versions, and no template', async () => {
    const { client } = await service.owner()
    const template = await aPolicy(client)
    const agent = await anAgent(client, { policyId: template.id })
    await anAgent(client, { policyId: template.id })
    const tokenClient = service.client(String((await aToken(client, agent.id)).token))
    const own = await effectivePolicyOf(tokenClient, agent.id)
    expect((await tokenClient.policies.list()).body.data).toEqual([own])
    expect((await tokenClient.policies.get({ params: { id: own.id } })).body).toEqual(own)
    expect(await versionsOf(tokenClient, own.id)).toHaveLength(1)
    expect((await tokenClient.policies.get({ params: { id: template.id } })).code).toBe('policy_not_found')
  })

  test('gets no_policy_assigned if the agent has none', async () => {
    const { client } = await service.owner()
    const agent = await anAgent(client)
    const tokenClient = service.client(String((await aToken(client, agent.id)).token))
    const answer = await tokenClient.policies.effective({ params: { agentId: agent.id } })
    expect(answer).toMatchObject({ status: 404, code: 'no_policy_assigned' })
  })
})
