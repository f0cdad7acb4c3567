import { bodyOf, type TestClient } from '../factories.ts'
import type { TestService } from '../harness.ts'
import { aPayingCard } from './network.ts'

export const shop = { merchant: 'SQ *BOOKSHOP 1234 BERLIN', mcc: '5942', country: 'DE' }

export async function aCardholder(service: TestService, euros = 100, options: object = {}) {
  const owner = await service.owner()
  const { agent, card } = await aPayingCard(owner.client, euros, options)
  return { ...owner, agent, card }
}

export const authorize = (client: TestClient, cardId: string, amountEuros: number, more: object = {}) =>
  bodyOf(client.sandbox.authorizeCard({ body: { ...shop, cardId, amountEuros, ...more } }))

export async function authorized(client: TestClient, cardId: string, amountEuros: number) {
  const answer = await authorize(client, cardId, amountEuros)
  if (answer.reply !== 'approved') throw new Error(String(answer.reason))
  return { authorizationId: String(answer.authorizationId) }
}

export const balanceOf = async (client: TestClient, id: string) => {
  const { availableEuros, heldEuros } = await bodyOf(client.agents.balance({ params: { id } }))
  return [availableEuros, heldEuros]
}
