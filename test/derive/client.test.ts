import { describe, expect, test } from '@jest/globals'
import { anAgent, aPolicy } from '../support/factories.ts'
import { startTestService } from '../support/harness.ts'

const service = await startTestService()
const { client } = await service.owner()

describe('the client', () => {
  test('gives what was made, with its status', async () => {
    const { status, body, error, code } = await client.policies.create({
      body: { name: 'A', dailyLimitEuros: 1.5 },
    })
    expect({ status, error, code }).toEqual({ status: 201, error: undefined, code: undefined })
    expect(body).toMatchObject({ name: 'A', dailyLimitEuros: 1.5 })
  })

  test('gives a refusal as an error with its code', async () => {
    const { status, error, code } = await client.agents.get({ params: { id: 'agent_of_nobody' } })
    expect({ status, error, code }).toEqual({ status: 404, error: 'No such agent.', code: 'agent_not_found' })
  })

  test('gives nothing where there is nothing', async () => {
    const { id } = await aPolicy(client)
    expect(await client.policies.delete({ params: { id } })).toMatchObject({ status: 204, body: undefined })
  })

  test('gives a text that is not JSON as it is', async () => {
    expect((await client.pages.docs()).body).toMatch(/^<!doctype html>/i)
  })

  test('leaves out what is not given, and asks for what is', async () => {
    await anAgent(client, { externalId: 'A & B/ü?' })
    const found = await client.agents.list({ query: { externalId: 'A & B/ü?', status: undefined } as object })
    expect(found.body.data.length).toBe(1)
  })

  test('keeps an address together, whatever stands in an id', async () => {
    for (const id of ['../customers/me', 'a/b', '?a=1', '#', ' ', 'ü'])
      expect((await client.agents.get({ params: { id } })).status).toBe(404)
  })

  test.each(['', '.', '..'])('does not ask for what would be another address: %j', async id => {
    await expect(client.agents.freeze({ params: { id }, body: {} })).rejects.toThrow(/names nothing/)
  })

  test('sends headers and an idempotency key', async () => {
    const create = () =>
      client.agents.create({ body: { name: 'A' }, idempotencyKey: 'a', headers: { 'x-request-id': 'mine' } })
    expect((await create()).headers.get('x-request-id')).toBe('mine')
    expect((await create()).headers.get('idempotent-replayed')).toBe('true')
  })

  test('without a credential is a stranger', async () => {
    expect((await service.client().agents.list()).status).toBe(401)
    expect((await service.client().health.health()).status).toBe(200)
  })
})
