import { describe, expect, test } from '@jest/globals'
import { anAgent, bodyOf } from '../../support/factories.ts'
import { startTestService } from '../../support/harness.ts'
import { traceOf, transactionCount } from '../../support/trace.ts'

const service = await startTestService()

describe('updating an agent', () => {
  test('changes the given members and leaves the others', async () => {
    const { client } = await service.owner()
    const before = await anAgent(client, { description: 'Buys papers.', metadata: { team: 'research' } })
    const params = { id: before.id }
    const answer = await client.agents.update({ params, body: { name: 'Librarian', description: null } })
    expect(answer).toMatchObject({
      status: 200,
      body: { ...before, name: 'Librarian', description: null, updatedAt: expect.any(String) },
    })
    expect(answer.body.updatedAt >= before.updatedAt).toBe(true)
    expect((await client.agents.get({ params })).body).toEqual(answer.body)
    expect((await traceOf(service, answer))?.events).toEqual(['agent.updated'])
    expect(await transactionCount(service, answer, 'agents', before.id)).toBe(1)
  })
})

describe('freezing an agent', () => {
  test('stores the reason until the agent is unfrozen', async () => {
    const { client } = await service.owner()
    const params = { id: (await anAgent(client)).id }
    const frozen = await client.agents.freeze({ params, body: { reason: 'Unusual spending' } })
    expect(frozen.body).toMatchObject({ status: 'frozen', frozenReason: 'Unusual spending' })
    expect((await traceOf(service, frozen))?.events).toEqual(['agent.frozen'])
    const active = await client.agents.unfreeze({ params })
    expect(active.body).toMatchObject({ status: 'active', frozenReason: null })
    expect((await traceOf(service, active))?.events).toEqual(['agent.unfrozen'])
  })

  test.each([
    ['letters', 'r'.repeat(1_000), `${'r'.repeat(199)}…`],
    ['pictures', `r${'🚀'.repeat(400)}`, `r${'🚀'.repeat(99)}…`],
    ['pictures that would be cut in half', '🚀'.repeat(400), `${'🚀'.repeat(99)}…`],
  ])('emits at most 200 characters of a reason of %s', async (_, reason, excerpt) => {
    const { client } = await service.owner()
    const params = { id: (await anAgent(client)).id }
    await bodyOf(client.agents.freeze({ params, body: { reason } }))
    const [event] = (await client.events.list()).body.data
    expect(event?.data).toEqual({ agentId: params.id, status: 'frozen', reason: excerpt })
  })

  test('is refused for a frozen agent, as unfreezing is for an active one', async () => {
    const { client } = await service.owner()
    const params = { id: (await anAgent(client)).id }
    expect(await client.agents.unfreeze({ params })).toMatchObject({ status: 400, code: 'agent_not_frozen' })
    await bodyOf(client.agents.freeze({ params }))
    expect(await client.agents.freeze({ params })).toMatchObject({ status: 400, code: 'agent_not_active' })
  })

  test('succeeds for one of five requests at once', async () => {
    const { client } = await service.owner()
    const params = { id: (await anAgent(client)).id }
    const answers = await Promise.all(Array.from({ length: 5 }, () => client.agents.freeze({ params })))
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 400, 400, 400, 400])
    expect((await bodyOf(client.events.list({ query: { event: 'agent.frozen' } }))).data).toHaveLength(1)
  })
})
