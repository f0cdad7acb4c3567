import { describe, expect, test } from '@jest/globals'
import { mandatesIn } from '../../support/control/mandates.ts'
import { aFundedAgent, aKey, aToken, bodyOf } from '../../support/factories.ts'
import { startTestService } from '../../support/harness.ts'

const service = await startTestService({ own: true })
const { anOwnerWithAgent, aMandate } = mandatesIn(service, service.url)

describe('mandates are read', () => {
  test('by their status and agent, newest first', async () => {
    const owner = await anOwnerWithAgent()
    const { client } = owner
    const [first, second] = [
      await aMandate(owner, { totalEuros: 1 }),
      await aMandate(owner, { totalEuros: 2 }),
    ]
    const other = await aFundedAgent(client)
    const third = await aMandate({ ...owner, id: other.id }, { totalEuros: 3 })
    await bodyOf(client.mandates.suspend({ params: first, body: {} }))
    const idsOf = async (query: object) =>
      (await bodyOf(client.mandates.list({ query }))).data.map(({ id }) => id)
    expect(await idsOf({})).toEqual([third.id, second.id, first.id])
    expect(await idsOf({ agentId: owner.id })).toEqual([second.id, first.id])
    expect(await idsOf({ status: 'suspended' })).toEqual([first.id])
  })

  test('by the token of their agent, which changes none', async () => {
    const owner = await anOwnerWithAgent()
    const other = await aFundedAgent(owner.client)
    const [own, foreign] = [
      await aMandate(owner, { totalEuros: 1 }),
      await aMandate({ ...owner, id: other.id }, { totalEuros: 2 }),
    ]
    const { token } = await aToken(owner.client, owner.id)
    const agent = service.client(String(token))
    expect((await bodyOf(agent.mandates.list({}))).data).toEqual([own])
    expect((await agent.mandates.get({ params: foreign })).status).toBe(404)
    expect((await agent.mandates.suspend({ params: own, body: {} })).status).toBe(403)
    const { key } = await aKey(owner.client, { scopes: ['mandates:read'] })
    const reader = service.client(String(key))
    expect((await bodyOf(reader.mandates.list({}))).data).toHaveLength(2)
    expect((await reader.mandates.revoke({ params: own, body: {} })).status).toBe(403)
  })
})
