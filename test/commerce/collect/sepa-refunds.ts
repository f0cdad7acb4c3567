import { describe, expect, test } from '@jest/globals'
import { aPaidRequest, refund, refundsOf } from '../../support/commerce/refunds.ts'
import {
  aRequest,
  balanceOf,
  eventsAbout,
  getRequest,
  paymentsOn,
  sendEuros,
} from '../../support/commerce/requests.ts'
import { aLiveClient, aWallet, bodyOf, type TestClient } from '../../support/factories.ts'
import { startTestService } from '../../support/harness.ts'
import { bookingOf, camt } from '../../support/money/camt.ts'
import { expectVerifiedLedger } from '../../support/verified-ledger.ts'

const service = await startTestService()

async function anOwner() {
  const owner = await service.owner()
  return { ...owner, wallet: await aWallet(owner.client) }
}

/** Without Temporal the sweep takes the steps of a transfer: it verifies the payee, then submits. */
async function untilSettled(client: TestClient): Promise<void> {
  await bodyOf(client.sandbox.advance({ body: { minutes: 1 } }))
  await bodyOf(client.sandbox.advance({ body: { minutes: 1 } }))
}

describe('what came by SEPA', () => {
  test('a SEPA credit is refunded by a transfer, and the request is refunded once it has settled', async () => {
    const { client, wallet } = await anOwner()
    const { id, reference } = await aPaidRequest(client, wallet.id)
    const begun = await bodyOf(refund(client, id))
    expect(begun).toMatchObject({ id, status: 'paid', refundedEuros: 0, refundingEuros: 25 })
    expect(begun.refunds).toMatchObject([{ way: 'sepa', status: 'pending', amountEuros: 25, failure: null }])
    const transferId = String(begun.refunds[0]?.transferId)
    const transfer = await bodyOf(client.transfers.get({ params: { id: transferId } }))
    expect(transfer).toMatchObject({
      kind: 'sepa',
      amountEuros: 25,
      fromWalletId: wallet.id,
      beneficiaryId: null,
      reference: `Refund ${reference}`,
    })
    expect(await balanceOf(client, wallet.id)).toEqual([0, 25])
    await untilSettled(client)
    expect(await getRequest(client, id)).toMatchObject({
      status: 'refunded',
      refundedEuros: 25,
      refundingEuros: 0,
    })
    expect(await refundsOf(client, id)).toMatchObject([
      { status: 'completed', transferId, completedAt: expect.any(String) },
    ])
    expect(await balanceOf(client, wallet.id)).toEqual([0, 0])
    const { data } = await bodyOf(client.transactions.list({ query: { type: 'collect' } }))
    expect(data).toMatchObject([{ status: 'refunded', refundedEuros: 25 }])
    expect((await eventsAbout(client, id)).map(({ event }) => event)).toEqual([
      'created',
      'paid',
      'refund_started',
      'refunded',
    ])
    await expectVerifiedLedger(client)
  })

  test('a refund goes to the sender that the bank reported', async () => {
    const { client, wallet } = await anOwner()
    const { id } = await aPaidRequest(client, wallet.id)
    await bodyOf(refund(client, id))
    const [{ payee } = { payee: null }] = await service.sql<{ payee: object | null }>(
      'select payee from transfers where from_wallet_id = $1',
      [wallet.id],
    )
    expect(payee).toEqual({
      name: 'Adler GmbH',
      sepaName: 'Adler GmbH',
      iban: 'DE02120300000000202051',
      bic: null,
    })
  })

  test('partial refunds never exceed the received amount', async () => {
    const { client, wallet } = await anOwner()
    const { id } = await aPaidRequest(client, wallet.id)
    await bodyOf(refund(client, id, 10))
    expect(await refund(client, id, 15.01)).toMatchObject({
      status: 400,
      code: 'refund_above_received',
      error: 'amountEuros: at most € 15.00 can be refunded.',
    })
    await untilSettled(client)
    expect(await getRequest(client, id)).toMatchObject({ status: 'paid', refundedEuros: 10 })
    const { data } = await bodyOf(client.transactions.list({ query: { type: 'collect' } }))
    expect(data).toMatchObject([{ status: 'completed', refundedEuros: 10 }])
    await bodyOf(refund(client, id, 15))
    await untilSettled(client)
    expect(await getRequest(client, id)).toMatchObject({ status: 'refunded', refundedEuros: 25 })
    expect(await refund(client, id)).toMatchObject({ status: 400, code: 'nothing_to_refund' })
  })

  /** A refund of € 10 is cancelled; `assign` books the debit of the bank, which has made its transfer all the same. */
  async function aCancelledRefund() {
    const { client, wallet } = await anOwner()
    const { id } = await aPaidRequest(client, wallet.id)
    const { refunds } = await bodyOf(refund(client, id, 10))
    const transferId = String(refunds[0]?.transferId)
    const cancelled = await bodyOf(client.transfers.cancel({ params: { id: transferId }, body: {} }))
    expect(await refundsOf(client, id)).toMatchObject([{ status: 'failed', failure: { code: 'cancelled' } }])
    const endToEndId = String(cancelled.endToEndId)
    const content = Buffer.from(camt([bookingOf(endToEndId, '10.00')])).toString('base64')
    const file = await bodyOf(service.dash.rails.read({ body: { content, mode: 'test' } }))
    const body = { endToEndId, walletId: wallet.id }
    const assign = () => bodyOf(service.dash.rails.assign({ params: { id: file.id }, body }))
    return { client, wallet, id, transferId, assign }
  }

  test('a cancelled refund that the bank has made all the same is refunded, and not again', async () => {
    const { client, wallet, id, transferId, assign } = await aCancelledRefund()
    await assign()
    expect(await balanceOf(client, wallet.id)).toEqual([15, 0])
    expect(await refundsOf(client, id)).toMatchObject([{ status: 'completed', failure: null }])
    expect(await getRequest(client, id)).toMatchObject({
      status: 'paid',
      refundedEuros: 10,
      refundingEuros: 0,
    })
    expect(await refund(client, id, 15.01)).toMatchObject({ code: 'refund_above_received' })
    await bodyOf(client.transfers.simulateReturn({ body: { transferId } }))
    expect(await refundsOf(client, id)).toMatchObject([{ status: 'returned' }])
    expect(await getRequest(client, id)).toMatchObject({
      status: 'paid',
      refundedEuros: 0,
      refundingEuros: 0,
    })
    expect(await balanceOf(client, wallet.id)).toEqual([25, 0])
    await expectVerifiedLedger(client)
  })

  test('a cancelled refund that was made again stays failed: the bank has paid twice', async () => {
    const { client, id, transferId, assign } = await aCancelledRefund()
    await bodyOf(refund(client, id))
    await untilSettled(client)
    expect(await assign()).toMatchObject({ id: transferId, status: 'completed' })
    expect((await refundsOf(client, id)).map(({ status }) => status).sort()).toEqual(['completed', 'failed'])
    expect(await getRequest(client, id)).toMatchObject({ status: 'refunded', refundedEuros: 25 })
    expect(await bodyOf(client.billing.balance({}))).toMatchObject({ availableEuros: 0, owedEuros: 10 })
    await expectVerifiedLedger(client)
  })

  test('a cancelled refund that was made again in another amount counts for what is left of the payment', async () => {
    const { client, id, transferId, assign } = await aCancelledRefund()
    await bodyOf(refund(client, id, 20))
    await untilSettled(client)
    expect(await assign()).toMatchObject({ id: transferId, status: 'completed', amountEuros: 10 })
    expect(await refundsOf(client, id)).toMatchObject([
      { status: 'completed', amountEuros: 5, failure: null, transferId },
      { status: 'completed', amountEuros: 20 },
    ])
    expect(await getRequest(client, id)).toMatchObject({ status: 'refunded', refundedEuros: 25 })
    expect(await refund(client, id, 0.01)).toMatchObject({ code: 'nothing_to_refund' })
    await bodyOf(client.transfers.simulateReturn({ body: { transferId } }))
    expect(await getRequest(client, id)).toMatchObject({
      status: 'paid',
      refundedEuros: 20,
      refundingEuros: 0,
    })
    await expectVerifiedLedger(client)
  })

  test('concurrent refund requests refund once', async () => {
    const { client, wallet } = await anOwner()
    const { id } = await aPaidRequest(client, wallet.id)
    // Other money in the wallet does not raise the limit: only received payments can be refunded.
    await bodyOf(client.fund.wallet({ params: { id: wallet.id }, body: { amountEuros: 500 } }))
    const answers = await Promise.all(Array.from({ length: 10 }, () => refund(client, id, 4)))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(6)
    expect(new Set(answers.filter(({ status }) => status !== 200).map(({ code }) => code))).toEqual(
      new Set(['refund_above_received']),
    )
    await untilSettled(client)
    expect(await getRequest(client, id)).toMatchObject({ refundedEuros: 24, refundingEuros: 0 })
    expect(await balanceOf(client, wallet.id)).toEqual([501, 0])
    await expectVerifiedLedger(client)
  })

  test('the newest payment is refunded first: the surplus to its sender', async () => {
    const { client, wallet } = await anOwner()
    const { id } = await aPaidRequest(client, wallet.id, [20, 12])
    const { refunds } = await bodyOf(refund(client, id, 14))
    const [first, second] = await paymentsOn(client, id)
    expect(refunds.map(({ paymentId, amountEuros }) => [paymentId, amountEuros])).toEqual([
      [second?.id, 12],
      [first?.id, 2],
    ])
    await untilSettled(client)
    expect(await getRequest(client, id)).toMatchObject({ status: 'paid', refundedEuros: 14 })
  })

  test.each(['expired', 'cancelled'] as const)('for a request that is %s can go back', async status => {
    const { client, wallet } = await anOwner()
    const { id, reference } = await aRequest(client, wallet.id, { expiresInHours: 1 })
    await sendEuros(client, 5, reference)
    if (status === 'cancelled') await bodyOf(client.collect.cancel({ params: { id }, body: {} }))
    else await bodyOf(client.sandbox.advance({ body: { minutes: 60 } }))
    await sendEuros(client, 25, reference)
    expect(await bodyOf(refund(client, id))).toMatchObject({ refundingEuros: 30 })
    await untilSettled(client)
    expect(await getRequest(client, id)).toMatchObject({ status, refundedEuros: 30, surplusEuros: 25 })
  })

  test('is in the wallet again when the bank rejects the transfer, and can go back once more', async () => {
    const { client, wallet } = await anOwner()
    const request = await aRequest(client, wallet.id, { amountEuros: 666.01 })
    await sendEuros(client, 666.01, request.reference)
    await bodyOf(refund(client, request.id))
    await untilSettled(client)
    expect(await getRequest(client, request.id)).toMatchObject({
      status: 'paid',
      refundedEuros: 0,
      refundingEuros: 0,
    })
    expect(await refundsOf(client, request.id)).toMatchObject([
      { status: 'failed', failure: { code: 'rejected', message: expect.stringMatching(/closed/) } },
    ])
    expect(await balanceOf(client, wallet.id)).toEqual([666.01, 0])
    expect((await eventsAbout(client, request.id)).at(-1)).toMatchObject({
      event: 'refund_failed',
      refundEuros: 666.01,
      refundedEuros: 0,
    })
    await bodyOf(refund(client, request.id, 600))
    await untilSettled(client)
    expect(await getRequest(client, request.id)).toMatchObject({ refundedEuros: 600 })
    await expectVerifiedLedger(client)
  })

  test('a refund that the sender’s bank returns makes the request paid again', async () => {
    const { client, wallet } = await anOwner()
    const { id } = await aPaidRequest(client, wallet.id)
    const { refunds } = await bodyOf(refund(client, id))
    await untilSettled(client)
    const transferId = String(refunds[0]?.transferId)
    await bodyOf(client.transfers.simulateReturn({ body: { transferId, reasonCode: 'AC04' } }))
    expect(await getRequest(client, id)).toMatchObject({ status: 'paid', refundedEuros: 0 })
    expect(await refundsOf(client, id)).toMatchObject([{ status: 'returned', failure: { code: 'returned' } }])
    expect(await balanceOf(client, wallet.id)).toEqual([25, 0])
    const { data } = await bodyOf(client.transactions.list({ query: { type: 'collect' } }))
    expect(data).toMatchObject([{ status: 'completed', refundedEuros: 0 }])
    expect(await bodyOf(refund(client, id))).toMatchObject({ refundingEuros: 25 })
    await expectVerifiedLedger(client)
  })

  test('a refund of a verified owner fails with its transfer when the operator suspends the owner', async () => {
    const owner = await anOwner()
    const { client, ownerId, wallet } = owner
    await aLiveClient(service, owner)
    const { id } = await aPaidRequest(client, wallet.id)
    await bodyOf(refund(client, id))
    const setStatus = (status: 'suspended' | 'active') =>
      bodyOf(service.dash.customers.update({ params: { id: ownerId }, body: { status } }))
    await setStatus('suspended')
    await setStatus('active')
    expect(await refundsOf(client, id)).toMatchObject([{ status: 'failed', failure: { code: 'cancelled' } }])
    expect(await getRequest(client, id)).toMatchObject({ refundedEuros: 0, refundingEuros: 0 })
    expect(await balanceOf(client, wallet.id)).toEqual([25, 0])
    expect((await eventsAbout(client, id)).at(-1)).toMatchObject({ event: 'refund_failed', refundEuros: 25 })
    await expectVerifiedLedger(client)
  })

  test('one Idempotency-Key refunds once', async () => {
    const { client, key, wallet } = await anOwner()
    const { id } = await aPaidRequest(client, wallet.id)
    const options = { token: key, body: { amountEuros: 5 }, headers: { 'idempotency-key': 'refund-once' } }
    const path = `/collect/requests/${id}/refund`
    const first = await service.http('POST', path, options)
    const again = await service.http('POST', path, options)
    expect([first.status, again.status, again.body]).toEqual([200, 200, first.body])
    expect(await getRequest(client, id)).toMatchObject({ refundingEuros: 5 })
  })
})
