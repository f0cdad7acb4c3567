import { describe, expect, test } from '@jest/globals'
import { cents } from '../../../src/values/money.ts'
import { bookshop } from '../../support/cards/network.ts'
import { bodyOf } from '../../support/factories.ts'
import { expectVerifiedLedger } from '../../support/verified-ledger.ts'
import {
  aPayer,
  balanceOf,
  begun,
  client,
  HOST,
  intentOf,
  network,
  newsOf,
  service,
  tokensOf,
  transactionsOf,
  usesOf,
} from './service.ts'

const declined = (reason: RegExp) => ({ kind: 'declined', reason: expect.stringMatching(reason) })

describe('a machine payment', () => {
  test('that was begun holds what its intent holds, and has no transaction yet', async () => {
    const payer = await aPayer()
    const { mppCredentialId, authorizationId, payments } = await begun(payer)
    expect(await payments()).toMatchObject([
      {
        id: authorizationId,
        status: 'pending',
        mppCredentialId,
        amountEuros: 20,
        source: 'intent',
        intentId: payer.intent.id,
        merchant: 'shop.example.com',
        transactionId: null,
        expiresAt: null,
      },
    ])
    // This test has no record of the machine payment, so the intent does not show it.
    expect((await intentOf(payer.intent.id)).status).toBe('approved')
    expect(await balanceOf(payer.agent.id)).toEqual([78, 22])
    expect(await transactionsOf(payer.card.id)).toEqual([])
    const params = { id: payer.card.id, authorizationId: String(authorizationId) }
    expect((await bodyOf(client.authorizations.explanation({ params }))).summary).toMatch(/is under way/)
  })

  test('that a receipt proves is one transaction, to which authorization and clearing are witnesses', async () => {
    const payer = await aPayer()
    const payment = await begun(payer)
    const transactionId = await payment.settle('paid')
    expect(await payment.payments()).toMatchObject([{ status: 'confirmed', transactionId }])
    expect(await balanceOf(payer.agent.id)).toEqual([80, 0])
    expect((await intentOf(payer.intent.id)).status).toBe('completed')
    const { reply, authorizationId } = await payment.authorize()
    expect(reply.kind).toBe('approved')
    await payment.clear(authorizationId)
    expect(await payment.payments()).toMatchObject([{ status: 'cleared', clearedEuros: 20, heldEuros: 0 }])
    const transactions = await transactionsOf(payer.card.id)
    expect(transactions).toMatchObject([
      { id: transactionId, type: 'mpp', status: 'completed', amountEuros: 20, refundedEuros: 0 },
    ])
    expect(transactions[0]?.witnesses.map(({ type }) => type)).toEqual([
      'mpp',
      'card_authorization',
      'card_clearing',
    ])
    expect(await balanceOf(payer.agent.id)).toEqual([80, 0])
    expect(await usesOf([payer.agent.id, payer.card.id])).toEqual([
      { reserved: 0, spent: 2_000, open: 0, made: 1 },
      { reserved: 0, spent: 2_000, open: 0, made: 0 },
    ])
    await expectVerifiedLedger(client)
  })

  test('a payment that the network reports first has one transaction, and a receipt adds none', async () => {
    const payer = await aPayer()
    const payment = await begun(payer)
    const { authorizationId } = await payment.authorize()
    expect(await payment.payments()).toMatchObject([{ status: 'authorized', heldEuros: 20 }])
    await payment.clear(authorizationId)
    const before = await transactionsOf(payer.card.id)
    const transactionId = await payment.settle('paid')
    expect(before).toMatchObject([{ id: transactionId, type: 'mpp', status: 'completed', amountEuros: 20 }])
    expect(await transactionsOf(payer.card.id)).toMatchObject([{ status: 'completed', amountEuros: 20 }])
    expect(await balanceOf(payer.agent.id)).toEqual([80, 0])
    expect(
      (await newsOf(payment.mppCredentialId)).map(({ event, data }) => [event, data.amountEuros]),
    ).toEqual([
      ['agent_credential.charged', 20],
      ['agent_credential.charged', 20],
    ])
    expect((await newsOf(payment.mppCredentialId))[0]?.data).toMatchObject({
      agentId: payer.agent.id,
      intentId: payer.intent.id,
      cardId: payer.card.id,
      transactionId,
      status: 'active',
    })
    await expectVerifiedLedger(client)
  })

  test('is cleared without an authorization as the same payment, once, whatever the message is called', async () => {
    const payer = await aPayer()
    const payment = await begun(payer)
    await payment.clear(null, 20, { clearingId: `forced ${payer.card.id}` })
    await payment.clear(null, 20, { clearingId: `forced ${payer.card.id}` })
    expect(await payment.payments()).toMatchObject([{ status: 'cleared', clearedEuros: 20 }])
    const { reply } = await payment.authorize()
    expect(reply.kind).toBe('approved')
    expect(await payment.payments()).toMatchObject([{ status: 'cleared', clearedEuros: 20, heldEuros: 0 }])
    expect(await balanceOf(payer.agent.id)).toEqual([80, 0])
  })

  test('that the network declines leaves the intent free, and a new payment is the one that counts', async () => {
    const payer = await aPayer()
    const payment = await begun(payer)
    await bodyOf(client.cards.freeze({ params: { id: payer.card.id } }))
    const { reply, authorizationId } = await payment.authorize()
    expect(reply).toEqual(declined(/frozen/))
    expect(await payment.payments()).toMatchObject([{ status: 'declined', heldEuros: 0 }])
    const asks = [{ amountCents: cents(2_000n), approved: false }]
    await network.send(payer.card.id, { kind: 'outcome', authorizationId, asks, merchant: bookshop })
    expect(await newsOf(payment.mppCredentialId)).toMatchObject([
      { event: 'agent_credential.declined', data: { amountEuros: 20 } },
    ])
    await bodyOf(client.cards.unfreeze({ params: { id: payer.card.id } }))
    const again = await begun(payer)
    expect(again.authorizationId).not.toBeNull()
    expect(await again.settle('paid')).not.toBeNull()
    expect(await balanceOf(payer.agent.id)).toEqual([80, 0])
    expect((await transactionsOf(payer.card.id)).map(({ status }) => status).sort()).toEqual([
      'completed',
      'declined',
    ])
  })

  test('that came to nothing frees the intent and its token, and a late clearing is booked all the same', async () => {
    const payer = await aPayer()
    const payment = await begun(payer)
    expect(await payment.settle('not_paid')).toBeNull()
    expect(await payment.payments()).toMatchObject([{ status: 'void', amountEuros: 20, transactionId: null }])
    expect(await transactionsOf(payer.card.id)).toEqual([])
    expect(await tokensOf(payer.card.id)).toMatchObject([
      { status: 'revoked', mppCredentialId: payment.mppCredentialId },
    ])
    const { reply, authorizationId } = await payment.authorize()
    expect(reply).toEqual(declined(/revoked/))
    const other = await begun(payer)
    expect(await other.settle('paid')).not.toBeNull()
    await payment.clear(authorizationId)
    expect(await balanceOf(payer.agent.id)).toEqual([60, 0])
    expect((await payment.payments()).map(({ status, source }) => [status, source]).sort()).toEqual([
      ['cleared', 'wallet'],
      ['confirmed', 'intent'],
    ])
    await expectVerifiedLedger(client)
  })

  test('an unpaid payment that is cleared late takes its intent again if it is free', async () => {
    const payer = await aPayer()
    const payment = await begun(payer)
    await payment.settle('not_paid')
    await payment.clear(null)
    expect(await payment.payments()).toMatchObject([{ status: 'cleared', source: 'intent' }])
    expect((await intentOf(payer.intent.id)).status).toBe('completed')
    expect(await balanceOf(payer.agent.id)).toEqual([80, 0])
    expect(await usesOf([payer.agent.id])).toEqual([{ reserved: 0, spent: 2_000, open: 0, made: 1 }])
  })

  test('a payment that the network approved stays paid despite a report that it was not', async () => {
    const payer = await aPayer()
    const payment = await begun(payer)
    await payment.authorize()
    const transactionId = await payment.settle('not_paid')
    expect(await transactionsOf(payer.card.id)).toMatchObject([
      { id: transactionId, status: 'authorization' },
    ])
    expect(await payment.payments()).toMatchObject([{ status: 'authorized', heldEuros: 20 }])
    expect(await tokensOf(payer.card.id)).toMatchObject([{ status: 'active' }])
  })

  test('is found by its token although a reversal came before its authorization', async () => {
    const payer = await aPayer()
    const payment = await begun(payer)
    const authorizationId = `turned ${payer.card.id}`
    await network.reverse(payer.card.id, authorizationId)
    expect(await payment.payments()).toHaveLength(2)
    await payment.authorize(20, { authorizationId })
    expect(await payment.payments()).toMatchObject([
      { id: payment.authorizationId, status: 'reversed', heldEuros: 0 },
    ])
    expect((await intentOf(payer.intent.id)).status).toBe('approved')
    await payment.clear(authorizationId)
    expect(await balanceOf(payer.agent.id)).toEqual([80, 0])
    await expectVerifiedLedger(client)
  })

  test('a token is authorized once: a second authorization is declined without an event', async () => {
    const payer = await aPayer({ intent: { amountEuros: 40 } })
    const payment = await begun(payer)
    await payment.authorize()
    expect((await payment.authorize()).reply).toEqual(
      declined(/pays only the intent .*, which does not cover this/),
    )
    expect((await payment.authorize(20.01)).reply.kind).toBe('declined')
    expect((await payment.payments()).map(({ status }) => status)).toEqual([
      'declined',
      'declined',
      'authorized',
    ])
    expect(await newsOf(payment.mppCredentialId)).toHaveLength(1)
  })

  test('is not taken for a purchase with the number of the card, which needs an intent of its own', async () => {
    const payer = await aPayer({ rules: { requireIntent: true } })
    const payment = await begun(payer)
    await payment.settle('paid')
    const purchase = await network.authorize(payer.card.id, 20, { descriptor: HOST })
    expect(purchase.reply).toMatchObject(declined(/needs an approved intent/))
    const { reply, authorizationId } = await payment.authorize()
    expect(reply.kind).toBe('approved')
    await payment.clear(authorizationId)
    expect(await balanceOf(payer.agent.id)).toEqual([80, 0])
  })

  test('is not authorized above the amount of the merchant’s offer', async () => {
    const payer = await aPayer({ intent: { amountEuros: 40 } })
    const payment = await begun(payer)
    expect((await payment.authorize(20.01)).reply).toEqual(declined(/€ 20\.00: € 0\.00 used, € 20\.00 left/))
  })

  test('survives a check of its card, which asks for nothing', async () => {
    const payer = await aPayer()
    const payment = await begun(payer)
    expect((await payment.authorize(0)).reply.kind).toBe('approved')
    expect((await payment.payments()).map(({ status }) => status)).toEqual(['authorized', 'pending'])
    expect(await newsOf(payment.mppCredentialId)).toEqual([])
    expect((await payment.authorize()).reply.kind).toBe('approved')
  })

  test('that is confirmed and never seen by the network is refunded after 31 days', async () => {
    const { client: own } = await service.owner()
    const payer = await aPayer({}, own)
    const payment = await begun(payer, 20, own)
    await payment.settle('paid')
    await bodyOf(own.sandbox.advance({ body: { days: 31 } }))
    expect(await payment.payments()).toMatchObject([{ status: 'expired' }])
    expect(await transactionsOf(payer.card.id, own)).toMatchObject([
      { type: 'mpp', status: 'refunded', amountEuros: 20 },
    ])
    expect(await balanceOf(payer.agent.id, own)).toEqual([100, 0])
  })

  test('is confirmed by no checkout', async () => {
    const payer = await aPayer()
    await begun(payer)
    const body = { intentId: payer.intent.id }
    const answer = await client.checkout.confirm({ body, idempotencyKey: 'confirm-1' })
    expect([answer.status, answer.code]).toEqual([400, 'intent_being_paid'])
  })
})
