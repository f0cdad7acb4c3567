import { describe, expect, test } from '@jest/globals'
import {
  aDeletedAgent,
  anAgent,
  anAgentUnder,
  anIntent,
  aPolicy,
  aToken,
  bodyOf,
  type TestClient,
} from '../support/factories.ts'
import { startTestService } from '../support/harness.ts'
import { traceOf, transactionCount } from '../support/trace.ts'
import { until } from '../support/until.ts'

/** Without relay and worker a deletion stays pending, until the test moves the clock and the sweep finishes it. */
const service = await startTestService({ own: true })

const idsOf = async (client: TestClient, query = {}): Promise<string[]> =>
  (await bodyOf(client.agents.list({ query }))).data.map(({ id }) => id)

const finishDeletion = (client: TestClient) => bodyOf(client.sandbox.advance({ body: { minutes: 1 } }))

async function anAgentInDeletion(client: TestClient): ReturnType<typeof anAgent> {
  const { id } = await anAgent(client)
  return bodyOf(client.agents.delete({ params: { id } }))
}

const eventsOf = async (agentId: string): Promise<string[]> =>
  (
    await service.sql<{ event: string }>('select event from events where agent_id = $1 order by id', [
      agentId,
    ])
  ).map(({ event }) => event)

describe('deleting an agent', () => {
  test('begins in one transaction with its event and the start of its process', async () => {
    const { client, ownerId } = await service.owner()
    const agent = await anAgent(client)
    const params = { id: agent.id }
    const answer = await client.agents.delete({ params })
    expect(answer).toMatchObject({
      status: 200,
      body: { ...agent, status: 'deleting', updatedAt: expect.any(String) },
    })
    expect(await traceOf(service, answer)).toEqual({
      events: ['agent.deleting'],
      actions: ['agents.delete'],
      entries: 1,
    })
    expect(await transactionCount(service, answer, 'agents', agent.id)).toBe(1)
    expect((await client.agents.get({ params })).body).toEqual(answer.body)
    const workflow_id = `agent/${agent.id}`
    const input = { id: agent.id, agentId: agent.id, ownerId, mode: 'test' }
    expect(
      await service.sql('select workflow_id, recurs, input from outbox where owner_id = $1', [ownerId]),
    ).toEqual([{ workflow_id, recurs: true, input }])
  })

  test('leaves the agent in the list until it is deleted', async () => {
    const { client } = await service.owner()
    const { id } = await anAgentInDeletion(client)
    expect(await idsOf(client)).toEqual([id])
    expect(await idsOf(client, { status: 'deleting' })).toEqual([id])
    await finishDeletion(client)
    expect(await idsOf(client)).toEqual([])
    expect(await idsOf(client, { status: 'deleted' })).toEqual([id])
  })

  test('is possible while the agent is frozen', async () => {
    const { client } = await service.owner()
    const params = { id: (await anAgent(client)).id }
    await bodyOf(client.agents.freeze({ params }))
    expect((await bodyOf(client.agents.delete({ params }))).status).toBe('deleting')
    await finishDeletion(client)
    expect((await bodyOf(client.agents.get({ params }))).status).toBe('deleted')
  })

  test('is begun by one of five requests at once', async () => {
    const { client } = await service.owner()
    const params = { id: (await anAgent(client)).id }
    const answers = await Promise.all(Array.from({ length: 5 }, () => client.agents.delete({ params })))
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 400, 400, 400, 400])
    expect(await eventsOf(params.id)).toEqual(['agent.created', 'agent.deleting'])
  })

  test('revokes the tokens of the agent', async () => {
    const { client } = await service.owner()
    const { id } = await anAgent(client)
    const tokenClient = service.client(String((await aToken(client, id)).token))
    await bodyOf(client.agents.delete({ params: { id } }))
    expect((await tokenClient.agents.list()).status).toBe(401)
    await until('and so is one that was known', async () => (await tokenClient.intents.list()).status === 401)
    expect(await eventsOf(id)).toEqual(['agent.created', 'token.created', 'agent.deleting', 'token.revoked'])
  })
})

describe.each([
  ['being deleted', anAgentInDeletion],
  ['deleted', aDeletedAgent],
])('an agent that is %s', (_, make) => {
  test('is refused every change', async () => {
    const { client } = await service.owner()
    const template = await aPolicy(client)
    const agent = await make(client)
    const params = { id: agent.id }
    const refused = [
      await client.agents.freeze({ params }),
      await client.agents.unfreeze({ params }),
      await client.agents.update({ params, body: { name: 'Ghost' } }),
      await client.agentTokens.create({ params, body: { label: 'Late' } }),
      await client.policies.assign({ params: { agentId: agent.id }, body: { policyId: template.id } }),
      await client.policies.toggle({
        params: { agentId: agent.id },
        body: { field: 'requireIntent', value: true },
      }),
    ]
    for (const answer of refused) {
      expect(answer).toMatchObject({ status: 404, code: 'agent_not_found' })
      expect(answer.error).toBe('No such agent, or it is deleted or being deleted.')
    }
    const body = { agentId: agent.id, amountEuros: 1, merchant: 'M', purpose: 'P' }
    expect((await client.intents.create({ body })).code).toMatch(/^agent_not_(active|found)$/)
    const again = await client.agents.delete({ params })
    expect(again).toMatchObject({ status: 400, code: 'agent_deleted' })
    expect(again.error).toBe('The agent is already deleted or being deleted.')
    expect(await bodyOf(client.agents.get({ params }))).toEqual(agent)
  })

  test('has no policy that expires or can be changed', async () => {
    const { client } = await service.owner()
    const { id, policyId } = await anAgentUnder(client, { expiresAfterMinutes: 60 })
    await bodyOf(client.agents.delete({ params: { id } }))
    if (make === aDeletedAgent) await finishDeletion(client)
    const params = { id: String(policyId) }
    expect((await client.policies.replace({ params, body: { name: 'New' } })).code).toBe('policy_not_found')
    expect((await client.policies.effective({ params: { agentId: id } })).code).toBe('no_policy_assigned')
    await bodyOf(client.sandbox.advance({ body: { days: 1 } }))
    expect(await eventsOf(id)).not.toContain('policy.expired')
  })
})

describe('the open intents of an agent that is deleted', () => {
  test('are cancelled, and no others', async () => {
    const { client } = await service.owner()
    const { id } = await anAgentUnder(client, { autoApproveLimitEuros: 10 })
    const other = await anIntent(client, (await anAgent(client)).id)
    const waiting = await anIntent(client, id)
    const second = await anIntent(client, id)
    const denied = await anIntent(client, id)
    await bodyOf(client.intents.deny({ params: { id: denied.id }, body: { reason: 'No' } }))
    await bodyOf(client.agents.delete({ params: { id } }))
    await finishDeletion(client)
    const get = (of: { id: string }) => bodyOf(client.intents.get({ params: { id: of.id } }))
    for (const intent of [waiting, second])
      expect(await get(intent)).toMatchObject({
        status: 'cancelled',
        comment: 'The agent is being deleted.',
      })
    expect([(await get(denied)).status, (await get(other)).status]).toEqual(['denied', 'created'])
    expect((await eventsOf(id)).slice(-3)).toEqual([...Array(2).fill('intent.cancelled'), 'agent.deleted'])
    const [event] = (await bodyOf(client.events.list({ query: { event: 'intent.cancelled' } }))).data
    expect(event?.data).toMatchObject({ status: 'cancelled', reason: 'The agent is being deleted.' })
    const [entry] = (await bodyOf(client.audit.list({ query: { resource: id } }))).data
    expect(entry).toMatchObject({
      actorType: 'process',
      action: 'agents.finishDeletion',
      event: 'agent.deleted',
    })
  })

  test('prevent the deletion if money is held for them, and the refusal says so', async () => {
    const { client } = await service.owner()
    const { id } = await anAgentUnder(client, { autoApproveLimitEuros: 10 })
    const params = { id: (await anIntent(client, id, { amountEuros: 5 })).id }
    const refused = await client.agents.delete({ params: { id } })
    expect([refused.status, refused.code]).toEqual([400, 'money_held'])
    expect((await bodyOf(client.agents.get({ params: { id } }))).status).toBe('active')
    await bodyOf(client.intents.cancel({ params }))
    expect((await bodyOf(client.agents.delete({ params: { id } }))).status).toBe('deleting')
  })

  test('cannot be approved during the deletion', async () => {
    const { client } = await service.owner()
    const { id } = await anAgent(client)
    const params = { id: (await anIntent(client, id)).id }
    await bodyOf(client.agents.delete({ params: { id } }))
    expect((await client.intents.approve({ params })).code).toBe('agent_not_active')
  })

  test('are all cancelled, however many are declared at that moment', async () => {
    const { client, ownerId } = await service.owner()
    const { id } = await anAgent(client)
    const body = { agentId: id, amountEuros: 1, merchant: 'M', purpose: 'P' }
    const declared = Array.from({ length: 30 }, () => client.intents.create({ body }))
    await bodyOf(client.agents.delete({ params: { id } }))
    await finishDeletion(client)
    await Promise.all(declared)
    expect(
      await service.sql(`select id from intents where owner_id = $1 and status <> 'cancelled'`, [ownerId]),
    ).toEqual([])
  })
})
