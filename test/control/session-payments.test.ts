import { beforeAll, describe, expect, test } from '@jest/globals'
import { serializeChallenge } from '../../src/mpp/index.ts'
import { days } from '../../src/values/clock.ts'
import { aKeyPair } from '../support/cards/encryption-keys.ts'
import { aCardOf, aSpender, jwkOf, register } from '../support/cards/reveal.ts'
import { aChallenge } from '../support/commerce/challenges.ts'
import { demand, sell, startMerchant } from '../support/commerce/merchant.ts'
import { signatureOver } from '../support/control/approvals.ts'
import { anIntent, aToken, aWallet, bodyOf, type TestClient } from '../support/factories.ts'
import { startTestService } from '../support/harness.ts'
import { peopleInConsole } from '../support/identity/in-console.ts'
import { signed } from '../support/identity/people.ts'
import { expectVerifiedLedger } from '../support/verified-ledger.ts'

const merchant = await startMerchant()
const AMOUNT = 5
const soldAt = merchant.sells('/report', demand({ amount: String(AMOUNT * 100) }), sell({ report: 42 }))
const service = await startTestService({ env: { OUTBOUND_ALLOW_CIDRS: '127.0.0.1' } })
const CHALLENGE = serializeChallenge(aChallenge({ amount: String(AMOUNT * 100) }))
const SHOP = 'shop.example.com'

/** An owner whose policy approves 1,000 euros at once, and who is signed in to the console with a passkey. */
async function anOffice(rules: Parameters<typeof aSpender>[1] = {}) {
  const owner = await service.owner()
  const { client } = owner
  const agent = await aSpender(client, rules)
  const [person] = await peopleInConsole(service, owner, ['owner'])
  if (!person) throw new Error('there is no person')
  const [card, payee, pair] = await Promise.all([
    aCardOf(service, client, agent.id),
    aWallet(client, 0, { name: 'Shop' }),
    aKeyPair(),
  ])
  const filler = await register(client, pair)
  const { token } = await aToken(client, agent.id, { scopes: ['payer'] })
  const ofAgent = service.client(String(token))
  return { ...owner, agent, person, session: person.client, card, payee, pair, filler, ofAgent }
}

type Office = Awaited<ReturnType<typeof anOffice>>

async function approve({ session, person }: Pick<Office, 'session' | 'person'>, id: string) {
  const webauthnAssertion = await signatureOver(session, id, person)
  return bodyOf(session.intents.approve({ params: { id }, body: { webauthnAssertion } }))
}

const IN_CONSOLE = 'A person approves with a passkey what is declared in the console.'

describe('what a session of the console declares', () => {
  let office: Office

  beforeAll(async () => {
    office = await anOffice()
  })

  test('waits for a person, although the policy approves it for a key and a token', async () => {
    const { session, client, ofAgent, agent } = office
    const declared = await anIntent(session, agent.id, { amountEuros: AMOUNT })
    expect(declared).toMatchObject({ status: 'created', decidedBy: null, decision: { reason: IN_CONSOLE } })
    for (const other of [client, ofAgent])
      expect((await anIntent(other, agent.id, { amountEuros: AMOUNT })).status).toBe('approved')
  })

  test('is not approved by a mandate either', async () => {
    const { client, person, session, agent } = office
    const expiresAt = new Date(Date.now() + days(1)).toISOString()
    const members = { agentId: agent.id, constraints: { perTransactionEuros: 2_000 }, expiresAt }
    const webauthnAssertion = signed(await bodyOf(session.mandates.options({ body: members })), person.device)
    await bodyOf(session.mandates.create({ body: { ...members, webauthnAssertion } }))
    const above = { amountEuros: 1_500 }
    expect((await anIntent(client, agent.id, above)).decidedBy).toMatchObject({ type: 'mandate' })
    expect(await anIntent(session, agent.id, above)).toMatchObject({
      status: 'created',
      decision: { reason: IN_CONSOLE },
    })
  })

  test('is as a payment token not active before a person approves it', async () => {
    const { session, agent, payee, client } = office
    const body = { agentId: agent.id, amountEuros: AMOUNT, recipientWalletId: payee.id, purpose: 'A share' }
    const made = await bodyOf(session.paymentTokens.create({ body }))
    expect(made.status).toBe('waiting')
    const charge = () =>
      client.paymentTokens.charge({
        params: { id: agent.id },
        body: { paymentToken: String(made.token), amountEuros: AMOUNT },
      })
    expect((await charge()).status).toBeGreaterThanOrEqual(400)
    await approve(office, made.intentId)
    expect(await bodyOf(charge())).toMatchObject({ status: 'completed', amountEuros: AMOUNT })
  })

  test('is paid by the session once its passkey has approved it', async () => {
    const { session, agent, payee, client } = office
    const { id } = await anIntent(session, agent.id, { walletId: payee.id, amountEuros: AMOUNT })
    const pay = () => session.checkout.execute({ body: { intentId: id } })
    expect(await pay()).toMatchObject({ status: 400, code: 'intent_not_approved' })
    expect(await approve(office, id)).toMatchObject({ status: 'approved', decidedBy: { type: 'console' } })
    expect((await bodyOf(pay())).status).toBe('completed')
    await expectVerifiedLedger(client)
  })

  test('is simulated as the agent’s own payment', async () => {
    const { session, agent } = office
    const body = { agentId: agent.id, amountEuros: AMOUNT, merchant: 'Bookshop' }
    expect(await bodyOf(session.intents.simulate({ body }))).toMatchObject({
      allowed: true,
      requiresApproval: false,
    })
  })
})

interface Intents {
  readonly wallet: string
  readonly shop: string
  readonly paid402: string
}

async function intentsOf(client: TestClient, { agent, payee }: Office): Promise<Intents> {
  const declare = async (members: object) =>
    (await anIntent(client, agent.id, { ...members, amountEuros: AMOUNT })).id
  const [wallet, shop, paid402] = [
    await declare({ walletId: payee.id }),
    await declare({ merchant: SHOP }),
    await declare({ merchant: '127.0.0.1' }),
  ]
  return { wallet, shop, paid402 }
}

type Answer = Promise<{ readonly status: number; readonly code: string | undefined }>
type Pay = (by: TestClient, office: Office, intents: Intents) => Answer

/** Each operation that pays an approved intent, or opens a card for it. */
const ways: Readonly<Record<string, Pay>> = {
  'POST /checkout/execute': (by, _, { wallet: intentId }) => by.checkout.execute({ body: { intentId } }),
  'POST /checkout/sessions': (by, _, { shop: intentId }) =>
    by.checkout.createSession({ body: { intentId, merchantUrl: `https://${SHOP}/pay` } }),
  async 'POST /checkout/credential'(by, { client, filler }, { shop: intentId }) {
    const body = { intentId, merchantUrl: `https://${SHOP}/pay` }
    const { token } = await bodyOf(client.checkout.createSession({ body }))
    return by.checkout.credential({ body: { token: String(token), fillerKeyId: filler.id } })
  },
  'POST /credentials': (by, _, { shop: intentId }) =>
    by.credentials.create({ body: { intentId, ttlSeconds: 60 } }),
  async 'POST /credentials/{id}/redeem'(by, { client, filler }, { shop: intentId }) {
    const { id } = await bodyOf(client.credentials.create({ body: { intentId, ttlSeconds: 60 } }))
    return by.credentials.redeem({ params: { id }, body: { fillerKeyId: filler.id } })
  },
  'POST /cards/{id}/access': (by, { card: { id }, filler }, { shop: intentId }) =>
    by.accessEvents.access({ params: { id }, body: { intentId, purpose: 'Pay', fillerKeyId: filler.id } }),
  'POST /v1/agent-credentials': (by, { agent, card, filler }, { shop: intentId }) =>
    by.agentCredentials.create({
      body: {
        agentId: agent.id,
        cardId: card.id,
        intentId,
        merchantScope: [SHOP],
        amountLimitEuros: AMOUNT,
        ttlSeconds: 600,
        fillerKeyId: filler.id,
      },
    }),
  'POST /v1/mpp/credentials': (by, _, { paid402: intentId }) =>
    by.mpp.mint({ body: { intentId, url: soldAt, challenge: CHALLENGE } }),
  'POST /v1/mpp/pay': (by, _, { paid402: intentId }) => by.mpp.pay({ body: { intentId, url: soldAt } }),
}

describe.each([
  ['the policy has approved', 1_000],
  ['a key has approved', 1],
] as const)('an intent of a key that %s', (_, autoApproveLimitEuros) => {
  let office: Office
  let intents: Intents

  beforeAll(async () => {
    office = await anOffice({ autoApproveLimitEuros })
    const { client } = office
    intents = await intentsOf(client, office)
    if (autoApproveLimitEuros < AMOUNT)
      for (const id of Object.values(intents)) await bodyOf(client.intents.approve({ params: { id } }))
  })

  test.each(Object.keys(ways))('is not paid by a session with %s', async way => {
    expect(await ways[way]?.(office.session, office, intents)).toMatchObject({
      status: 403,
      code: 'intent_unsigned',
    })
  })

  test('stays payable by the key', async () => {
    const { client } = office
    for (const way of ['POST /checkout/execute', 'POST /cards/{id}/access', 'POST /v1/mpp/pay'])
      expect([way, (await ways[way]?.(client, office, intents))?.status]).toEqual([way, 200])
    await expectVerifiedLedger(client)
  })
})

describe('the number of a card', () => {
  test('reaches in the console only a registered key', async () => {
    const office = await anOffice()
    const { session, agent, card, filler, pair, client } = office
    const { id: intentId } = await anIntent(session, agent.id, { merchant: SHOP, amountEuros: AMOUNT })
    await approve(office, intentId)
    const params = { id: card.id }
    const access = (by: TestClient, reader: object) =>
      by.accessEvents.access({ params, body: { intentId, purpose: 'Pay', ...reader } })
    const own = { publicKeyJwk: jwkOf(await aKeyPair()) }
    expect(await access(session, own)).toMatchObject({ status: 403, code: 'filler_key_required' })
    expect(await access(session, { nonce: 'nonce' })).toMatchObject({ status: 403, code: 'nonce_of_agent' })
    expect((await access(session, { publicKeyJwk: jwkOf(pair) })).status).toBe(200)
    expect((await access(session, { fillerKeyId: filler.id })).status).toBe(200)
    expect((await access(client, own)).status).toBe(200)
  })
})
