import type { CardData, TokenData } from '../../../src/adapters/card-processor/encrypt.ts'
import { cardOf } from '../../../src/adapters/card-processor/sandbox-numbers.ts'
import { aWebhook, bodyOf, type TestClient } from '../factories.ts'
import { http } from '../harness.ts'
import { SECRETS } from '../processes/processes.ts'
import { queryValues } from '../rows.ts'
import { until } from '../until.ts'
import { aPayingCard } from './network.ts'
import { secretsOf } from './sandbox.ts'
import { authorize, shop } from './simulated.ts'
import type { WatchedInstallation } from './watched-installation.ts'

/** The card data of a run: the sandbox derives it again from the ids in the database. */
export interface CardLife {
  readonly cards: readonly CardData[]
  readonly tokens: readonly TokenData[]
  /** What recipients have opened. */
  readonly read: readonly CardData[]
}

const EVENTS = [
  'card.created',
  'card.activated',
  'card.closed',
  'transaction.created',
  'transaction.declined',
]

/** Cards from their issue to their end, with every way to pay by them and to reveal them. */
export async function cardLife(watched: WatchedInstallation): Promise<CardLife> {
  const { client, receiver } = watched
  await aWebhook(client, { url: `${receiver.url}/hooks`, events: EVENTS })
  const { card } = await aPayingCard(client, 100)
  await pay(client, card.id)
  await rotate(client, card.id)
  await pay(client, card.id)
  const second = await bodyOf(
    client.cards.create({ body: { agentId: card.agentId, usage: 'single', displayName: 'Sandbox garbled' } }),
  )
  await bodyOf(client.sandbox.advance({ body: { minutes: 2 } }))
  const [{ cards }, read] = [await dataOf(watched), []]
  await sendNumbers(watched, cards)
  for (const { id } of [card, second]) await bodyOf(client.cards.close({ params: { id } }))
  await until('the webhooks', () => receiver.at('/hooks').length >= EVENTS.length)
  return { ...(await dataOf(watched)), read }
}

async function pay(client: TestClient, cardId: string): Promise<void> {
  const { authorizationId } = await authorize(client, cardId, 20)
  await bodyOf(client.sandbox.clearCard({ body: { authorizationId: String(authorizationId) } }))
  await authorize(client, cardId, 10_000)
}

async function rotate(client: TestClient, id: string): Promise<void> {
  const { last4 } = await bodyOf(client.cards.rotate({ params: { id }, body: {} }))
  await until('the card has another number', async () => {
    const card = await bodyOf(client.cards.get({ params: { id } }))
    return card.last4 !== last4
  })
}

/** Sends each number where it must be refused: in bodies, and in paths and headers, which nobody logs. */
async function sendNumbers(
  { installation, key }: WatchedInstallation,
  cards: readonly CardData[],
): Promise<void> {
  const { url } = installation.api
  for (const { number } of cards) {
    const body = { agentId: 'agent_1', usage: 'multi', displayName: `My card ${number}` }
    const headers = { 'x-request-id': number }
    await http(url, 'POST', '/cards', { token: key, body, headers })
    await http(url, 'POST', '/agents', { token: key, body: { name: 'Reader' }, headers })
    await http(url, 'POST', '/simulate/card/authorize', {
      token: key,
      body: { ...shop, cardId: number, amountEuros: 1 },
    })
    await http(url, 'GET', `/cards/${number}`, { token: key, headers })
  }
}

async function dataOf({ databaseUrl }: WatchedInstallation): Promise<Pick<CardLife, 'cards' | 'tokens'>> {
  const { numbers } = secretsOf(SECRETS.ENCRYPTION_KEY)
  const ids = await queryValues(databaseUrl, 'select processor_card_id from card_numbers')
  const cards = ids.flatMap(id => cardOf(numbers, String(id))?.data ?? [])
  if (cards.length < ids.length) throw new Error('the sandbox does not know a card of the database')
  return { cards, tokens: [] }
}
