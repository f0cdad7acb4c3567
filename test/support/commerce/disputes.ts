import { aCardholder, authorized } from '../cards/simulated.ts'
import { bodyOf, type TestClient } from '../factories.ts'
import type { TestService } from '../harness.ts'

type DisputeBody = Parameters<TestClient['disputes']['create']>[0]['body']

/** An owner whose agent has paid by card, with the payment captured. */
export async function aPaidCard(service: TestService, euros: number, funded = 300) {
  const holder = await aCardholder(service, funded)
  return { ...holder, ...(await paid(holder.client, holder.card.id, euros)) }
}

export async function paid(client: TestClient, cardId: string, amountEuros: number) {
  const { authorizationId } = await authorized(client, cardId, amountEuros)
  await bodyOf(client.sandbox.clearCard({ body: { authorizationId } }))
  const { data } = await bodyOf(client.transactions.list({ query: { cardId, limit: 1 } }))
  return { authorizationId, transactionId: String(data[0]?.id) }
}

export const disputed = (transactionId: string, more: Partial<DisputeBody> = {}): DisputeBody => ({
  transactionId,
  reason: 'not_received',
  description: 'Ordered on 2 November, never delivered.',
  ...more,
})

export const dispute = (client: TestClient, transactionId: string, more: Partial<DisputeBody> = {}) =>
  client.disputes.create({ body: disputed(transactionId, more) })

export const aDispute = (client: TestClient, transactionId: string, more: Partial<DisputeBody> = {}) =>
  bodyOf(dispute(client, transactionId, more))

export const getDispute = (client: TestClient, id: string) => bodyOf(client.disputes.get({ params: { id } }))

type Says = 'credited' | 'won' | 'lost'

export const networkSays = (client: TestClient, disputeId: string, says: Says, more: object = {}) =>
  bodyOf(client.sandbox.disputeCard({ body: { disputeId, says, ...more } }))

export const daysLater = (client: TestClient, days: number) =>
  bodyOf(client.sandbox.advance({ body: { days } }))

/** The ledger balance of an account, on either normal side. */
export async function ledgerBalance(client: TestClient, kind: string): Promise<number> {
  const { data } = await bodyOf(client.ledger.accounts({ query: { limit: 100 } }))
  const account = data.find(one => one.kind === kind)
  return Math.abs(account?.postedEuros ?? 0)
}
