import { anAgentUnder, anIntent, aPolicy, bodyOf } from '../factories.ts'
import type { TestService } from '../harness.ts'

export type Rules = Parameters<typeof anAgentUnder>[1]
/** A span that covers every decision of a test. */
export const ALL_TIME = { from: '2026-01-01T00:00:00.000Z', to: '2100-01-01T00:00:00.000Z' }

export function simulationFixtures(service: TestService) {
  /** An agent under these rules, of its own owner. No approval is needed unless a rule requires it. */
  async function anAgentUnderRules(rules: Rules = {}) {
    const owner = await service.owner()
    const { client } = owner
    const agent = await anAgentUnder(client, { autoApproveLimitEuros: 1_000, ...rules })
    let shops = 0
    const declare = (amountEuros: number, members = {}) =>
      anIntent(client, agent.id, { amountEuros, merchant: `shop${++shops}.example.com`, ...members })
    const approve = (id: string) => bodyOf(client.intents.approve({ params: { id } }))
    const backtestUnder = async (other: Rules, body: object = {}) => {
      const { id } = await aPolicy(client, { autoApproveLimitEuros: 1_000, ...other })
      return bodyOf(client.policies.backtest({ params: { id }, body: { ...ALL_TIME, ...body } }))
    }
    return { ...owner, agent, id: agent.id, declare, approve, backtestUnder }
  }

  return { anAgentUnderRules }
}
