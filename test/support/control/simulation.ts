import { anAgentUnder, anIntent, aPolicy, bodyOf } from '../factories.ts'
import type { TestService } from '../harness.ts'

export type Rules = Parameters<typeof anAgentUnder>[1]
export const EVER = { from: '2026-01-01T00:00:00.000Z', to: '2100-01-01T00:00:00.000Z' }

/** What the tests of questions that change nothing ask of their service. */
export function whatIfIn(service: TestService) {
  /** An agent under these rules, of an owner of its own; nobody is asked unless a rule says so. */
  async function someone(rules: Rules = {}) {
    const owner = await service.owner()
    const { client } = owner
    const agent = await anAgentUnder(client, { autoApproveLimitEuros: 1_000, ...rules })
    let shops = 0
    const declare = (amountEuros: number, members = {}) =>
      anIntent(client, agent.id, { amountEuros, merchant: `shop${++shops}.example.com`, ...members })
    const approve = (id: string) => bodyOf(client.intents.approve({ params: { id } }))
    const under = async (other: Rules, body: object = {}) => {
      const { id } = await aPolicy(client, { autoApproveLimitEuros: 1_000, ...other })
      return bodyOf(client.policies.backtest({ params: { id }, body: { ...EVER, ...body } }))
    }
    return { ...owner, agent, id: agent.id, declare, approve, under }
  }

  return { someone }
}
