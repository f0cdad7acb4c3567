import { describe, expect, test } from '@jest/globals'
import {
  aRequest,
  balanceOf,
  eventsAbout,
  getRequest,
  paymentsOn,
  sendEuros,
} from '../../support/commerce/requests.ts'
import { aWallet, bodyOf } from '../../support/factories.ts'
import { startTestService } from '../../support/harness.ts'
import { expectVerifiedLedger } from '../../support/verified-ledger.ts'

const service = await startTestService()

async function anOwner() {
  const { client, ownerId } = await service.owner()
  return { client, ownerId, wallet: await aWallet(client) }
}

describe('a SEPA credit that names the request', () => {
  test('pays it in the same transaction, and is a transaction of the type collect', async () => {
    const { client, wallet } = await anOwner()
    const request = await aRequest(client, wallet.id)
    const { id: creditId } = await sendEuros(client, 25, `Thank you! ${request.reference}`)
    const paid = await getRequest(client, request.id)
    expect(paid).toMatchObject({ status: 'paid', paidEuros: 25, surplusEuros: 0, paidBy: 'sepa' })
    expect(paid.paidAt).toEqual(expect.any(String))
    expect(await balanceOf(client, wallet.id)).toEqual([25, 0])
    const [payment, ...others] = await paymentsOn(client, request.id)
    expect(others).toEqual([])
    expect(payment).toMatchObject({
      requestId: request.id,
      way: 'sepa',
      status: 'received',
      amountEuros: 25,
      countedEuros: 25,
      surplusReason: null,
      walletId: wallet.id,
      sourceId: creditId,
    })
    const { data } = await bodyOf(client.transactions.list({ query: { type: 'collect' } }))
    expect(data).toMatchObject([
      {
        id: payment?.transactionId,
        type: 'collect',
        status: 'completed',
        amountEuros: 25,
        merchant: 'Report 17',
        walletId: wallet.id,
        witnesses: [
          { type: 'payment_request', id: request.id },
          { type: 'credit', id: creditId },
        ],
      },
    ])
    expect(await eventsAbout(client, request.id)).toEqual([
      { event: 'created', requestId: request.id, status: 'open', amountEuros: 25 },
      { event: 'paid', requestId: request.id, status: 'paid', amountEuros: 25 },
    ])
    await expectVerifiedLedger(client)
  })

  test('with less than is due adds up until all of it is there', async () => {
    const { client, wallet } = await anOwner()
    const { id, reference } = await aRequest(client, wallet.id)
    await sendEuros(client, 10, reference)
    expect(await getRequest(client, id)).toMatchObject({ status: 'open', paidEuros: 10, paidBy: null })
    await sendEuros(client, 14.99, reference)
    expect(await getRequest(client, id)).toMatchObject({ status: 'open', paidEuros: 24.99 })
    await sendEuros(client, 0.01, reference)
    expect(await getRequest(client, id)).toMatchObject({ status: 'paid', paidEuros: 25, surplusEuros: 0 })
    expect((await eventsAbout(client, id)).map(({ event, paidEuros }) => [event, paidEuros])).toEqual([
      ['created', undefined],
      ['partially_paid', 10],
      ['partially_paid', 24.99],
      ['paid', undefined],
    ])
  })

  test('with more than is due leaves the rest in the wallet, marked', async () => {
    const { client, wallet } = await anOwner()
    const { id, reference } = await aRequest(client, wallet.id)
    await sendEuros(client, 20, reference)
    await sendEuros(client, 12.5, reference)
    expect(await getRequest(client, id)).toMatchObject({ status: 'paid', paidEuros: 25, surplusEuros: 7.5 })
    expect(await paymentsOn(client, id)).toMatchObject([
      { amountEuros: 20, countedEuros: 20, surplusReason: null },
      { amountEuros: 12.5, countedEuros: 5, surplusReason: 'above_amount' },
    ])
    expect((await eventsAbout(client, id)).at(-1)).toMatchObject({
      event: 'surplus_received',
      status: 'paid',
      surplusEuros: 7.5,
      reason: 'above_amount',
    })
    expect(await balanceOf(client, wallet.id)).toEqual([32.5, 0])
  })

  test.each(['already_paid', 'cancelled', 'expired'] as const)(
    'after it is over stays in the wallet, marked as %s',
    async surplusReason => {
      const { client, wallet } = await anOwner()
      const { id, reference } = await aRequest(client, wallet.id, { expiresInHours: 1 })
      if (surplusReason === 'already_paid') await sendEuros(client, 25, reference)
      if (surplusReason === 'cancelled') await bodyOf(client.collect.cancel({ params: { id }, body: {} }))
      if (surplusReason === 'expired') await bodyOf(client.sandbox.advance({ body: { minutes: 60 } }))
      const before = await getRequest(client, id)
      await sendEuros(client, 25, reference)
      const after = await getRequest(client, id)
      expect([after.status, after.paidEuros]).toEqual([before.status, before.paidEuros])
      expect(after.surplusEuros).toBe(25)
      expect((await paymentsOn(client, id)).at(-1)).toMatchObject({ countedEuros: 0, surplusReason })
      expect((await balanceOf(client, wallet.id))[0]).toBe(before.paidEuros + 25)
      await expectVerifiedLedger(client)
    },
  )

  test('after the refund does not pay the request again', async () => {
    const { client, wallet } = await anOwner()
    const { id, reference } = await aRequest(client, wallet.id)
    await sendEuros(client, 25, reference)
    await bodyOf(client.collect.refund({ params: { id }, body: {} }))
    await bodyOf(client.sandbox.advance({ body: { minutes: 2 } }))
    const before = await getRequest(client, id)
    expect(before).toMatchObject({ status: 'refunded', refundedEuros: 25 })
    await sendEuros(client, 30, reference)
    const { status, paidAt, surplusEuros } = await getRequest(client, id)
    expect([status, paidAt, surplusEuros]).toEqual(['refunded', before.paidAt, 30])
    const events = (await eventsAbout(client, id)).map(({ event }) => event)
    expect(events.filter(event => event === 'paid')).toHaveLength(1)
    expect(events.at(-1)).toBe('surplus_received')
    await bodyOf(client.collect.refund({ params: { id }, body: {} }))
    await bodyOf(client.sandbox.advance({ body: { minutes: 2 } }))
    expect(await getRequest(client, id)).toMatchObject({ status: 'refunded', refundedEuros: 55 })
    await expectVerifiedLedger(client)
  })

  test('once the deadline has passed is late, though nothing has ended the request yet', async () => {
    const { client, ownerId, wallet } = await anOwner()
    const { id, reference } = await aRequest(client, wallet.id, { expiresInHours: 1 })
    await service.sql(`insert into tenant_clocks values ($1, 'test', $2)`, [ownerId, 3_600_000])
    await sendEuros(client, 25, reference)
    expect(await getRequest(client, id)).toMatchObject({ status: 'expired', paidEuros: 0, surplusEuros: 25 })
    expect((await eventsAbout(client, id)).map(({ event }) => event)).toEqual([
      'created',
      'expired',
      'surplus_received',
    ])
  })

  test('a credit counts once, however often the bank reports it', async () => {
    const { client, wallet } = await anOwner()
    const { id, reference } = await aRequest(client, wallet.id)
    const bankReference = '2026112000017'
    await Promise.all(
      Array.from({ length: 4 }, () => sendEuros(client, 10, reference, { bankReference }).catch(() => null)),
    )
    expect(await getRequest(client, id)).toMatchObject({ paidEuros: 10 })
    expect(await paymentsOn(client, id)).toHaveLength(1)
  })

  test('21 concurrent credits are counted to the cent', async () => {
    const { client, wallet } = await anOwner()
    const { id, reference } = await aRequest(client, wallet.id)
    await Promise.all(Array.from({ length: 20 }, () => sendEuros(client, 1.5, reference)))
    expect(await getRequest(client, id)).toMatchObject({ status: 'paid', paidEuros: 25, surplusEuros: 5 })
    const payments = await paymentsOn(client, id)
    expect(payments.reduce((sum, { countedEuros }) => sum + countedEuros * 100, 0)).toBe(2_500)
    expect((await eventsAbout(client, id)).filter(({ event }) => event === 'paid')).toHaveLength(1)
  })
})

test('a credit of another owner that names the request pays nothing', async () => {
  const { client, wallet } = await anOwner()
  const { id, reference } = await aRequest(client, wallet.id)
  const stranger = await anOwner()
  const credit = await sendEuros(stranger.client, 25, reference)
  expect(credit).toMatchObject({ status: 'unmatched' })
  expect(await getRequest(client, id)).toMatchObject({ status: 'open', paidEuros: 0 })
})
