import { describe, expect, test } from '@jest/globals'
import { bodyOf } from '../../support/factories.ts'
import { expectVerifiedLedger } from '../../support/verified-ledger.ts'
import { aPayer, balanceOf, begun, client, newsOf, transactionsOf } from './service.ts'

type Ask = 'charge' | 'stateOf' | 'refund'

const ask = (way: Ask, plain: object, reference: string, more: object = {}) =>
  bodyOf(client.machinePayments.charge({ body: { ask: way, plain, amountEuros: 20, reference, ...more } }))

async function aCredential() {
  const payer = await aPayer()
  const payment = await begun(payer)
  return {
    payer,
    payment,
    plain: await payment.plain(),
    reference: `challenge of ${payment.mppCredentialId}`,
  }
}

describe('the acquirer of test mode', () => {
  test('charges the token of a sandbox card by authorization and clearing: the payment that was begun', async () => {
    const { payer, payment, plain, reference } = await aCredential()
    expect(await ask('charge', plain, reference)).toEqual({ outcome: 'approved', code: null, reason: null })
    expect(await payment.payments()).toMatchObject([
      { id: payment.authorizationId, status: 'cleared', clearedEuros: 20, descriptor: 'AGENTPAY *SHOP' },
    ])
    expect(await balanceOf(payer.agent.id)).toEqual([80, 0])
    expect(await newsOf(payment.mppCredentialId)).toHaveLength(2)
    expect(await payment.settle('paid')).toBe((await transactionsOf(payer.card.id))[0]?.id)
    await expectVerifiedLedger(client)
  })

  test('charges once per reference under concurrent and repeated calls', async () => {
    const { payer, plain, reference } = await aCredential()
    const handle = 'charge' as const
    const answers = await Promise.all([
      ...Array.from({ length: 10 }, () => ask(handle, plain, reference)),
      ...Array.from({ length: 5 }, () => ask('stateOf', plain, reference)),
    ])
    for (const answer of answers) expect(answer.outcome).toBe('approved')
    expect(await balanceOf(payer.agent.id)).toEqual([80, 0])
    expect(await transactionsOf(payer.card.id)).toMatchObject([{ status: 'completed', amountEuros: 20 }])
  })

  test('is declined under another reference, and for more than the token is for', async () => {
    const { payer, plain, reference } = await aCredential()
    const more = await ask('charge', plain, reference, { amountEuros: 20.01 })
    expect(more).toMatchObject({
      outcome: 'declined',
      reason: expect.stringMatching(/limit of the network token/),
    })
    const other = await aCredential()
    await ask('charge', other.plain, other.reference)
    expect(await ask('charge', other.plain, `${other.reference} again`)).toMatchObject({
      outcome: 'declined',
    })
    expect(await balanceOf(other.payer.agent.id)).toEqual([80, 0])
    expect(await balanceOf(payer.agent.id)).toEqual([78, 22])
  })

  test('reports the issuer’s reason for a decline', async () => {
    const { payer, plain, reference } = await aCredential()
    await bodyOf(client.cards.freeze({ params: { id: payer.card.id } }))
    const frozen = { outcome: 'declined', code: 'declined', reason: expect.stringMatching(/frozen/) }
    expect(await ask('charge', plain, reference)).toEqual(frozen)
    expect(await ask('stateOf', plain, reference)).toEqual(frozen)
  })

  test('refunds a part of a charge, once per refund reference', async () => {
    const { payer, plain, reference } = await aCredential()
    await ask('charge', plain, reference)
    const refund = (refundReference: string, amountEuros: number) =>
      ask('refund', plain, reference, { refundReference, amountEuros })
    for (const name of ['one', 'one', 'two']) expect((await refund(name, 5)).outcome).toBe('approved')
    expect(await balanceOf(payer.agent.id)).toEqual([90, 0])
    expect(await transactionsOf(payer.card.id)).toMatchObject([{ type: 'mpp', refundedEuros: 10 }])
    await expectVerifiedLedger(client)
  })
})
