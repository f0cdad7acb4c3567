import type { CardData, NetworkTokenData } from '../../../src/adapters/card-processor/encrypt.ts'
import { sandboxCardById, sandboxTokenById } from '../../../src/adapters/card-processor/sandbox-numbers.ts'
import { aWebhook, bodyOf, type TestClient } from '../factories.ts'
import { http } from '../harness.ts'
import { SECRETS } from '../processes/processes.ts'
import { queryValues } from '../rows.ts'
import { until } from '../until.ts'
import type { MachineSecret } from './card-data-search.ts'
import { machineLife } from './machine-life.ts'
import { aPayingCard } from './network.ts'
import { revealedByEachWay } from './revealed.ts'
import { secretsOf } from './sandbox.ts'
import { authorize, shop } from './simulated.ts'
import type { WatchedInstallation } from './watched-installation.ts'

/** The card data of a run: the sandbox derives it again from the ids in the database. */
export interface CardLife {
  readonly cards: readonly CardData[]
  readonly tokens: readonly NetworkTokenData[]
  readonly read: readonly object[]
  readonly machine: readonly MachineSecret[]
}

const EVENTS = [
  'card.created',
  'card.activated',
  'card.closed',
  'transaction.created',
  'transaction.declined',
]

export async function cardLife(watched: WatchedInstallation): Promise<CardLife> {
  const { client, receiver } = watched
  await aWebhook(client, { url: `${receiver.url}/hooks`, events: EVENTS })
  const { agent, card } = await aPayingCard(client, 200)
  await pay(client, card.id)
  const subject = { agentId: agent.id, cardId: card.id }
  const read = await revealedByEachWay(watched, subject)
  const machine = await machineLife(watched, subject)
  await rotate(client, card.id)
  await pay(client, card.id)
  const second = await aLateCard(client, agent.id)
  const { cards } = await dataOf(watched)
  await sendNumbers(watched, cards)
  for (const id of [card.id, second]) await bodyOf(client.cards.close({ params: { id }, body: {} }))
  await http(watched.installation.api.url, 'GET', '/metrics', {
    headers: { 'x-dashboard-secret': SECRETS.DASHBOARD_SECRET },
  })
  await until('the webhooks', () => receiver.at('/hooks').length >= EVENTS.length)
  return { ...(await dataOf(watched)), read, machine }
}

async function pay(client: TestClient, cardId: string): Promise<void> {
  const { authorizationId } = await authorize(client, cardId, 20)
  await bodyOf(client.sandbox.clearCard({ body: { authorizationId: String(authorizationId) } }))
  await authorize(client, cardId, 10_000)
}

/** A card whose processor first gave an unreadable answer. */
async function aLateCard(client: TestClient, agentId: string): Promise<string> {
  const body = { agentId, usage: 'single' as const, displayName: 'Sandbox garbled' }
  const { id } = await bodyOf(client.cards.create({ body }))
  await bodyOf(client.sandbox.advance({ body: { minutes: 2 } }))
  await until('the card is issued', async () => (await cardIn(client, id)).last4 !== null)
  return id
}

const cardIn = (client: TestClient, id: string) => bodyOf(client.cards.get({ params: { id } }))

async function rotate(client: TestClient, id: string): Promise<void> {
  const { last4 } = await bodyOf(client.cards.rotate({ params: { id }, body: {} }))
  await until('the card has another number', async () => (await cardIn(client, id)).last4 !== last4)
}

async function sendNumbers(
  { installation, key }: WatchedInstallation,
  cards: readonly CardData[],
): Promise<void> {
  const { url } = installation.api
  for (const { number } of cards) {
    const headers = { 'x-request-id': number }
    const post = (path: string, body: object) => http(url, 'POST', path, { token: key, body, headers })
    await post('/cards', { agentId: 'agent_1', usage: 'multi', displayName: `My card ${number}` })
    await post('/simulate/card/authorize', { ...shop, cardId: number, amountEuros: 1 })
    await post('/checkout/credential', { token: number, fillerKeyId: number })
    await post('/agents', { name: 'Reader' })
    await http(url, 'GET', `/cards/${number}`, { token: key, headers })
  }
}

async function dataOf({ databaseUrl }: WatchedInstallation): Promise<Pick<CardLife, 'cards' | 'tokens'>> {
  const { numbers } = secretsOf(SECRETS.ENCRYPTION_KEY)
  const cardIds = await queryValues(databaseUrl, 'select processor_card_id from card_numbers')
  const cards = cardIds.flatMap(id => sandboxCardById(numbers, String(id))?.data ?? [])
  const tokenIds = await queryValues(databaseUrl, 'select token_id from agent_credentials')
  const tokens = tokenIds.flatMap(id => sandboxTokenById(numbers, String(id)) ?? [])
  if (cards.length < cardIds.length || tokens.length < tokenIds.length)
    throw new Error('the sandbox does not know what the database has')
  const { expMonth, expYear } = cards[0] ?? { expMonth: 0, expYear: 0 }
  return { cards, tokens: tokens.map(token => ({ ...token, expMonth, expYear })) }
}
