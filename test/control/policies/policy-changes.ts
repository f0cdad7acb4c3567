import { describe, expect, test } from '@jest/globals'
import {
  effectivePolicyOf,
  everyRule,
  noRules,
  policyOf,
  versionsOf,
} from '../../support/control/policies.ts'
import { anAgent, anAgentUnder, anIntent, aPolicy, bodyOf } from '../../support/factories.ts'
import { startTestService } from '../../support/harness.ts'
import { traceOf, transactionCount } from '../../support/trace.ts'

const service = await startTestService({ own: true })

describe('replacing a policy', () => {
  test('writes back what was read and loses nothing', async () => {
    const { client } = await service.owner()
    const before = await policyOf(client, (await aPolicy(client, everyRule)).id)
    const after = await bodyOf(client.policies.replace({ params: { id: before.id }, body: before }))
    expect(after).toEqual({ ...before, version: 2, updatedAt: expect.any(String) })
  })

  test('lifts the rules that are left out, and stores each version', async () => {
    const { client } = await service.owner()
    const { id } = await aPolicy(client, everyRule)
    const answer = await client.policies.replace({ params: { id }, body: { name: 'Bare', maxUsageCount: 1 } })
    expect(answer.body).toMatchObject({
      ...noRules,
      name: 'Bare',
      maxUsageCount: 1,
      allowedMccs: [],
      version: 2,
    })
    expect(await versionsOf(client, id)).toMatchObject([
      { policyId: id, version: 2, rules: { name: 'Bare', maxUsageCount: 1 } },
      { policyId: id, version: 1, rules: everyRule },
    ])
    expect((await traceOf(service, answer))?.events).toEqual(['policy.updated'])
    expect(await transactionCount(service, answer, 'policies', id)).toBe(1)
  })

  test('is refused if the policy has changed since it was read', async () => {
    const { client } = await service.owner()
    const { id } = await aPolicy(client)
    const read = await policyOf(client, id)
    await bodyOf(client.policies.replace({ params: { id }, body: { name: 'First' } }))
    const outdated = await client.policies.replace({ params: { id }, body: { ...read, name: 'Second' } })
    expect(outdated).toMatchObject({ status: 409, code: 'version_conflict' })
    expect(await policyOf(client, id)).toMatchObject({ name: 'First', version: 2 })
  })

  test('succeeds once when five requests replace the same version at once', async () => {
    const { client } = await service.owner()
    const { id } = await aPolicy(client)
    const write = (n: number) =>
      client.policies.replace({ params: { id }, body: { name: `Name ${n}`, version: 1 } })
    const answers = await Promise.all([1, 2, 3, 4, 5].map(write))
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409, 409])
    expect((await versionsOf(client, id)).map(({ version }) => version)).toEqual([2, 1])
  })

  test('counts a version for each of five requests that name none', async () => {
    const { client } = await service.owner()
    const { id } = await aPolicy(client)
    const write = (n: number) => client.policies.replace({ params: { id }, body: { name: `Name ${n}` } })
    const answers = await Promise.all([1, 2, 3, 4, 5].map(write))
    expect(answers.map(({ body }) => body.version).sort()).toEqual([2, 3, 4, 5, 6])
    expect((await versionsOf(client, id)).map(({ version }) => version)).toEqual([6, 5, 4, 3, 2, 1])
  })
})

describe('toggling a rule', () => {
  test.each(['lockToFirstMerchant', 'requireIntent', 'requireAttestation'] as const)(
    'switches %s for one agent, and for no other',
    async field => {
      const { client } = await service.owner()
      const template = await aPolicy(client)
      const agent = await anAgent(client, { policyId: template.id })
      const neighbour = await anAgent(client, { policyId: template.id })
      const before = await effectivePolicyOf(client, agent.id)
      const params = { agentId: agent.id }
      const answer = await client.policies.toggle({ params, body: { field, value: true } })
      expect(answer).toMatchObject({ status: 200, body: { id: before.id, agentId: agent.id, [field]: true } })
      expect(Object.keys(answer.body).sort()).toEqual(['agentId', ...Object.keys(template)].sort())
      expect(await effectivePolicyOf(client, agent.id)).toEqual({
        ...before,
        [field]: true,
        overrides: [field],
        version: 2,
        updatedAt: answer.body.updatedAt,
      })
      expect((await effectivePolicyOf(client, neighbour.id))[field]).toBe(false)
      expect((await policyOf(client, template.id))[field]).toBe(false)
      expect((await traceOf(service, answer))?.events).toEqual(['policy.updated'])
      const back = await bodyOf(client.policies.toggle({ params, body: { field, value: false } }))
      expect(back[field]).toBe(false)
    },
  )

  test('is refused without a policy or an agent, and for other rules and values', async () => {
    const { client, key } = await service.owner()
    const { id } = await anAgent(client)
    const body = { field: 'requireIntent', value: true } as const
    const withoutPolicy = await client.policies.toggle({ params: { agentId: id }, body })
    expect(withoutPolicy).toMatchObject({ status: 400, code: 'no_policy_assigned' })
    expect((await client.policies.toggle({ params: { agentId: 'agent_1' }, body })).code).toBe(
      'agent_not_found',
    )
    for (const wrong of [
      { field: 'dailyLimitEuros', value: true },
      { field: 'requireIntent', value: 'yes' },
      {},
    ]) {
      const answer = await service.http('PATCH', `/policies/agent/${id}/toggle`, { token: key, body: wrong })
      expect(answer.status).toBe(400)
    }
  })
})

describe('a policy that has ended', () => {
  async function anAgentWithEndedPolicy() {
    const { client } = await service.owner()
    const { id, policyId } = await anAgentUnder(client, { expiresAfterMinutes: 60 })
    await bodyOf(client.sandbox.advance({ body: { minutes: 60 } }))
    const params = { id: String(policyId) }
    expect((await bodyOf(client.policies.get({ params }))).expiredAt).not.toBeNull()
    const countEnds = async () =>
      (await bodyOf(client.events.list({ query: { event: 'policy.expired', agentId: id } }))).data.length
    const change = (rules: object) =>
      bodyOf(client.policies.replace({ params, body: { name: 'Changed', ...rules } }))
    return { client, id, params, countEnds, change }
  }

  test('leaves the agent spending if its end only notifies', async () => {
    const { client } = await service.owner()
    const rules = { expiresAfterMinutes: 60, autoApproveLimitEuros: 50, dailyLimitEuros: 60 }
    const spendAfterEnd = async (expirationAction: 'notify' | 'freeze') => {
      const { id } = await anAgentUnder(client, { ...rules, expirationAction })
      await bodyOf(client.sandbox.advance({ body: { minutes: 60 } }))
      const endEvents = client.events.list({ query: { event: 'policy.expired', agentId: id } })
      expect((await bodyOf(endEvents)).data).toHaveLength(1)
      return [
        await anIntent(client, id, { amountEuros: 50 }),
        await anIntent(client, id, { amountEuros: 50 }),
      ]
    }
    expect(await spendAfterEnd('notify')).toMatchObject([{ status: 'approved' }, { status: 'denied' }])
    expect(await spendAfterEnd('freeze')).toMatchObject([{ status: 'denied' }, { status: 'denied' }])
  })

  test('applies again with a later end, and ends again', async () => {
    const { client, params, countEnds, change } = await anAgentWithEndedPolicy()
    expect((await change({ expiresAfterMinutes: 90 })).expiredAt).toBeNull()
    expect(await countEnds()).toBe(1)
    await bodyOf(client.sandbox.advance({ body: { minutes: 30 } }))
    expect(await countEnds()).toBe(2)
    expect((await bodyOf(client.policies.get({ params }))).expiredAt).not.toBeNull()
  })

  test('applies again without an end', async () => {
    const { client, countEnds, change } = await anAgentWithEndedPolicy()
    expect(await change({})).toMatchObject({ expiresAt: null, expiredAt: null })
    await bodyOf(client.sandbox.advance({ body: { days: 1 } }))
    expect(await countEnds()).toBe(1)
  })

  test('stays ended if its new end has passed too, or if another rule is changed', async () => {
    const { client, id, params, countEnds, change } = await anAgentWithEndedPolicy()
    const { expiredAt } = await bodyOf(client.policies.get({ params }))
    expect((await change({ expiresAfterMinutes: 30 })).expiredAt).toBe(expiredAt)
    const body = { field: 'requireIntent', value: true } as const
    await bodyOf(client.policies.toggle({ params: { agentId: id }, body }))
    expect((await bodyOf(client.policies.get({ params }))).expiredAt).toBe(expiredAt)
    await bodyOf(client.sandbox.advance({ body: { minutes: 1 } }))
    expect(await countEnds()).toBe(1)
  })

  test('does not end a second time when its template is applied', async () => {
    const { client, params, countEnds } = await anAgentWithEndedPolicy()
    const templateId = String((await bodyOf(client.policies.get({ params }))).templateId)
    await bodyOf(client.policies.apply({ params: { id: templateId } }))
    await bodyOf(client.sandbox.advance({ body: { minutes: 1 } }))
    expect(await countEnds()).toBe(1)
  })
})

describe('deleting a policy', () => {
  test('removes a template, and leaves its copies and versions', async () => {
    const { client } = await service.owner()
    const template = await aPolicy(client, { dailyLimitEuros: 10 })
    const agent = await anAgent(client, { policyId: template.id })
    const params = { id: template.id }
    const answer = await client.policies.delete({ params })
    expect(answer).toMatchObject({ status: 204, body: undefined })
    expect((await traceOf(service, answer))?.events).toEqual(['policy.deleted'])
    const refused = [
      await client.policies.get({ params }),
      await client.policies.replace({ params, body: { name: 'Ghost' } }),
      await client.policies.apply({ params }),
      await client.policies.delete({ params }),
    ]
    for (const answer of refused) expect(answer).toMatchObject({ status: 404, code: 'policy_not_found' })
    expect(await effectivePolicyOf(client, agent.id)).toMatchObject({
      dailyLimitEuros: 10,
      templateId: template.id,
    })
    expect(await versionsOf(client, template.id)).toHaveLength(1)
    expect((await client.policies.list({ query: { kind: 'template' } })).body.data).toEqual([])
  })

  test('is refused for an agent’s own policy', async () => {
    const { client } = await service.owner()
    const agent = await anAgent(client, { policyId: (await aPolicy(client)).id })
    const answer = await client.policies.delete({ params: { id: String(agent.policyId) } })
    expect(answer).toMatchObject({ status: 400, code: 'policy_assigned' })
  })
})
