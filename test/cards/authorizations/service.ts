import { networkBefore } from '../../support/cards/network.ts'
import { bodyOf, type TestClient } from '../../support/factories.ts'
import { startTestService } from '../../support/harness.ts'

export const service = await startTestService()
export const network = networkBefore(service)
export const { client, ownerId } = await service.owner()

export const balanceOf = async (agentId: string, by: TestClient = client): Promise<[number, number]> => {
  const { availableEuros, heldEuros } = await bodyOf(by.agents.balance({ params: { id: agentId } }))
  return [availableEuros, heldEuros]
}

export const paymentsOf = async (cardId: string, by: TestClient = client) =>
  (await bodyOf(by.authorizations.list({ params: { id: cardId }, query: {} }))).data

export const intentOf = (id: string, by: TestClient = client) => bodyOf(by.intents.get({ params: { id } }))

export const transactionsOf = async (cardId: string, by: TestClient = client) =>
  (await bodyOf(by.transactions.list({ query: { cardId } }))).data

export const owed = async (by: TestClient = client): Promise<number> =>
  (await bodyOf(by.billing.balance())).owedEuros

export const eventsOf = (ownerId: string, pattern: string) =>
  service.sql<{ event: string; data: Record<string, unknown> }>(
    'select event, data from events where owner_id = $1 and event like $2 order by id',
    [ownerId, pattern],
  )

/** Reserved and spent cents, and uses, since the beginning. */
export const usesOf = (subjects: readonly string[]) =>
  service.sql<{ reserved: number; spent: number; open: number; made: number }>(
    `select reserved_cents::int as reserved, spent_cents::int as spent, reserved_uses as open, uses as made
     from counters where subject = any($1) and period = 'all' order by array_position($1, subject)`,
    [subjects],
  )
