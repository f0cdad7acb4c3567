import { aSpender } from '../cards/reveal.ts'
import { aWallet, bodyOf, type TestClient } from '../factories.ts'
import type { TestService } from '../harness.ts'

type Members = Partial<Parameters<TestClient['paymentTokens']['create']>[0]['body']>

export function paymentTokensIn(service: TestService) {
  /** A payer with an agent, and the owner of the payee's wallet: another one, unless `isOwn`. */
  async function parties({ isOwn = false, rules }: { isOwn?: boolean; rules?: object } = {}) {
    const payer = await service.owner()
    const payee = isOwn ? payer : await service.owner()
    const agent = await (rules ? anAgentOf(payer.client, rules) : aSpender(payer.client))
    const wallet = await aWallet(payee.client, 0, { name: 'Secret plans' })
    const { name } = await bodyOf(payee.client.customers.me())
    const make = (members: Members = {}, client = payer.client) =>
      client.paymentTokens.create({
        body: { agentId: agent.id, amountEuros: 5, recipientWalletId: wallet.id, ...members },
      })
    const charge = (
      paymentToken: string | null,
      amountEuros = 5,
      { client = payee.client, agentId = agent.id, ...more }: ChargeOptions = {},
    ) =>
      client.paymentTokens.charge({
        params: { id: agentId },
        body: { paymentToken: String(paymentToken), amountEuros },
        ...more,
      })
    return { payer, payee, agent, wallet, name, make, charge }
  }

  return { parties }
}

interface ChargeOptions {
  readonly client?: TestClient
  readonly agentId?: string
  readonly idempotencyKey?: string
}

export type Parties = Awaited<ReturnType<ReturnType<typeof paymentTokensIn>['parties']>>

async function anAgentOf(client: TestClient, rules: object) {
  const policy = await bodyOf(client.policies.create({ body: { name: 'Rules', ...rules } }))
  const agent = await bodyOf(client.agents.create({ body: { name: 'Reader', policyId: policy.id } }))
  await bodyOf(client.fund.wallet({ params: { id: agent.walletId }, body: { amountEuros: 10_000 } }))
  return agent
}

export const tokenOf = (client: TestClient, id: string) =>
  bodyOf(client.paymentTokens.get({ params: { id } }))

export async function tokenEvents(client: TestClient, paymentTokenId: string): Promise<string[]> {
  const { data } = await bodyOf(client.events.list({ query: { limit: 100 } }))
  return data
    .filter(one => one.event.startsWith('claim.') && one.data.paymentTokenId === paymentTokenId)
    .map(({ event }) => event.replace('claim.payment_token.', ''))
    .reverse()
}
