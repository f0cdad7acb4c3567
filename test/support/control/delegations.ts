import { aDelegation, anAgentUnder, bodyOf, redeemDelegation, type TestClient } from '../factories.ts'
import type { TestService } from '../harness.ts'

export const codeOf = ({ code }: { code: string | null }) => ({ body: { code: String(code) } })

export const statusesOf = async (client: TestClient, ids: readonly string[]) =>
  Promise.all(ids.map(async id => (await bodyOf(client.delegations.get({ params: { id } }))).status))

/** Declares an intent for each amount concurrently, each for another merchant. */
export const declareAll = (by: TestClient, agentId: string, amounts: readonly number[], members = {}) =>
  Promise.all(
    amounts.map((amountEuros, n) =>
      by.intents.create({
        body: { agentId, amountEuros, merchant: `Shop ${n}`, purpose: 'A paper', ...members },
      }),
    ),
  )

export const declareOne = async (by: TestClient, agentId: string, amountEuros: number, merchant: string) =>
  bodyOf(by.intents.create({ body: { agentId, amountEuros, merchant, purpose: 'A paper' } }))

export function delegationsIn(service: TestService) {
  async function anOwnerWithAgent() {
    const owner = await service.owner()
    const agent = await anAgentUnder(owner.client, { autoApproveLimitEuros: 50 })
    return { ...owner, agent }
  }

  const anyone = service.client()

  async function aDelegate(
    client: TestClient,
    agentId: string,
    members: Parameters<typeof aDelegation>[2] = {},
  ) {
    const { id, token } = await redeemDelegation(anyone, await aDelegation(client, agentId, members))
    return { id, params: { id }, token: String(token), tokenClient: service.client(String(token)) }
  }

  return { anOwnerWithAgent, anyone, aDelegate }
}
