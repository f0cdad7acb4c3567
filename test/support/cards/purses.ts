import { aFundedAgent, bodyOf, type TestClient } from '../factories.ts'

export async function aPurse(client: TestClient) {
  const { id: agentId } = await aFundedAgent(client)
  const { id: cardId } = await bodyOf(client.cards.create({ body: { agentId, usage: 'multi' } }))
  const { walletId } = await bodyOf(client.cards.fund({ params: { id: cardId }, body: { amountEuros: 10 } }))
  return { agentId, cardId, walletId: String(walletId) }
}
