import './paid-intents/by-invoice.ts'
import './paid-intents/payments-shown.ts'
import './paid-intents/first-merchant.ts'
import './paid-intents/waiting-transfers.ts'
import { describe, expect, test } from '@jest/globals'
import { statusCounts, times } from '../support/at-once.ts'
import { clientAt } from '../support/client.ts'
import {
  aBeneficiary,
  anAgentUnder,
  anIntent,
  aToken,
  aWallet,
  bodyOf,
  type TestClient,
} from '../support/factories.ts'
import { startTestService } from '../support/harness.ts'
import { expectVerifiedLedger } from '../support/verified-ledger.ts'

const service = await startTestService({ own: true })
const elsewhere = await service.another()

type Rules = Parameters<typeof anAgentUnder>[1]

async function someone(rules: Rules = {}) {
  const owner = await service.owner()
  const { client: mine } = owner
  const agent = await anAgentUnder(mine, { autoApproveLimitEuros: 2_000, ...rules })
  const { token } = await aToken(mine, agent.id, {
    scopes: ['transfers:create', 'intents:write', 'checkout:write'],
  })
  const tokenClients = [service.url, elsewhere].map(url => clientAt({ url, token: String(token) }))
  const counted = async () => {
    const [all] = await service.sql<Record<string, unknown>>(
      `select reserved_cents::int as reserved, spent_cents::int as spent, uses, reserved_uses as waiting,
        first_merchant as merchant from counters where subject = $1 and period = 'all'`,
      [agent.id],
    )
    return all
  }
  return {
    ...owner,
    agent,
    walletId: agent.walletId,
    counted,
    tokenClient: tokenClients[0] as TestClient,
    any: (n: number) => tokenClients[n % 2] as TestClient,
    payee: (await aWallet(mine, 0, { name: 'Bookshop' })).id,
    balance: () => bodyOf(mine.agents.balance({ params: { id: agent.id } })),
    intent: (id: string) => bodyOf(mine.intents.get({ params: { id } })),
  }
}

describe('an agent pays a wallet', () => {
  test('on its approved intent, which is completed by one transaction', async () => {
    const { client, tokenClient, agent, walletId, payee, balance, counted, intent } = await someone({
      amountTolerancePercent: 10,
    })
    const { id: intentId } = await anIntent(client, agent.id, { amountEuros: 20, walletId: payee })
    expect((await balance()).heldEuros).toBe(22)
    const body = { fromWalletId: walletId, toWalletId: payee, amountEuros: 21.5, intentId }
    const transfer = await bodyOf(tokenClient.transfers.create({ body }))
    expect(transfer).toMatchObject({ status: 'completed', intentId, transactionId: expect.any(String) })
    expect(await intent(intentId)).toMatchObject({
      status: 'completed',
      transactionId: transfer.transactionId,
    })
    expect(await balance()).toMatchObject({ availableEuros: 9_978.5, heldEuros: 0 })
    expect((await bodyOf(client.wallets.get({ params: { id: payee } }))).availableEuros).toBe(21.5)
    expect(await counted()).toEqual({ reserved: 0, spent: 2_150, uses: 1, waiting: 0, merchant: 'Bookshop' })
    const { data } = await bodyOf(client.transactions.list({ query: { intentId } }))
    expect(data).toMatchObject([
      {
        id: transfer.transactionId,
        type: 'transfer',
        status: 'completed',
        amountEuros: 21.5,
        transferId: transfer.id,
      },
    ])
    const { data: entries } = await bodyOf(client.intents.timeline({ params: { id: intentId } }))
    expect(entries.map(({ event }) => event)).toContain('intent.completed')
    const again = await tokenClient.transfers.create({ body })
    expect([again.status, again.code]).toEqual([400, 'intent_not_approved'])
    expect((await client.intents.cancel({ params: { id: intentId } })).code).toBe('intent_closed')
    await expectVerifiedLedger(client)
  })

  test('once, even with many requests at once on two processes', async () => {
    const { client, any, agent, walletId, payee, counted } = await someone()
    const { id: intentId } = await anIntent(client, agent.id, { amountEuros: 20, walletId: payee })
    const body = { fromWalletId: walletId, toWalletId: payee, amountEuros: 20, intentId }
    const answers = await times(20, n => any(n).transfers.create({ body }))
    expect(statusCounts(answers)).toEqual({ 201: 1, 400: 19 })
    expect(await counted()).toMatchObject({ reserved: 0, spent: 2_000, uses: 1, waiting: 0 })
    await expectVerifiedLedger(client)
  })

  test('or the intent is cancelled, never both, and no cent is lost', async () => {
    for (let round = 0; round < 5; round++) {
      const { client, any, agent, walletId, payee, counted, balance, intent } = await someone()
      const { id: intentId } = await anIntent(client, agent.id, { amountEuros: 20, walletId: payee })
      const body = { fromWalletId: walletId, toWalletId: payee, amountEuros: 20, intentId }
      const [paid, cancelled] = await Promise.all([
        any(round).transfers.create({ body }),
        client.intents.cancel({ params: { id: intentId } }),
      ])
      expect([paid.status, cancelled.status].toSorted()).toEqual(
        paid.status === 201 ? [201, 400] : [200, 400],
      )
      expect((await intent(intentId)).status).toBe(paid.status === 201 ? 'completed' : 'cancelled')
      expect(await counted()).toMatchObject({ reserved: 0, spent: paid.status === 201 ? 2_000 : 0 })
      expect((await balance()).heldEuros).toBe(0)
    }
  })

  test('with approved intents of its own only', async () => {
    const payer = await someone()
    const { client, tokenClient, agent, walletId, payee, balance } = payer
    const other = await anAgentUnder(client, { autoApproveLimitEuros: 100 })
    const declare = (members: object, of = agent.id) => anIntent(client, of, { amountEuros: 20, ...members })
    const right = await declare({ walletId: payee })
    const waiting = await declare({ walletId: payee, amountEuros: 3_000 })
    const nobodys = await declare({})
    const others = await declare({ walletId: payee }, other.id)
    const late = await declare({ walletId: payee, expiresInMinutes: 1 })
    const elsewhereTo = (await aWallet(client)).id
    const before = await balance()
    const pay = (members: object, by = tokenClient) =>
      by.transfers.create({
        body: { fromWalletId: walletId, toWalletId: payee, amountEuros: 20, intentId: right.id, ...members },
      })
    const refusals: [number, string, object][] = [
      [400, 'intent_required', { intentId: undefined }],
      [404, 'intent_not_found', { intentId: others.id }],
      [404, 'intent_not_found', { intentId: 'intent_01jd8x2m4ye7k9v0c3q5r6t8wz' }],
      [400, 'intent_not_approved', { intentId: waiting.id }],
      [400, 'intent_other_payee', { intentId: nobodys.id }],
      [400, 'intent_other_payee', { toWalletId: elsewhereTo }],
      [400, 'intent_other_wallet', { fromWalletId: other.walletId }],
      [400, 'intent_amount_exceeded', { amountEuros: 20.01 }],
    ]
    for (const [status, code, members] of refusals) expect(await pay(members)).toMatchObject({ status, code })
    expect((await pay({ intentId: others.id }, client)).code).toBe('intent_other_wallet')
    await bodyOf(client.agents.freeze({ params: { id: agent.id } }))
    expect((await pay({})).code).toBe('agent_not_active')
    await bodyOf(client.agents.unfreeze({ params: { id: agent.id } }))
    expect(await balance()).toEqual(before)
    await service.sql(`insert into tenant_clocks values ($1, 'test', $2)`, [payer.ownerId, 61_000])
    expect((await pay({ intentId: late.id })).code).toBe('intent_expired')
    expect((await pay({}, client)).status).toBe(201)
  })

  test.each(['freeze', 'close', 'notify'] as const)(
    'until its policy ends, if the end stops all spending: %s',
    async expirationAction => {
      const rules = { autoApproveLimitEuros: 20, expiresAfterMinutes: 60, expirationAction }
      const { client, tokenClient, agent, walletId, payee, intent } = await someone(rules)
      const { id: beneficiaryId } = await aBeneficiary(client)
      const terms = { amountEuros: 20, expiresInMinutes: 600 }
      const approved = await anIntent(client, agent.id, { ...terms, walletId: payee })
      const signed = await anIntent(client, agent.id, { ...terms, amountEuros: 30, beneficiaryId })
      await bodyOf(client.intents.approve({ params: { id: signed.id }, body: {} }))
      await bodyOf(client.sandbox.advance({ body: { minutes: 61 } }))
      const answers = [
        await tokenClient.checkout.execute({ body: { intentId: approved.id } }),
        await tokenClient.transfers.create({
          body: { fromWalletId: walletId, beneficiaryId, amountEuros: 30, intentId: signed.id },
        }),
      ]
      if (expirationAction === 'notify') return expect(statusCounts(answers)).toEqual({ 200: 1, 201: 1 })
      expect(answers.map(({ code }) => code)).toEqual(['intent_not_approved', 'intent_not_approved'])
      for (const { id } of [approved, signed]) expect((await intent(id)).status).toBe('expired')
    },
  )

  test('without another risk score, and not while risk has frozen the agent', async () => {
    const { client, tokenClient, agent, walletId, payee } = await someone()
    const approved = await anIntent(client, agent.id, { amountEuros: 20, walletId: payee })
    const weights = { newMerchant: 95, velocity: 0, amountOutlier: 0, impossibleTravel: 0, oddHour: 0 }
    await bodyOf(client.risk.configure({ body: { weights } }))
    expect((await anIntent(client, agent.id, { merchant: 'Jeweller' })).decision.riskScore).toBe(95)
    const body = { fromWalletId: walletId, toWalletId: payee, amountEuros: 20, intentId: approved.id }
    expect(await tokenClient.transfers.create({ body })).toMatchObject({
      status: 400,
      code: 'agent_not_active',
    })
    await bodyOf(client.risk.unfreeze({ params: { id: agent.id }, body: {} }))
    const scored = async () =>
      (await bodyOf(client.risk.events({ query: { agentId: agent.id } }))).data.length
    const before = await scored()
    expect((await tokenClient.transfers.create({ body })).status).toBe(201)
    expect(await scored()).toBe(before)
  })

  test('only with a token that was given the scope, which none has by default', async () => {
    const { client, agent, walletId, payee } = await someone()
    const { token, scopes } = await aToken(client, agent.id)
    expect(scopes).not.toContain('transfers:create')
    const body = { fromWalletId: walletId, toWalletId: payee, amountEuros: 1 }
    expect(await service.client(String(token)).transfers.create({ body })).toMatchObject({
      status: 403,
      code: 'missing_scope',
    })
  })
})

describe('an agent’s payment by SEPA', () => {
  async function underWay(rules: Rules = {}, amountEuros = 20, name = 'Bäckerei Müller') {
    const payer = await someone(rules)
    const { client, tokenClient, agent, walletId } = payer
    const { id: beneficiaryId } = await aBeneficiary(client, { name })
    const intent = await anIntent(client, agent.id, { amountEuros, beneficiaryId, expiresInMinutes: 5 })
    const body = { fromWalletId: walletId, beneficiaryId, amountEuros, intentId: intent.id }
    const transfer = await bodyOf(tokenClient.transfers.create({ body }))
    return { ...payer, body, transfer, params: { id: intent.id }, of: { id: transfer.id } }
  }

  test('keeps its intent waiting until it is submitted, and then completes it', async () => {
    const { client, tokenClient, body, transfer, params, of, balance, counted } = await underWay({
      amountTolerancePercent: 10,
    })
    expect(transfer).toMatchObject({ status: 'created', intentId: params.id, transactionId: null })
    expect((await balance()).heldEuros).toBe(22)
    expect((await client.intents.cancel({ params })).code).toBe('intent_being_paid')
    expect((await tokenClient.transfers.create({ body })).code).toBe('intent_being_paid')
    await bodyOf(client.sandbox.advance({ body: { minutes: 2 } }))
    const paid = await bodyOf(client.transfers.get({ params: of }))
    expect(paid.status).toBe('completed')
    expect(await bodyOf(client.intents.get({ params }))).toMatchObject({
      status: 'completed',
      transactionId: paid.transactionId,
    })
    expect(await balance()).toMatchObject({ availableEuros: 9_980, heldEuros: 0 })
    expect(await counted()).toMatchObject({ reserved: 0, spent: 2_000, uses: 1, waiting: 0 })
    expect((await bodyOf(client.transactions.list({ query: { intentId: params.id } }))).data).toHaveLength(1)
    await expectVerifiedLedger(client)
  })

  test('that the bank rejects returns to the wallet and to the limits', async () => {
    const { client, params, of, balance, counted } = await underWay({}, 666.01)
    await bodyOf(client.sandbox.advance({ body: { minutes: 2 } }))
    expect((await bodyOf(client.transfers.get({ params: of }))).status).toBe('rejected')
    const { status, transactionId } = await bodyOf(client.intents.get({ params }))
    expect(status).toBe('completed')
    const transaction = await bodyOf(client.transactions.get({ params: { id: String(transactionId) } }))
    expect(transaction.status).toBe('declined')
    expect(await balance()).toMatchObject({ availableEuros: 10_000, heldEuros: 0 })
    expect(await counted()).toMatchObject({ reserved: 0, spent: 0, uses: 0, waiting: 0 })
    await expectVerifiedLedger(client)
  })

  test('that is cancelled leaves the intent as it was, or expired after its deadline', async () => {
    const { client, tokenClient, body, params, of, balance, counted } = await underWay(
      {},
      20,
      'No Match GmbH',
    )
    await bodyOf(client.sandbox.advance({ body: { minutes: 2 } }))
    expect((await bodyOf(client.transfers.get({ params: of }))).status).toBe('verifying')
    await bodyOf(client.transfers.cancel({ params: of }))
    expect((await bodyOf(client.intents.get({ params }))).status).toBe('approved')
    expect((await balance()).heldEuros).toBe(20)
    const second = await bodyOf(tokenClient.transfers.create({ body }))
    await bodyOf(client.sandbox.advance({ body: { minutes: 10 } }))
    expect((await bodyOf(client.intents.get({ params }))).status).toBe('approved')
    await bodyOf(client.transfers.cancel({ params: { id: second.id } }))
    await bodyOf(client.sandbox.advance({ body: { seconds: 1 } }))
    expect((await bodyOf(client.intents.get({ params }))).status).toBe('expired')
    expect(await balance()).toMatchObject({ availableEuros: 10_000, heldEuros: 0 })
    expect(await counted()).toMatchObject({ reserved: 0, spent: 0, uses: 0, waiting: 0 })
    await expectVerifiedLedger(client)
  })
})
