import { compactDecrypt, decodeProtectedHeader } from 'jose'
import { sandboxCardById } from '../../../src/adapters/card-processor/sandbox-numbers.ts'
import type { Scope } from '../../../src/kernel/contract/scopes.ts'
import { tokenScopes } from '../../../src/kernel/contract/scopes.ts'
import type { CardProcessor } from '../../../src/ports/card-processor.ts'
import { anAgentUnder, anIntent, aToken, bodyOf, type TestClient } from '../factories.ts'
import { ENCRYPTION_KEY, type TestService } from '../harness.ts'
import { aCard } from './cards.ts'
import { aKeyPair, type KeyPair } from './encryption-keys.ts'
import { sandboxWith, secretsOf } from './sandbox.ts'

export async function aCardOf(
  { sql }: Pick<TestService, 'sql'>,
  client: TestClient,
  agentId: string,
  members: Parameters<typeof aCard>[1] = {},
) {
  const { id } = await aCard(client, { ...members, agentId })
  const [number] = await sql<{ name: string }>(
    'select processor_card_id as name from card_numbers where card_id = $1',
    [id],
  )
  return { id, processorCardId: String(number?.name) }
}

/** The card data that the sandbox derives, which only the holder of the key may see. */
export function cardDataOf(processorCardId: string) {
  const card = sandboxCardById(secretsOf(ENCRYPTION_KEY).numbers, processorCardId)
  if (!card) throw new Error('the sandbox has no such card')
  return card.data
}

export async function opened(jwe: string | null | undefined, { privateKey }: KeyPair) {
  const { plaintext } = await compactDecrypt(String(jwe), privateKey)
  return JSON.parse(Buffer.from(plaintext).toString())
}

export const headerOf = (jwe: string | null | undefined) => decodeProtectedHeader(String(jwe))

export const jwkOf = ({ key }: KeyPair) => key.jwk as { kty: string }

export const register = (client: TestClient, pair: KeyPair) =>
  bodyOf(client.fillerKeys.create({ body: { label: 'Filler', publicKeyJwk: jwkOf(pair) } }))

export async function anAgentClient(
  service: TestService,
  client: TestClient,
  agentId: string,
  scopes: Scope[] = [...tokenScopes.given, 'cards:reveal'],
): Promise<TestClient> {
  const { token } = await aToken(client, agentId, { scopes })
  return service.client(String(token))
}

export const aSpender = (client: TestClient, rules: object = {}) =>
  anAgentUnder(client, { autoApproveLimitEuros: 1_000, ...rules })

/** An agent with money, an active card, an approved intent, and a filler key registered by its owner. */
export async function aShopper(service: TestService, merchant = 'shop.example.com') {
  const owner = await service.owner()
  const { client } = owner
  const agent = await aSpender(client)
  const [card, intent, pair] = await Promise.all([
    aCardOf(service, client, agent.id),
    anIntent(client, agent.id, { merchant }),
    aKeyPair(),
  ])
  const [filler, agentClient] = await Promise.all([
    register(client, pair),
    anAgentClient(service, client, agent.id),
  ])
  return { owner, client, agent, card, intent, pair, filler, agentClient }
}

export type Shopper = Awaited<ReturnType<typeof aShopper>>

export const processorWith = (answers: Partial<CardProcessor>) => ({
  cardProcessor: () => ({ ...sandboxWith(ENCRYPTION_KEY), ...answers }),
})

export const issueCredential = (client: TestClient, intentId: string, members: object = {}) =>
  client.credentials.create({ body: { intentId, ttlSeconds: 60, ...members } })

export async function lastAsk(client: TestClient) {
  const { data } = await bodyOf(client.accessEvents.list({ query: {} }))
  return data[0]
}
