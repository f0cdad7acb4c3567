import type { anAgent } from '../factories.ts'
import { aFundedAgent, bodyOf, type TestClient } from '../factories.ts'

type Create = TestClient['cardRequests']['create']
type Body = Parameters<Create>[0]['body']

export const request = (client: TestClient, agentId: string, members: Partial<Body> = {}) =>
  client.cardRequests.create({
    body: { type: 'new_card', agentId, reason: 'Papers for the review', ...members },
  })

export const aCardRequest = (client: TestClient, agentId: string, members: Partial<Body> = {}) =>
  bodyOf(request(client, agentId, members))

export type CardRequest = Awaited<ReturnType<typeof aCardRequest>>

export async function aCardWith(
  client: TestClient,
  limits: { maxTransactionEuros?: number; dailyLimitEuros?: number; monthlyLimitEuros?: number },
  agent?: Awaited<ReturnType<typeof anAgent>>,
) {
  const { id: agentId } = agent ?? (await aFundedAgent(client))
  return bodyOf(client.cards.create({ body: { agentId, usage: 'multi', limits } }))
}

export const getRequest = (client: TestClient, id: string) =>
  bodyOf(client.cardRequests.get({ params: { id } }))

export const getCard = (client: TestClient, id: string) => bodyOf(client.cards.get({ params: { id } }))

/** Without a run, the sweep does what is due, a minute later. */
export const minuteLater = (client: TestClient) => bodyOf(client.sandbox.advance({ body: { minutes: 1 } }))

/** The sweep requests the card from the processor a minute after its request was carried out. */
export async function untilIssued(client: TestClient): Promise<void> {
  await minuteLater(client)
  await minuteLater(client)
}

export async function toldAbout(client: TestClient, requestId: string) {
  const { data } = await bodyOf(
    client.events.list({ query: { event: 'card_limit_request.updated', limit: 100 } }),
  )
  type Data = { requestId: string; status: string; cardId: string | null; [member: string]: unknown }
  return data
    .map(({ data }) => data as Data)
    .filter(data => data.requestId === requestId)
    .reverse()
}
