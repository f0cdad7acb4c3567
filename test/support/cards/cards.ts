import { aFundedAgent, bodyOf, type TestClient } from '../factories.ts'
import type { TestService } from '../harness.ts'

type NewCard = NonNullable<Parameters<TestClient['cards']['create']>[0]>['body']

export async function aCard(client: TestClient, members: Partial<NewCard> = {}) {
  const agentId = members.agentId ?? (await aFundedAgent(client)).id
  return bodyOf(
    client.cards.create({ body: { usage: 'multi', displayName: 'Research', ...members, agentId } }),
  )
}

export const getCard = (client: TestClient, id: string) => bodyOf(client.cards.get({ params: { id } }))

export async function eventsOfCard({ sql }: Pick<TestService, 'sql'>, cardId: string): Promise<string[]> {
  const rows = await sql<{ event: string }>(
    `select event from events where data ->> 'cardId' = $1 order by id`,
    [cardId],
  )
  return rows.map(({ event }) => event)
}

export const numbersOf = ({ sql }: Pick<TestService, 'sql'>, cardId: string) =>
  sql<{ id: string; status: string; processor_card_id: string; processor_state: string; last4: string }>(
    'select id, status, processor_card_id, processor_state, last4 from card_numbers where card_id = $1 order by id',
    [cardId],
  )
