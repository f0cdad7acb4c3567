import { expect } from '@jest/globals'
import { aFundedAgent, aPolicy, aToken, bodyOf, type TestClient } from '../factories.ts'
import type { TestService } from '../harness.ts'
import type { Launched } from '../processes/launched.ts'

/**
 * The owner of an agent with money, a card and a token, whose payments above two euros need approval; and its
 * merchant.
 */
export async function aBuyer(service: Pick<TestService, 'owner' | 'url'>) {
  const { client } = await service.owner()
  const { id: policyId } = await aPolicy(client, { autoApproveLimitEuros: 2 })
  const agent = await aFundedAgent(client, { policyId })
  await bodyOf(client.cards.create({ body: { agentId: agent.id, usage: 'multi' } }))
  const { token } = await aToken(client, agent.id)
  const env = { AGENTPAY_URL: service.url, AGENTPAY_KEY: String(token) }
  return { client, agent, env, shop: `${service.url}/simulate/mpp/paid` }
}

/** Approves the intent of an example's agent, and checks that it has paid and reported. */
export async function expectToPayAndReport(client: TestClient, example: Launched): Promise<void> {
  const [, id = ''] = await example.untilOutput(/declared: (\w+) is created/)
  await bodyOf(client.intents.approve({ params: { id }, body: {} }))
  expect([await example.exit, example.output()]).toEqual([
    0,
    expect.stringMatching(/paid: \w+, and reported: \w+/),
  ])
  const { data } = await bodyOf(client.outcomes.list({ query: { intentId: id } }))
  expect(data).toMatchObject([{ intentId: id, success: true }])
}
