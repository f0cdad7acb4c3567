import { expect } from '@jest/globals'
import { clientAt } from '../client.ts'
import { anAgentUnder, anIntent, bodyOf, type TestClient } from '../factories.ts'
import type { TestService } from '../harness.ts'

type Rules = Parameters<typeof anAgentUnder>[1]

interface CounterRow {
  period: string
  reserved: string
  spent: string
  uses: number
  waiting: number
}

export function limitsIn(service: TestService, secondUrl: string) {
  /** An agent under these rules, with clients of two processes. No approval is needed unless a rule requires it. */
  async function anOwnerWithAgent(rules: Rules) {
    const owner = await service.owner()
    const agent = await anAgentUnder(owner.client, { autoApproveLimitEuros: 100_000, ...rules })
    const clients = [owner.client, clientAt({ url: secondUrl, token: owner.key })] as const
    let shops = 0
    const declare = (amountEuros: number, members = {}, by: TestClient = owner.client) =>
      anIntent(by, agent.id, { amountEuros, merchant: `Shop ${++shops}`, ...members })
    return { ...owner, agent, id: agent.id, declare, anyClient: (n: number) => clients[n % 2] as TestClient }
  }

  const countersOf = (agentId: string) =>
    service.sql<CounterRow>(
      `select split_part(period, ':', 1) as period, reserved_cents as reserved, spent_cents as spent, uses,
      reserved_uses as waiting from counters where subject = $1 order by period, counters.period`,
      [agentId],
    )

  /** Checks that each period's counters match the ledger. */
  async function expectLedgerMatch(client: TestClient, agentId: string) {
    const { heldEuros } = await bodyOf(client.agents.balance({ params: { id: agentId } }))
    const counters = await countersOf(agentId)
    for (const period of ['all', 'day', 'month']) {
      const rows = counters.filter(row => row.period === period)
      const reservedCents = rows.reduce((sum, { reserved }) => sum + Number(reserved), 0)
      expect(reservedCents / 100).toBeCloseTo(heldEuros, 2)
    }
  }

  return { anOwnerWithAgent, countersOf, expectLedgerMatch }
}
