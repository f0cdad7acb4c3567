import { aCardOf, anAgentClient, aSpender } from '../cards/reveal.ts'
import { anIntent, bodyOf, type TestClient } from '../factories.ts'
import type { TestService } from '../harness.ts'

/** The default price of the tests' merchants. */
export const PRICE_EUROS = 20

/** An agent with money, a card, and an approved intent for the merchant on the loopback. */
export async function aPayer(
  service: TestService,
  { rules, ...members }: { merchant?: string; amountEuros?: number; rules?: object } = {},
) {
  const owner = await service.owner()
  const { client } = owner
  const agent = await aSpender(client, rules)
  const [card, intent] = await Promise.all([
    aCardOf(service, client, agent.id),
    anIntent(client, agent.id, { merchant: '127.0.0.1', amountEuros: PRICE_EUROS, ...members }),
  ])
  const agentClient = await anAgentClient(service, client, agent.id)
  return { owner, client, agent, card, intent, agentClient }
}

export type Payer = Awaited<ReturnType<typeof aPayer>>

type PayBody = NonNullable<Parameters<TestClient['mpp']['pay']>[0]>['body']

export const pay = (
  { agentClient, intent }: Payer,
  url: string,
  members: Partial<PayBody> = {},
  more: object = {},
) => agentClient.mpp.pay({ body: { url, intentId: intent.id, ...members }, ...more })

export const credentialsOn = async (client: TestClient, intentId: string) =>
  (await bodyOf(client.mpp.list({ query: { intentId } }))).data

export const intentOf = ({ client, intent }: Payer) =>
  bodyOf(client.intents.get({ params: { id: intent.id } }))

export const balanceOf = ({ client, agent }: Payer) =>
  bodyOf(client.agents.balance({ params: { id: agent.id } }))
