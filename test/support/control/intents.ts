import { aFundedAgent, anAgentUnder, aToken, bodyOf, type TestClient } from '../factories.ts'
import type { TestService } from '../harness.ts'

export const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/
export type Rules = Parameters<typeof anAgentUnder>[1]
export const intentOf = (client: TestClient, id: string) => bodyOf(client.intents.get({ params: { id } }))

export function intentsIn(service: TestService) {
  async function anOwnerWithAgent(rules?: Rules) {
    const owner = await service.owner()
    const agent = await (rules ? anAgentUnder(owner.client, rules) : aFundedAgent(owner.client))
    return { ...owner, agent, params: { agentId: agent.id } }
  }

  /** Sets the owner's clock offset without carrying out what falls due on the way. */
  const setClock = (ownerId: string, offset: number) =>
    service.sql(`insert into tenant_clocks values ($1, 'test', $2)`, [ownerId, offset])

  const eventsOf = (intentId: string) =>
    service.sql<{ event: string; data: object; agent_id: string }>(
      `select event, data, agent_id from events where data ->> 'intentId' = $1 order by id`,
      [intentId],
    )

  const asAgent = async (client: TestClient, agentId: string): Promise<TestClient> =>
    service.client(String((await aToken(client, agentId)).token))

  return { anOwnerWithAgent, setClock, eventsOf, asAgent }
}
