import { areas } from '../../../src/areas.ts'
import { client } from '../../../src/derive/client.ts'
import { anAgentUnder, anIntent, bodyOf, type TestClient } from '../factories.ts'
import type { TestService } from '../harness.ts'

export type Config = NonNullable<NonNullable<Parameters<TestClient['risk']['configure']>[0]>['body']>

export interface Happened {
  event: string
  data: Record<string, unknown>
}

export const only = (signal: string, points: number): Config => ({
  weights: {
    velocity: 0,
    amountOutlier: 0,
    impossibleTravel: 0,
    newMerchant: 0,
    oddHour: 0,
    [signal]: points,
  },
})

/** What the tests of risk ask of their service. */
export function riskIn(service: TestService, elsewhere: string) {
  /** An agent that nobody is asked about, unless it is for its risk, seen by two processes. */
  async function someone(config: Config = {}) {
    const owner = await service.owner()
    await bodyOf(owner.client.risk.configure({ body: config }))
    const agent = await anAgentUnder(owner.client, { autoApproveLimitEuros: 100_000 })
    const clients = [owner.client, client(areas, { url: elsewhere, token: owner.key })] as const
    let cents = 1_000
    const declare = (members: Parameters<typeof anIntent>[2] = {}) =>
      anIntent(owner.client, agent.id, { amountEuros: cents++ / 100, ...members })
    const params = { id: agent.id }
    const stands = async () => bodyOf(owner.client.agents.get({ params }))
    const any = (n: number) => clients[n % 2] as TestClient
    return { ...owner, agent, id: agent.id, params, declare, stands, any }
  }

  const happened = async (agentId: string): Promise<Happened[]> =>
    service.sql<Happened & object>(
      `select event, data from events where agent_id = $1
     and (event like 'risk.%' or event in ('agent.frozen', 'agent.unfrozen')) order by id`,
      [agentId],
    )
  const namesOf = async (agentId: string): Promise<string[]> =>
    (await happened(agentId)).map(({ event }) => event).toSorted()

  return { someone, happened, namesOf }
}
