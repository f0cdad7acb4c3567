import { expect } from '@jest/globals'
import { areas } from '../../../src/areas.ts'
import { client } from '../../../src/derive/client.ts'
import { anAgentUnder, anIntent, bodyOf, type TestClient } from '../factories.ts'
import type { TestService } from '../harness.ts'

type Rules = Parameters<typeof anAgentUnder>[1]

interface Counted {
  period: string
  reserved: string
  spent: string
  uses: number
  waiting: number
}

/** What the tests of limits ask of their service. */
export function limitsIn(service: TestService, elsewhere: string) {
  /** An agent under these rules, seen by two processes; nobody is asked unless a rule says so. */
  async function someone(rules: Rules) {
    const owner = await service.owner()
    const agent = await anAgentUnder(owner.client, { autoApproveLimitEuros: 100_000, ...rules })
    const clients = [owner.client, client(areas, { url: elsewhere, token: owner.key })] as const
    let shops = 0
    const declare = (amountEuros: number, members = {}, by: TestClient = owner.client) =>
      anIntent(by, agent.id, { amountEuros, merchant: `Shop ${++shops}`, ...members })
    return { ...owner, agent, id: agent.id, declare, any: (n: number) => clients[n % 2] as TestClient }
  }

  const countersOf = (agentId: string) =>
    service.sql<Counted>(
      `select split_part(period, ':', 1) as period, reserved_cents as reserved, spent_cents as spent, uses,
      reserved_uses as waiting from counters where subject = $1 order by period, counters.period`,
      [agentId],
    )

  /** What is reserved in all is what the ledger holds; and it is so of each period's sum too. */
  async function expectToMatch(client: TestClient, agentId: string) {
    const { heldEuros } = await bodyOf(client.agents.balance({ params: { id: agentId } }))
    const counted = await countersOf(agentId)
    for (const period of ['all', 'day', 'month']) {
      const of = counted.filter(one => one.period === period)
      expect(of.reduce((sum, { reserved }) => sum + Number(reserved), 0) / 100).toBeCloseTo(heldEuros, 2)
    }
  }

  return { someone, countersOf, expectToMatch }
}
