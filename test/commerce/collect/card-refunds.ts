import { describe, expect, test } from '@jest/globals'
import { payByCard, recordingAcquirer, refund, refundsOf } from '../../support/commerce/refunds.ts'
import { aRequest, balanceOf, eventsAbout, getRequest } from '../../support/commerce/requests.ts'
import { aWallet, bodyOf, type TestClient } from '../../support/factories.ts'
import { startTestService } from '../../support/harness.ts'
import { expectVerifiedLedger } from '../../support/verified-ledger.ts'

const outside = recordingAcquirer()
const service = await startTestService({ outside: { acquirer: () => outside.acquirer } })

async function aRequestPaidByCard() {
  const { client, key } = await service.owner()
  const wallet = await aWallet(client)
  const request = await aRequest(client, wallet.id)
  await payByCard(service, client, request)
  outside.asked.length = 0
  outside.answerWith()
  return { client, key, wallet, id: request.id }
}

const minuteLater = (client: TestClient) => bodyOf(client.sandbox.advance({ body: { minutes: 1 } }))

describe('a payment by card', () => {
  test('is refunded by the acquirer at once, in parts, each under a reference of its own', async () => {
    const { client, wallet, id } = await aRequestPaidByCard()
    const half = await bodyOf(refund(client, id, 10))
    expect(half).toMatchObject({ status: 'paid', refundedEuros: 10, refundingEuros: 0 })
    expect(half.refunds).toMatchObject([{ way: 'card', status: 'completed', amountEuros: 10 }])
    expect(await bodyOf(refund(client, id))).toMatchObject({ status: 'refunded', refundedEuros: 25 })
    expect(outside.asked.map(({ amountCents }) => amountCents)).toEqual([1_000n, 1_500n])
    expect(new Set(outside.asked.map(({ refundReference }) => refundReference)).size).toBe(2)
    expect(new Set(outside.asked.map(({ reference }) => reference)).size).toBe(1)
    expect(await balanceOf(client, wallet.id)).toEqual([0, 0])
    expect((await eventsAbout(client, id)).map(({ event }) => event)).toEqual([
      'created',
      'refund_started',
      'refunded',
      'refund_started',
      'refunded',
    ])
    await expectVerifiedLedger(client)
  })

  test('whose refund is declined keeps its money, and can be refunded once more', async () => {
    const { client, wallet, id } = await aRequestPaidByCard()
    outside.answerWith({ outcome: 'declined', code: 'closed', reason: 'The card is closed.' })
    const answer = await bodyOf(refund(client, id))
    expect(answer).toMatchObject({ status: 'paid', refundedEuros: 0, refundingEuros: 0 })
    expect(answer.refunds).toMatchObject([
      { status: 'failed', failure: { code: 'closed', message: 'The card is closed.' } },
    ])
    expect(await balanceOf(client, wallet.id)).toEqual([25, 0])
    expect(await bodyOf(refund(client, id))).toMatchObject({ status: 'refunded' })
  })

  test.each(['late', 'unusable'] as const)(
    'whose refund is answered %s is asked for again under the same reference, until that is known',
    async outcome => {
      const { client, wallet, id } = await aRequestPaidByCard()
      outside.answerWith({ outcome }, { outcome })
      const before = outside.givenCents()
      expect(await bodyOf(refund(client, id))).toMatchObject({ status: 'paid', refundingEuros: 25 })
      expect(await balanceOf(client, wallet.id)).toEqual([0, 25])
      expect(await refund(client, id)).toMatchObject({ code: 'nothing_to_refund' })
      await minuteLater(client)
      await minuteLater(client)
      expect(await getRequest(client, id)).toMatchObject({ status: 'paid', refundingEuros: 25 })
      await bodyOf(client.sandbox.advance({ body: { minutes: 10 } }))
      expect(await getRequest(client, id)).toMatchObject({ status: 'refunded', refundedEuros: 25 })
      expect(outside.asked).toHaveLength(3)
      expect(new Set(outside.asked.map(({ refundReference }) => refundReference)).size).toBe(1)
      expect(outside.givenCents() - before).toBe(2_500n)
      await expectVerifiedLedger(client)
    },
  )

  test('is refunded once, though the request ended between the call and its record', async () => {
    const { client, wallet, id } = await aRequestPaidByCard()
    const { refund: give } = outside.acquirer
    Object.assign(outside.acquirer, {
      async refund(...asked: Parameters<typeof give>) {
        await give(...asked)
        throw new Error('The process has gone.')
      },
    })
    const before = outside.givenCents()
    expect(await refund(client, id)).toMatchObject({ status: 500 })
    Object.assign(outside.acquirer, { refund: give })
    expect(await getRequest(client, id)).toMatchObject({ status: 'paid', refundingEuros: 25 })
    const doubtful = async () => (await bodyOf(client.doubtfulMoney.list())).data.map(({ kind }) => kind)
    expect(await doubtful()).toEqual(['request_refund'])
    await minuteLater(client)
    expect(await getRequest(client, id)).toMatchObject({ status: 'refunded', refundingEuros: 0 })
    expect(await doubtful()).toEqual([])
    expect(await refundsOf(client, id)).toMatchObject([{ status: 'completed' }])
    expect(outside.givenCents() - before).toBe(2_500n)
    expect(await balanceOf(client, wallet.id)).toEqual([0, 0])
    await expectVerifiedLedger(client)
  })

  test('concurrent refunds never exceed the received amount', async () => {
    const { client, wallet, id } = await aRequestPaidByCard()
    await bodyOf(client.fund.wallet({ params: { id: wallet.id }, body: { amountEuros: 500 } }))
    const before = outside.givenCents()
    const answers = await Promise.all(Array.from({ length: 10 }, () => refund(client, id, 4)))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(6)
    expect(outside.givenCents() - before).toBe(2_400n)
    expect(await balanceOf(client, wallet.id)).toEqual([501, 0])
  })

  test('is refunded once under one key', async () => {
    const { key, id } = await aRequestPaidByCard()
    const options = { token: key, body: {}, headers: { 'idempotency-key': `refund-${id}` } }
    const path = `/collect/requests/${id}/refund`
    const first = await service.http('POST', path, options)
    const again = await service.http('POST', path, options)
    expect([again.status, again.body]).toEqual([200, first.body])
    expect(outside.asked).toHaveLength(1)
  })
})
