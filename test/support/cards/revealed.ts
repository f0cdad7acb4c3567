import { tokenScopes } from '../../../src/kernel/contract/scopes.ts'
import { anIntent, aToken, bodyOf, type TestClient } from '../factories.ts'
import { http } from '../harness.ts'
import { aKeyPair } from './encryption-keys.ts'
import { jwkOf, opened, register } from './reveal.ts'
import type { WatchedInstallation } from './watched-installation.ts'

interface Subject {
  readonly agentId: string
  readonly cardId: string
}

const SHOP = 'shop.example.com'

/** Reveals a card in every way, to an owner's key and to a filler's, and returns what the recipients read. */
export async function revealedByEachWay(watched: WatchedInstallation, subject: Subject): Promise<object[]> {
  const { client, clientWith } = watched
  const pair = await aKeyPair()
  const { id: fillerKeyId } = await register(client, pair)
  const scopes = [...tokenScopes.given, 'cards:reveal' as const]
  const { token } = await aToken(client, subject.agentId, { scopes })
  const agent = clientWith(String(token))
  const answers: { readonly jwe?: string | null }[] = [
    await accessed(client, subject, { publicKeyJwk: jwkOf(pair) }),
    await accessed(agent, subject, { fillerKeyId }),
    await checkedOut(agent, subject, { fillerKeyId }),
    await redeemed(agent, subject, { fillerKeyId }),
    await tokenFor(agent, subject, { fillerKeyId }),
  ]
  await refused(watched, agent, subject)
  return Promise.all(answers.map(({ jwe }) => opened(jwe, pair)))
}

const intentFor = (client: TestClient, { agentId }: Subject) =>
  anIntent(client, agentId, { merchant: SHOP, amountEuros: 1 })

async function accessed(client: TestClient, subject: Subject, reader: object) {
  const { id: intentId } = await intentFor(client, subject)
  const body = { intentId, purpose: 'Fill the form', ...reader }
  return bodyOf(client.accessEvents.access({ params: { id: subject.cardId }, body }))
}

async function checkedOut(agent: TestClient, subject: Subject, reader: object) {
  const { cardId } = subject
  const { id: intentId } = await intentFor(agent, subject)
  const session = { intentId, cardId, merchantUrl: `https://${SHOP}/checkout` }
  const { token } = await bodyOf(agent.checkout.createSession({ body: session }))
  return bodyOf(agent.checkout.credential({ body: { token: String(token), ...reader } }))
}

async function redeemed(agent: TestClient, subject: Subject, reader: object) {
  const { cardId } = subject
  const { id: intentId } = await intentFor(agent, subject)
  const { id } = await bodyOf(agent.credentials.create({ body: { intentId, cardId, ttlSeconds: 60 } }))
  return bodyOf(agent.credentials.redeem({ params: { id }, body: reader }))
}

const tokenFor = (agent: TestClient, { cardId }: Subject, reader: object) =>
  bodyOf(
    agent.agentCredentials.create({
      body: { cardId, merchantScope: [SHOP], amountLimitEuros: 5, ttlSeconds: 3_600, ...reader },
    }),
  )

/** Requests that must be denied: an agent's with an unregistered key, and one with the private half of a key. */
async function refused(
  { client, installation, key }: WatchedInstallation,
  agent: TestClient,
  subject: Subject,
): Promise<void> {
  const pair = await aKeyPair()
  const { id: intentId } = await intentFor(client, subject)
  const own = await agent.accessEvents.access({
    params: { id: subject.cardId },
    body: { intentId, purpose: 'Read it', publicKeyJwk: jwkOf(pair) },
  })
  const privateKey = { ...pair.key.jwk, d: 'c2VjcmV0LXByaXZhdGUtaGFsZi1vZi1hLWtleQ' }
  const body = { intentId, purpose: 'Read it', publicKeyJwk: privateKey }
  const path = `/cards/${subject.cardId}/access`
  const other = await http(installation.api.url, 'POST', path, { token: key, body })
  if (own.status < 400 || other.status !== 400) throw new Error(`granted: ${own.status} ${other.status}`)
}
