import { aFundedAgent, bodyOf, type TestClient } from '../factories.ts'
import { advance } from '../sandbox.ts'

type NewCard = NonNullable<Parameters<TestClient['cards']['create']>[0]>['body']

/** A card of this agent, or of a new one with money. */
export async function aCard(client: TestClient, members: Partial<NewCard> = {}) {
  const agentId = members.agentId ?? (await aFundedAgent(client)).id
  return bodyOf(
    client.cards.create({ body: { usage: 'multi', displayName: 'Research', ...members, agentId } }),
  )
}

export const getCard = (client: TestClient, id: string) => bodyOf(client.cards.get({ params: { id } }))

/** Carries out what is due for the owner's cards, by the time that passes on the owner's clock. */
export const passTime = (client: TestClient, by: { seconds?: number; minutes?: number; days?: number }) =>
  advance(client, by)
