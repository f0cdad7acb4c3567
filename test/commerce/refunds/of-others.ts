import { describe, expect, test } from '@jest/globals'
import { newId } from '../../../src/values/ids.ts'
import { statusCounts, times } from '../../support/at-once.ts'
import { aRequest, sendEuros } from '../../support/commerce/requests.ts'
import { aSepaTransfer, aWallet, bodyOf } from '../../support/factories.ts'
import { expectVerifiedLedger } from '../../support/verified-ledger.ts'
import { anOwner, ask, balanceOf, refundsOf, service, told, transactionOf } from './service.ts'

async function aPaidRequest(euros = 25) {
  const owner = await anOwner()
  const wallet = await aWallet(owner.client)
  const request = await aRequest(owner.client, wallet.id)
  await sendEuros(owner.client, euros, request.reference)
  const { data } = await bodyOf(owner.client.transactions.list({ query: { type: 'collect' } }))
  return { ...owner, wallet, request, transactionId: String(data[0]?.id) }
}

describe('a refund of what was paid to a request', () => {
  test('is the request’s own: one record, whichever operation asks for it', async () => {
    const { client, request, wallet, transactionId } = await aPaidRequest()
    const params = { id: request.id }
    const one = await bodyOf(ask(client, transactionId, 10))
    expect(one).toMatchObject({
      transactionId,
      status: 'pending',
      way: 'sepa',
      source: { type: 'request_refund' },
    })
    const { refunds } = await bodyOf(client.collect.refund({ params, body: { amountEuros: 5 } }))
    const all = await refundsOf(client, transactionId)
    expect(all.map(({ source }) => source?.id)).toEqual([one.source?.id, refunds[0]?.id])
    expect((await bodyOf(client.collect.refunds({ params }))).data).toHaveLength(2)
    await bodyOf(client.sandbox.advance({ body: { minutes: 2 } }))
    expect(await refundsOf(client, transactionId)).toMatchObject([
      { status: 'completed', amountEuros: 10 },
      { status: 'completed', amountEuros: 5 },
    ])
    expect(await transactionOf(client, transactionId)).toMatchObject({
      status: 'completed',
      refundedEuros: 15,
    })
    expect(await balanceOf(client, wallet.id)).toBe(10)
    const cancelled = await client.refunds.cancel({ params: { id: one.id } })
    expect(cancelled).toMatchObject({ status: 400, code: 'refund_not_pending' })
    await expectVerifiedLedger(client)
  })

  test('by both operations at once is no more than has come', async () => {
    const { client, any, request, transactionId } = await aPaidRequest()
    const params = { id: request.id }
    const answers: { status: number }[] = await times<{ status: number }>(12, n =>
      n % 3 === 0
        ? any(n).collect.refund({ params, body: { amountEuros: 10 } })
        : ask(any(n), transactionId, 10),
    )
    expect(answers.filter(({ status }) => status < 300)).toHaveLength(2)
    expect(statusCounts(answers)[400]).toBe(10)
    expect(await refundsOf(client, transactionId)).toHaveLength(2)
  })
})

const INSERT_PENDING = `
insert into refunds (owner_id, mode, id, created_at, updated_at, transaction_id, status, origin, way, amount_cents,
  arrived_cents, reason, attempts)
select owner_id, mode, $2, now(), now(), id, 'pending', 'asked', 'sepa', $3, 0, 'other', 0 from transactions where id = $1`

test('the database itself takes only those refunds at once that fit the payment', async () => {
  const { client, transactionId } = await aPaidRequest()
  await bodyOf(ask(client, transactionId, 4))
  const written = await Promise.allSettled(
    Array.from({ length: 12 }, () => service.sql(INSERT_PENDING, [transactionId, newId('refund'), 500])),
  )
  expect(written.filter(({ status }) => status === 'fulfilled')).toHaveLength(4)
  const reasons = written.flatMap(one => (one.status === 'rejected' ? [String(one.reason)] : []))
  expect(new Set(reasons)).toEqual(
    new Set(['error: the refunds and disputes of a payment must not exceed it']),
  )
})

describe('a transfer by SEPA', () => {
  test('a recalled transfer’s return is a refund of the same transaction', async () => {
    const { client, ownerId } = await anOwner()
    const { id } = await aSepaTransfer(client)
    await bodyOf(client.sandbox.advance({ body: { minutes: 2 } }))
    const { transactionId, fromWalletId } = await bodyOf(client.transfers.get({ params: { id } }))
    const refused = await ask(client, String(transactionId))
    expect(refused).toMatchObject({ status: 400, code: 'recall_it' })
    expect(refused).toMatchObject({ error: expect.stringContaining(`POST /transfers/${id}/recall`) })
    await bodyOf(client.transfers.simulateReturn({ body: { transferId: id, reasonCode: 'AC04' } }))
    expect(await refundsOf(client, String(transactionId))).toMatchObject([
      {
        ...{ status: 'completed', origin: 'bank', way: 'sepa', amountEuros: 12.5, walletId: fromWalletId },
        source: { type: 'transfer', id },
      },
    ])
    const events = await told(ownerId, 'transaction.refunded')
    expect(events.map(({ data }) => data.status)).toEqual(['refunded'])
    expect(await ask(client, String(transactionId))).toMatchObject({ status: 400, code: 'recall_it' })
  })

  test('a return to a closed wallet goes to the owner', async () => {
    const { client } = await anOwner()
    const home = await aWallet(client)
    const wallet = await aWallet(client, 12.5)
    const { id } = await aSepaTransfer(client, { fromWalletId: wallet.id })
    await bodyOf(client.sandbox.advance({ body: { minutes: 2 } }))
    await bodyOf(client.wallets.close({ params: { id: wallet.id } }))
    await bodyOf(client.transfers.simulateReturn({ body: { transferId: id, reasonCode: 'AC04' } }))
    const [refund] = await refundsOf(client)
    expect(refund).toMatchObject({ status: 'completed', amountEuros: 12.5 })
    const balance = await balanceOf(client, String(refund?.walletId))
    expect([refund?.walletId === home.id || balance === 12.5, balance]).toEqual([true, 12.5])
    const transfer = await bodyOf(client.transfers.get({ params: { id } }))
    expect(transfer.reason?.message).toContain(String(refund?.walletId))
    await expectVerifiedLedger(client)
  })
})
