import { bodyOf, type TestClient } from '../factories.ts'

type Create = TestClient['collect']['create']
type Body = Parameters<Create>[0]['body']
type Sent = Parameters<TestClient['incoming']['simulate']>[0]['body']

export const aRequest = (client: TestClient, walletId: string, members: Partial<Body> = {}) =>
  bodyOf(
    client.collect.create({
      body: { walletId, amountEuros: 25, description: 'Report 17', expiresInHours: 24, ...members },
    }),
  )

export type PaymentRequest = Awaited<ReturnType<typeof aRequest>>

export const getRequest = (client: TestClient, id: string) => bodyOf(client.collect.get({ params: { id } }))

export const sendEuros = (
  client: TestClient,
  amountEuros: number,
  reference: string | null,
  members: Partial<Sent> = {},
) =>
  bodyOf(
    client.incoming.simulate({
      body: {
        iban: 'DE89 3704 0044 0532 0130 00',
        senderName: 'Adler GmbH',
        senderIban: 'DE02 1203 0000 0000 2020 51',
        amountEuros,
        reference,
        ...members,
      },
    }),
  )

export async function paymentsOn(client: TestClient, id: string) {
  const { data } = await bodyOf(client.collect.payments({ params: { id }, query: { limit: 100 } }))
  return data.reverse()
}

export async function eventsAbout(client: TestClient, requestId: string) {
  const { data } = await bodyOf(client.events.list({ query: { limit: 100 } }))
  return data
    .filter(({ event, data }) => event.startsWith('claim.') && data.requestId === requestId)
    .map(({ event, data }): { event: string; [member: string]: unknown } => ({
      event: event.replace('claim.request.', ''),
      ...data,
    }))
    .reverse()
}

export async function balanceOf(client: TestClient, walletId: string) {
  const { availableEuros, heldEuros } = await bodyOf(client.wallets.get({ params: { id: walletId } }))
  return [availableEuros, heldEuros]
}
