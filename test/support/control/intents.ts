import { aFundedAgent, anAgentUnder, aToken, bodyOf, type TestClient } from '../factories.ts'
import type { TestService } from '../harness.ts'

export const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/
export type Rules = Parameters<typeof anAgentUnder>[1]
export const intentOf = (client: TestClient, id: string) => bodyOf(client.intents.get({ params: { id } }))

/** What the tests of intents ask of their service. */
export function intentsIn(service: TestService) {
  /** An owner with one agent; under a policy, where there are rules. */
  async function anOwner(rules?: Rules) {
    const owner = await service.owner()
    const agent = await (rules ? anAgentUnder(owner.client, rules) : aFundedAgent(owner.client))
    return { ...owner, agent, params: { agentId: agent.id } }
  }

  /** The clock of the owner stands so far ahead, and nothing that fell due on the way has happened yet. */
  const setClock = (ownerId: string, offset: number) =>
    service.sql(`insert into tenant_clocks values ($1, 'test', $2)`, [ownerId, offset])

  /** The events of a record, the oldest first, with all that they say. */
  const eventsOf = (intentId: string) =>
    service.sql<{ event: string; data: object; agent_id: string }>(
      `select event, data, agent_id from events where data ->> 'intentId' = $1 order by id`,
      [intentId],
    )

  const asAgent = async (client: TestClient, agentId: string): Promise<TestClient> =>
    service.client(String((await aToken(client, agentId)).token))

  return { anOwner, setClock, eventsOf, asAgent }
}
