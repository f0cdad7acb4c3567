import { describe, expect, test } from '@jest/globals'
import { anAgent, aPolicy, asCsv } from '../support/factories.ts'
import { startTestService } from '../support/harness.ts'

const service = await startTestService()
const { client } = await service.owner()

describe('the client', () => {
  test('returns the created record with its status', async () => {
    const { status, body, error, code } = await client.policies.create({
      body: { name: 'A', dailyLimitEuros: 1.5 },
    })
    expect({ status, error, code }).toEqual({ status: 201, error: undefined, code: undefined })
    expect(body).toMatchObject({ name: 'A', dailyLimitEuros: 1.5 })
  })

  test('returns a refusal as an error with its code', async () => {
    const { status, error, code } = await client.agents.get({ params: { id: 'agent_of_nobody' } })
    expect({ status, error, code }).toEqual({ status: 404, error: 'No such agent.', code: 'agent_not_found' })
  })

  test('returns no body for an empty answer', async () => {
    const { id } = await aPolicy(client)
    expect(await client.policies.delete({ params: { id } })).toMatchObject({ status: 204, body: undefined })
  })

  test('returns a text that is not JSON unchanged', async () => {
    expect((await client.analytics.costs(asCsv)).body).toMatch(/^from,agentId,/)
  })

  test('omits undefined query members and encodes the others', async () => {
    await anAgent(client, { externalId: 'A & B/ü?' })
    const agents = await client.agents.list({
      query: { externalId: 'A & B/ü?', status: undefined } as object,
    })
    expect(agents.body.data.length).toBe(1)
  })

  test('encodes ids, so that no id leads to another address', async () => {
    for (const id of ['../customers/me', 'a/b', '?a=1', '#', ' ', 'ü'])
      expect((await client.agents.get({ params: { id } })).status).toBe(404)
  })

  test.each(['', '.', '..'])('refuses an id that would lead to another address: %j', async id => {
    await expect(client.agents.freeze({ params: { id }, body: {} })).rejects.toThrow(/names nothing/)
  })

  test('sends headers and an idempotency key', async () => {
    const create = () =>
      client.agents.create({ body: { name: 'A' }, idempotencyKey: 'a', headers: { 'x-request-id': 'mine' } })
    expect((await create()).headers.get('x-request-id')).toBe('mine')
    expect((await create()).headers.get('idempotent-replayed')).toBe('true')
  })

  test('without a credential gets 401', async () => {
    expect((await service.client().agents.list()).status).toBe(401)
    expect((await service.client().health.health()).status).toBe(200)
  })
})
