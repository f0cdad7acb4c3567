import { describe, expect, test } from '@jest/globals'
import type { Scope } from '../../../src/kernel/contract/scopes.ts'
import { statusCounts, times } from '../../support/at-once.ts'
import { anAgentClient, aSpender } from '../../support/cards/reveal.ts'
import { type Parties, paymentTokensIn, tokenEvents, tokenOf } from '../../support/commerce/payment-tokens.ts'
import { balanceOf } from '../../support/commerce/requests.ts'
import { aFundedAgent, aLiveClient, bodyOf, type TestClient } from '../../support/factories.ts'
import { startTestService } from '../../support/harness.ts'
import { tablesWith } from '../../support/trace.ts'
import { expectVerifiedLedger } from '../../support/verified-ledger.ts'

const service = await startTestService()
const { parties } = paymentTokensIn(service)

async function expectVerified({ payer, payee }: Parties): Promise<void> {
  await expectVerifiedLedger(payer.client)
  await expectVerifiedLedger(payee.client)
}

const transactionOf = (client: TestClient, id: string) => bodyOf(client.transactions.get({ params: { id } }))

describe.each([false, true])('a charge (for an own wallet: %s)', isOwn => {
  test('a charge takes its amount, releases the rest, and completes the intent', async () => {
    const all = await parties({ isOwn })
    const { payer, payee, agent, wallet, name, make, charge } = all
    const { token, id, intentId } = await bodyOf(make())
    const charged = await charge(token, 4.5)
    expect(charged.status).toBe(200)
    const { transactionId } = charged.body
    expect(charged.body).toEqual({
      status: 'completed',
      agentId: agent.id,
      walletId: wallet.id,
      amountEuros: 4.5,
      transactionId,
    })
    expect(await balanceOf(payer.client, agent.walletId)).toEqual([9_995.5, 0])
    expect(await balanceOf(payee.client, wallet.id)).toEqual([4.5, 0])
    const stored = await tokenOf(payer.client, id)
    expect(stored).toMatchObject({ status: 'charged', chargedEuros: 4.5 })
    const paid = await transactionOf(payer.client, String(stored.transactionId))
    expect(paid).toMatchObject({
      type: 'transfer',
      status: 'completed',
      amountEuros: 4.5,
      agentId: agent.id,
      intentId,
      merchant: name,
    })
    expect(await bodyOf(payer.client.intents.get({ params: { id: intentId } }))).toMatchObject({
      status: 'completed',
      transactionId: stored.transactionId,
      payment: { type: 'transfer', id: paid.transferId, status: 'completed' },
    })
    const payerName = (await bodyOf(payer.client.customers.me())).name
    expect(await transactionOf(payee.client, transactionId)).toMatchObject({
      type: 'collect',
      status: 'completed',
      amountEuros: 4.5,
      walletId: wallet.id,
      merchant: payerName,
      intentId: null,
      agentId: null,
    })
    expect(await tokenEvents(payer.client, id)).toEqual(['created', 'charged'])
    await expectVerified(all)
  })

  test('is made once by twenty at once, and afterwards it is a 410', async () => {
    const all = await parties({ isOwn })
    const { payer, payee, agent, wallet, make, charge } = all
    const { token } = await bodyOf(make())
    const answers = await times(20, () => charge(token, 3))
    expect(statusCounts(answers)).toEqual({ 200: 1, 410: 19 })
    expect(await charge(token, 1)).toMatchObject({ status: 410, code: 'token_charged' })
    expect(await balanceOf(payer.client, agent.walletId)).toEqual([9_997, 0])
    expect(await balanceOf(payee.client, wallet.id)).toEqual([3, 0])
    await expectVerified(all)
  })

  test('replays the answer of its key', async () => {
    const { payee, wallet, make, charge } = await parties({ isOwn })
    const { token } = await bodyOf(make())
    const request = () => bodyOf(charge(token, 2, { idempotencyKey: 'charge-1' }))
    const first = await request()
    expect(await request()).toEqual(first)
    expect(await charge(token, 3, { idempotencyKey: 'charge-1' })).toMatchObject({ status: 422 })
    expect(await balanceOf(payee.client, wallet.id)).toEqual([2, 0])
  })

  test('a charge above the token’s amount takes nothing', async () => {
    const { payer, payee, agent, wallet, make, charge } = await parties({ isOwn })
    const { token } = await bodyOf(make())
    const refused = await charge(token, 5.01)
    expect(refused).toMatchObject({ status: 400, code: 'amount_exceeded' })
    expect(refused.error).toBe('amountEuros: the token is for at most € 5.00.')
    expect(await balanceOf(payer.client, agent.walletId)).toEqual([9_995, 5])
    expect(await balanceOf(payee.client, wallet.id)).toEqual([0, 0])
    expect(await charge(token, 5)).toMatchObject({ status: 200 })
  })
})

describe('a charge shows neither owner anything of the other one', () => {
  test('in records, events and the audit trail', async () => {
    const { payer, payee, agent, wallet, make, charge } = await parties({})
    const { token, id, intentId } = await bodyOf(make({ purpose: 'Secret report' }))
    const charged = await charge(token)
    const { transactionId } = charged.body
    const { transactionId: ofPayer } = await tokenOf(payer.client, id)
    const seenBy = async (client: TestClient) =>
      JSON.stringify([
        await bodyOf(client.events.list({ query: { limit: 100 } })),
        await bodyOf(client.audit.list({ query: { limit: 100 } })),
        await bodyOf(client.transactions.list()),
        await bodyOf(client.transfers.list()),
        await bodyOf(client.wallets.list()),
      ])
    const [payerSees, payeeSees] = [await seenBy(payer.client), await seenBy(payee.client)]
    const requestId = String(charged.headers.get('x-request-id'))
    expect(payeeSees).toContain(requestId)
    for (const foreign of [payee.ownerId, 'Secret plans', transactionId, requestId])
      expect(payerSees).not.toContain(foreign)
    // The payer itself named the wallet.
    expect(payerSees.replaceAll(`"recipientWalletId":"${wallet.id}"`, '')).not.toContain(wallet.id)
    for (const foreign of [payer.ownerId, agent.walletId, intentId, id, String(ofPayer), 'Secret report'])
      expect(payeeSees).not.toContain(foreign)
    expect(await payee.client.transactions.get({ params: { id: String(ofPayer) } })).toMatchObject({
      status: 404,
    })
    expect(await payer.client.transactions.get({ params: { id: transactionId } })).toMatchObject({
      status: 404,
    })
    expect(await tablesWith(service, String(token))).toEqual([])
  })
})

describe('a token is unknown', () => {
  test('to a caller without a right to it', async () => {
    const { payer, payee, make, charge, agent } = await parties({})
    const { token } = await bodyOf(make())
    const stranger = await service.owner()
    const live = await aLiveClient(service, payee)
    const colleague = await aSpender(payer.client)
    const attempts = [
      charge(token, 1, { client: stranger.client }),
      charge(token, 1, { client: payer.client }),
      charge(token, 1, { client: live }),
      charge(token, 1, { agentId: colleague.id }),
      charge(`${token}x`, 1),
      charge('pt_', 1),
      charge(String(agent.id), 1),
    ]
    for (const refused of await Promise.all(attempts)) {
      expect(refused).toMatchObject({ status: 404, code: 'token_not_found' })
      expect(refused.error).toBe('paymentToken: this agent has no such token for one of your wallets.')
    }
    expect(await charge(token)).toMatchObject({ status: 200 })
  })

  test('to an agent whose wallet it is not for', async () => {
    const { payee, make, charge } = await parties({})
    const scopes: Scope[] = ['collect:write', 'transactions:read']
    const [shop, other] = [await aFundedAgent(payee.client), await aFundedAgent(payee.client)]
    const { token } = await bodyOf(make({ recipientWalletId: shop.walletId }))
    const as = (id: string) => anAgentClient(service, payee.client, id, scopes)
    const refused = await charge(token, 1, { client: await as(other.id) })
    expect(refused).toMatchObject({ status: 404, code: 'token_not_found' })
    const seller = await as(shop.id)
    const { transactionId } = await bodyOf(charge(token, 1, { client: seller }))
    expect(await transactionOf(seller, transactionId)).toMatchObject({ type: 'collect', agentId: shop.id })
  })
})

describe('a charge is refused, and takes nothing,', () => {
  test.each<[string, (all: Parties) => Promise<unknown>, number, string]>([
    [
      'once the agent that pays is frozen',
      ({ payer, agent }) => bodyOf(payer.client.agents.freeze({ params: { id: agent.id }, body: {} })),
      400,
      'token_blocked',
    ],
    [
      'once the wallet that pays is frozen',
      ({ payer, agent }) =>
        bodyOf(payer.client.wallets.update({ params: { id: agent.walletId }, body: { status: 'frozen' } })),
      400,
      'token_blocked',
    ],
    [
      'once the wallet that is paid is closed',
      ({ payee, wallet }) => bodyOf(payee.client.wallets.close({ params: { id: wallet.id } })),
      400,
      'wallet_closed',
    ],
  ])('%s', async (_, stop, status, code) => {
    const all = await parties({})
    const { payee, wallet, make, charge } = all
    const { token } = await bodyOf(make())
    await stop(all)
    const refused = await charge(token)
    expect(refused).toMatchObject({ status, code })
    expect(await balanceOf(payee.client, wallet.id)).toEqual([0, 0])
    await expectVerified(all)
  })

  test('for a payee that the agent may not pay after another one', async () => {
    const { payer, make, charge } = await parties({
      rules: { autoApproveLimitEuros: 1_000, lockToFirstMerchant: true },
    })
    const other = await parties({})
    const [one, two] = [await bodyOf(make()), await bodyOf(make({ recipientWalletId: other.wallet.id }))]
    expect(await charge(one.token)).toMatchObject({ status: 200 })
    expect(await charge(two.token, 5, { client: other.payee.client })).toMatchObject({
      code: 'token_blocked',
    })
    expect(await tokenOf(payer.client, two.id)).toMatchObject({ status: 'active' })
  })
})
