import { describe, expect, test } from '@jest/globals'
import { anAgentClient } from '../../support/cards/reveal.ts'
import { paymentTokensIn, tokenEvents, tokenOf } from '../../support/commerce/payment-tokens.ts'
import { balanceOf } from '../../support/commerce/requests.ts'
import { aDelegation, aLiveClient, aRun, aWallet, bodyOf, redeemDelegation } from '../../support/factories.ts'
import { startTestService } from '../../support/harness.ts'
import { tablesWith } from '../../support/trace.ts'
import { expectVerifiedLedger } from '../../support/verified-ledger.ts'

const service = await startTestService({ own: true })
const { parties } = paymentTokensIn(service)
const ASKS = { autoApproveLimitEuros: 1 }

describe.each([false, true])('a payment token (for an own wallet: %s)', isOwn => {
  test('is an intent whose payee is the holder of the wallet, with its money held', async () => {
    const { payer, agent, wallet, name, make } = await parties({ isOwn })
    const made = await make({ purpose: 'Report 17' })
    expect(made.status).toBe(201)
    const { token, id, intentId, hint, expiresAt, createdAt } = made.body
    expect(made.body).toMatchObject({
      status: 'active',
      agentId: agent.id,
      amountEuros: 5,
      recipientWalletId: wallet.id,
      recipientName: name,
      chargedEuros: null,
      chargedAt: null,
      transactionId: null,
    })
    expect(token).toMatch(/^pt_\w{43}$/)
    expect(String(token).endsWith(hint)).toBe(true)
    expect(Date.parse(expiresAt) - Date.parse(createdAt)).toBe(900_000)
    const intent = await bodyOf(payer.client.intents.get({ params: { id: intentId } }))
    expect(intent).toMatchObject({
      status: 'approved',
      merchant: name,
      paymentTokenId: id,
      requestId: null,
      walletId: null,
      purpose: 'Report 17',
      expiresAt,
    })
    expect(await balanceOf(payer.client, agent.walletId)).toEqual([9_995, 5])
    expect(await tokenEvents(payer.client, id)).toEqual(['created'])
    const { token: _, ...stored } = made.body
    expect(await tokenOf(payer.client, id)).toEqual(stored)
  })

  test('is given back by its expiry, 15 minutes after it was made', async () => {
    const { payer, agent, make, charge } = await parties({ isOwn })
    const { token, id, intentId } = await bodyOf(make())
    await bodyOf(payer.client.sandbox.advance({ body: { minutes: 14 } }))
    expect(await balanceOf(payer.client, agent.walletId)).toEqual([9_995, 5])
    await bodyOf(payer.client.sandbox.advance({ body: { minutes: 2 } }))
    expect(await tokenOf(payer.client, id)).toMatchObject({ status: 'expired' })
    expect(await bodyOf(payer.client.intents.get({ params: { id: intentId } }))).toMatchObject({
      status: 'expired',
    })
    expect(await balanceOf(payer.client, agent.walletId)).toEqual([10_000, 0])
    expect(await charge(token)).toMatchObject({ status: 410, code: 'token_expired' })
    expect(await tokenEvents(payer.client, id)).toEqual(['created', 'expired'])
    await expectVerifiedLedger(payer.client)
  })

  test('is revoked once, by itself or with its intent', async () => {
    const { payer, agent, make, charge } = await parties({ isOwn })
    const [one, other] = [await bodyOf(make()), await bodyOf(make())]
    const revoke = (id: string) => payer.client.paymentTokens.revoke({ params: { id } })
    const revoked = await bodyOf(revoke(one.id))
    expect(revoked).toMatchObject({ id: one.id, status: 'revoked' })
    await bodyOf(payer.client.intents.cancel({ params: { id: other.intentId }, body: {} }))
    for (const { id, token, intentId } of [one, other]) {
      expect(await tokenOf(payer.client, id)).toMatchObject({ status: 'revoked' })
      expect(await bodyOf(payer.client.intents.get({ params: { id: intentId } }))).toMatchObject({
        status: 'cancelled',
      })
      expect(await tokenEvents(payer.client, id)).toEqual(['created', 'revoked'])
      expect(await revoke(id)).toMatchObject({ status: 400, code: 'token_over' })
      expect(await charge(token)).toMatchObject({ status: 410, code: 'token_revoked' })
    }
    expect(await balanceOf(payer.client, agent.walletId)).toEqual([10_000, 0])
  })
})

describe('a payment token that a person has to approve', () => {
  test('waits, and can be charged for 15 minutes from the approval on', async () => {
    const { payer, agent, make, charge } = await parties({ rules: ASKS })
    const { token, id, intentId, status } = await bodyOf(make())
    expect(status).toBe('waiting')
    expect(await balanceOf(payer.client, agent.walletId)).toEqual([10_000, 0])
    expect(await charge(token)).toMatchObject({ status: 400, code: 'token_waiting' })
    await bodyOf(payer.client.sandbox.advance({ body: { minutes: 60 } }))
    await bodyOf(payer.client.intents.approve({ params: { id: intentId }, body: {} }))
    const approved = await tokenOf(payer.client, id)
    expect(approved.status).toBe('active')
    expect(Date.parse(approved.expiresAt) - Date.parse(approved.updatedAt)).toBe(900_000)
    expect(await balanceOf(payer.client, agent.walletId)).toEqual([9_995, 5])
    expect(await charge(token)).toMatchObject({ status: 200, body: { amountEuros: 5, status: 'completed' } })
    expect(await tokenEvents(payer.client, id)).toEqual(['created', 'approved', 'charged'])
  })

  test('expires 15 minutes after the approval, and a day after it was made without one', async () => {
    const { payer, agent, make, charge } = await parties({ rules: ASKS })
    const [approved, waiting] = [await bodyOf(make()), await bodyOf(make())]
    await bodyOf(payer.client.intents.approve({ params: { id: approved.intentId }, body: {} }))
    await bodyOf(payer.client.sandbox.advance({ body: { minutes: 16 } }))
    expect(await tokenOf(payer.client, approved.id)).toMatchObject({ status: 'expired' })
    expect(await tokenOf(payer.client, waiting.id)).toMatchObject({ status: 'waiting' })
    await bodyOf(payer.client.sandbox.advance({ body: { days: 1 } }))
    expect(await tokenOf(payer.client, waiting.id)).toMatchObject({ status: 'expired' })
    expect(await balanceOf(payer.client, agent.walletId)).toEqual([10_000, 0])
    for (const { token } of [approved, waiting])
      expect(await charge(token)).toMatchObject({ status: 410, code: 'token_expired' })
  })

  test('is denied or revoked while it waits', async () => {
    const { payer, make, charge } = await parties({ rules: ASKS })
    const [denied, revoked] = [await bodyOf(make()), await bodyOf(make())]
    await bodyOf(
      payer.client.intents.deny({ params: { id: denied.intentId }, body: { reason: 'Too expensive' } }),
    )
    await bodyOf(payer.client.paymentTokens.revoke({ params: { id: revoked.id } }))
    expect(await charge(denied.token)).toMatchObject({ status: 410, code: 'token_denied' })
    expect(await charge(revoked.token)).toMatchObject({ status: 410, code: 'token_revoked' })
    expect(await tokenEvents(payer.client, denied.id)).toEqual(['created', 'denied'])
  })
})

describe('a payment token is not made', () => {
  test('against the policy, and the denied intent remains', async () => {
    const { payer, agent, make, name } = await parties({ rules: { maxTransactionEuros: 4 } })
    const refused = await make()
    expect(refused).toMatchObject({ status: 400, code: 'against_policy' })
    expect(refused.error).toMatch(/€ 5\.00/)
    expect((await bodyOf(payer.client.paymentTokens.list())).data).toEqual([])
    const { data } = await bodyOf(payer.client.intents.list({ query: { agentId: agent.id } }))
    expect(data).toMatchObject([{ status: 'denied', merchant: name, paymentTokenId: null }])
  })

  test('for a holder on the blocklist, by its public name or its IBAN, or beyond what the wallet has', async () => {
    const { payer, make, name, wallet, agent } = await parties({})
    for (const blocked of [name, String(wallet.iban)]) {
      const body = { name: 'Rules', autoApproveLimitEuros: 1_000, merchantBlocklist: [blocked] }
      const policy = await bodyOf(payer.client.policies.create({ body }))
      await bodyOf(
        payer.client.policies.assign({ params: { agentId: agent.id }, body: { policyId: policy.id } }),
      )
      expect(await make()).toMatchObject({ status: 400, code: 'against_policy' })
    }
    const poor = await parties({ rules: { autoApproveLimitEuros: 20_000 } })
    const all = await poor.make({ amountEuros: 10_001 })
    expect(all).toMatchObject({ status: 400, code: 'against_policy' })
  })

  test('for a wallet that does not exist, is closed, of another mode, or the agent’s own', async () => {
    const { payer, payee, agent, make } = await parties({})
    const closed = await aWallet(payee.client)
    await bodyOf(payee.client.wallets.close({ params: { id: closed.id } }))
    const live = await aWallet(await aLiveClient(service, payee))
    for (const recipientWalletId of ['wallet_01jd8x2m4ye7k9v0c3q5r6t8wz', closed.id, live.id]) {
      const refused = await make({ recipientWalletId })
      expect(refused).toMatchObject({ status: 404, code: 'wallet_not_found' })
      expect(refused.error).toBe('recipientWalletId: no such wallet, or it cannot be paid.')
    }
    const ownClosed = await aWallet(payer.client)
    await bodyOf(payer.client.wallets.close({ params: { id: ownClosed.id } }))
    expect(await make({ recipientWalletId: ownClosed.id })).toMatchObject({ code: 'wallet_closed' })
    expect(await make({ recipientWalletId: agent.walletId })).toMatchObject({ code: 'same_wallet' })
  })

  test('by a frozen agent, for another owner’s agent, or in a run of another agent', async () => {
    const { payer, payee, agent, make } = await parties({})
    const other = await parties({})
    expect(await make({ agentId: other.agent.id })).toMatchObject({ status: 404, code: 'agent_not_found' })
    const run = await aRun(other.payer.client, other.agent.id)
    expect(await make({ runId: run.id })).toMatchObject({ status: 404, code: 'run_not_found' })
    await bodyOf(payer.client.agents.freeze({ params: { id: agent.id }, body: {} }))
    expect(await make()).toMatchObject({ status: 400, code: 'agent_not_active' })
    expect((await bodyOf(payee.client.paymentTokens.list())).data).toEqual([])
  })
})

describe('a payment token is seen', () => {
  test('by the agent that pays and its owner, never by the owner of the wallet', async () => {
    const { payer, payee, agent, make } = await parties({})
    const agentClient = await anAgentClient(service, payer.client, agent.id)
    const { id } = await bodyOf(make({ agentId: undefined }, agentClient))
    expect(await tokenOf(agentClient, id)).toMatchObject({ id, agentId: agent.id })
    expect((await bodyOf(agentClient.paymentTokens.list())).data).toHaveLength(1)
    expect(await payee.client.paymentTokens.get({ params: { id } })).toMatchObject({ status: 404 })
    expect((await bodyOf(payee.client.paymentTokens.list())).data).toEqual([])
    expect(await payee.client.paymentTokens.revoke({ params: { id } })).toMatchObject({
      status: 404,
      code: 'token_not_found',
    })
    const colleague = await parties({})
    const other = await anAgentClient(service, colleague.payer.client, colleague.agent.id)
    expect(await other.paymentTokens.get({ params: { id } })).toMatchObject({ status: 404 })
  })

  test('with its secret once: not in a replay, and nowhere in the database', async () => {
    const { payer, agent, wallet } = await parties({})
    const body = { agentId: agent.id, amountEuros: 5, recipientWalletId: wallet.id }
    const make = () => bodyOf(payer.client.paymentTokens.create({ body, idempotencyKey: 'token-1' }))
    const first = await make()
    expect(await make()).toEqual({ ...first, token: null })
    expect(await tablesWith(service, String(first.token))).toEqual([])
    expect(await balanceOf(payer.client, agent.walletId)).toEqual([9_995, 5])
  })

  test('in lists by status, agent and wallet', async () => {
    const { payer, wallet, make } = await parties({})
    const [first, second] = [await bodyOf(make()), await bodyOf(make())]
    await bodyOf(payer.client.paymentTokens.revoke({ params: { id: first.id } }))
    const listed = async (query: object) =>
      (await bodyOf(payer.client.paymentTokens.list({ query }))).data.map(({ id }) => id)
    expect(await listed({})).toEqual([second.id, first.id])
    expect(await listed({ status: 'revoked' })).toEqual([first.id])
    expect(await listed({ recipientWalletId: wallet.id, status: 'active' })).toEqual([second.id])
    expect(await listed({ agentId: 'agent_1' })).toEqual([])
  })

  test('under a delegation by the program that redeemed it, and ends with it', async () => {
    const { payer, agent, wallet, make } = await parties({})
    const delegation = await aDelegation(payer.client, agent.id, { maxAmountEuros: 8 })
    const delegate = service.client(String((await redeemDelegation(payer.client, delegation)).token))
    const body = { amountEuros: 5, recipientWalletId: wallet.id }
    const { id } = await bodyOf(delegate.paymentTokens.create({ body }))
    const others = await bodyOf(make())
    expect(await delegate.paymentTokens.create({ body })).toMatchObject({ code: 'against_policy' })
    expect((await bodyOf(delegate.paymentTokens.list())).data.map(one => one.id)).toEqual([id])
    expect(await delegate.paymentTokens.revoke({ params: { id: others.id } })).toMatchObject({ status: 404 })
    await bodyOf(payer.client.delegations.revoke({ params: { id: delegation.id } }))
    expect(await tokenOf(payer.client, id)).toMatchObject({ status: 'revoked' })
    expect(await balanceOf(payer.client, agent.walletId)).toEqual([9_995, 5])
  })
})
