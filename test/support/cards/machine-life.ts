import { openMppPrivateKey, openMppSecret } from '../../../src/commerce/mpp-keys/mpp-key.ts'
import { unsealSigningKey } from '../../../src/identity/signing-keys/signing-key.ts'
import { openVault } from '../../../src/ports/vault.ts'
import { challengeOf, credentialFor, present } from '../commerce/machine-payer.ts'
import { openedPayment } from '../commerce/merchant.ts'
import { demand, openMerchant, sell } from '../commerce/merchant-server.ts'
import { anIntent, aToken, aWallet, bodyOf, type TestClient } from '../factories.ts'
import { SECRETS } from '../processes/processes.ts'
import { withConnection } from '../rows.ts'
import { until } from '../until.ts'
import type { MachineSecret } from './card-data-search.ts'
import type { WatchedInstallation } from './watched-installation.ts'

/** A number that the sandbox accepts, with its cryptogram. */
const TEST_TOKEN = '5555555555554444'

interface Payer {
  readonly agentId: string
  readonly cardId: string
}

/**
 * An agent pays a merchant and a request, another program pays a request, and a merchant stays silent:
 * secrets that only payer and merchant may see.
 */
export async function machineLife(
  watched: WatchedInstallation,
  payer: Payer,
): Promise<readonly MachineSecret[]> {
  const { client, clientWith, installation } = watched
  const { token } = await aToken(client, payer.agentId)
  const agent = clientWith(String(token))
  const merchant = await openMerchant()
  const sold = merchant.sells('/report', demand(), sell({ report: 42 }))
  const broken = merchant.sells('/broken', demand(), (_, response) => response.writeHead(500).end('no'))
  const wallet = await aWallet(client)
  const urlOf = async () => {
    const { id } = await bodyOf(client.collect.create({ body: { ...REQUEST, walletId: wallet.id } }))
    return `${installation.api.url}/collect/402/${id}`
  }
  await pay(agent, payer, sold, 200)
  await pay(agent, payer, broken, 502)
  await pay(agent, payer, await urlOf(), 200)
  const foreign = await paidByAnother(await urlOf())
  await until(
    'the machine payments have runs',
    async () => (await bodyOf(client.mpp.list({ query: {} }))).data.length === 3,
  )
  const visits = [...merchant.payments('/report'), ...merchant.payments('/broken')]
  const seen = await Promise.all(visits.map(seenBy))
  await merchant.close()
  return [...seen.flat(), ...foreign, ...(await keysOf(watched)), ...(await signingKeysOf(watched))]
}

const REQUEST = { amountEuros: 3, description: 'A report', expiresInHours: 24, unlocks: { report: 17 } }

async function pay(
  agent: TestClient,
  { agentId, cardId }: Payer,
  url: string,
  status: number,
): Promise<void> {
  const { id: intentId } = await anIntent(agent, agentId, {
    merchant: '127.0.0.1',
    amountEuros: 20,
    purpose: url,
  })
  const answer = await agent.mpp.pay({ body: { url, intentId, cardId } })
  if (answer.status !== status) throw new Error(`${url}: ${answer.status} ${answer.error}`)
}

async function seenBy(visit: Parameters<typeof openedPayment>[0]): Promise<MachineSecret[]> {
  const { payload, token } = await openedPayment(visit)
  const { token: plain, dynamicData } = token as {
    token: { paymentToken: string }
    dynamicData: { dynamicDataValue: string }
  }
  return [
    { about: 'a credential', text: String(visit.headers.authorization).replace('Payment ', '') },
    { about: 'an encrypted token', text: payload.encryptedPayload },
    { about: 'the number of a payment', text: plain.paymentToken },
    { about: 'the cryptogram of a payment', text: dynamicData.dynamicDataValue },
  ]
}

/** Another owner's program pays a request: declined once, then paid and repeated. */
async function paidByAnother(url: string): Promise<MachineSecret[]> {
  const secrets: MachineSecret[] = []
  for (const [number, status] of [
    ['4000000000000002', 402],
    [TEST_TOKEN, 200],
  ] as const) {
    const network = number === TEST_TOKEN ? 'mastercard' : 'visa'
    const value = credentialFor(await challengeOf(url), { number, network })
    for (const _ of [1, 2]) {
      const answer = await present(url, value)
      if (answer.status !== status) throw new Error(`${answer.status}: ${answer.text}`)
    }
    secrets.push({ about: 'a credential of another', text: value.replace('Payment ', '') })
    secrets.push({ about: 'the number of another', text: number })
  }
  return secrets
}

async function signingKeysOf({ databaseUrl }: WatchedInstallation): Promise<MachineSecret[]> {
  const { rows } = await withConnection(databaseUrl, db =>
    db.query<{ kid: string; key: string }>(
      'select kid, private_key as key from signing_keys where private_key is not null',
    ),
  )
  const vault = openVault(SECRETS.ENCRYPTION_KEY)
  return rows.map(({ kid, key }) => ({ about: 'a signing key', text: unsealSigningKey(vault, kid, key) }))
}

/** The secret of our challenges and our private key, which exist only in the database, sealed. */
async function keysOf({ databaseUrl }: WatchedInstallation): Promise<MachineSecret[]> {
  const { rows } = await withConnection(databaseUrl, db =>
    db.query<{ kid: string; secret: string; key: string }>(
      'select kid, secret, private_key as key from mpp_keys where secret is not null',
    ),
  )
  if (rows.length === 0) throw new Error('no challenge was offered')
  const vault = openVault(SECRETS.ENCRYPTION_KEY)
  return rows.flatMap(({ kid, secret, key }) => {
    const { d, p, q } = openMppPrivateKey(vault, kid, key)
    const parts = [d, p, q].map(text => ({ about: 'a private key', text: String(text) }))
    return [{ about: 'a challenge secret', text: openMppSecret(vault, kid, secret) }, ...parts]
  })
}
