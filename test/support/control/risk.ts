import { clientAt } from '../client.ts'
import { anAgentUnder, anIntent, bodyOf, type TestClient } from '../factories.ts'
import type { TestService } from '../harness.ts'

export type Config = NonNullable<NonNullable<Parameters<TestClient['risk']['configure']>[0]>['body']>

export interface RiskEventRow {
  event: string
  data: Record<string, unknown>
}

/** Settings under which only one signal scores. */
export const onlySignal = (signal: string, points: number): Config => ({
  weights: {
    velocity: 0,
    amountOutlier: 0,
    impossibleTravel: 0,
    newMerchant: 0,
    oddHour: 0,
    [signal]: points,
  },
})

export function riskFixtures(service: TestService, elsewhere: string) {
  /** An agent whose spends need approval only for their risk, with a client of each process. */
  async function anAssessedAgent(config: Config = {}) {
    const owner = await service.owner()
    await bodyOf(owner.client.risk.configure({ body: config }))
    const agent = await anAgentUnder(owner.client, { autoApproveLimitEuros: 100_000 })
    const clients = [owner.client, clientAt({ url: elsewhere, token: owner.key })] as const
    let cents = 1_000
    const declare = (members: Parameters<typeof anIntent>[2] = {}) =>
      anIntent(owner.client, agent.id, { amountEuros: cents++ / 100, ...members })
    const params = { id: agent.id }
    const readAgent = async () => bodyOf(owner.client.agents.get({ params }))
    const clientOf = (n: number) => clients[n % 2] as TestClient
    return { ...owner, agent, id: agent.id, params, declare, readAgent, clientOf }
  }

  const riskEventsOf = async (agentId: string): Promise<RiskEventRow[]> =>
    service.sql<RiskEventRow & object>(
      `select event, data from events where agent_id = $1
     and (event like 'risk.%' or event in ('agent.frozen', 'agent.unfrozen')) order by id`,
      [agentId],
    )
  const eventNamesOf = async (agentId: string): Promise<string[]> =>
    (await riskEventsOf(agentId)).map(({ event }) => event).toSorted()

  return { anAssessedAgent, riskEventsOf, eventNamesOf }
}
