import { describe, expect, test } from '@jest/globals'
import { refund, refundsOf } from '../../support/commerce/refunds.ts'
import { aRequest, getRequest, paymentsOn } from '../../support/commerce/requests.ts'
import { bodyOf, type TestClient } from '../../support/factories.ts'
import { startPayingOwners } from '../../support/money/paying-owners.ts'

const { service, owners, pay, wallet, balanceOf, proveLedgers, withoutArrivals } = await startPayingOwners()
const [payer, payee] = owners

async function aRequestPaid(by = payer) {
  const from = await wallet(by, 40)
  const to = await wallet(payee)
  const client = payee.client as unknown as TestClient
  const { id } = await aRequest(client, to)
  await bodyOf(pay(by, payee, { from, to, amountEuros: 25, payableId: id }))
  return { client, id, from, to }
}

describe('a request that was paid from a wallet of another owner', () => {
  test('is paid by it, and a refund credits that wallet immediately', async () => {
    const { client, id, from, to } = await aRequestPaid()
    expect(await getRequest(client, id)).toMatchObject({ status: 'paid', paidBy: 'wallet', paidEuros: 25 })
    expect(await paymentsOn(client, id)).toMatchObject([{ way: 'wallet', amountEuros: 25, walletId: to }])
    const part = await bodyOf(refund(client, id, 10))
    expect(part).toMatchObject({ status: 'paid', refundedEuros: 10, refundingEuros: 0 })
    expect(part.refunds).toMatchObject([{ way: 'wallet', status: 'completed', amountEuros: 10 }])
    expect([await balanceOf(payer, from), await balanceOf(payee, to)]).toEqual([25, 15])
    expect(await bodyOf(refund(client, id))).toMatchObject({ status: 'refunded', refundedEuros: 25 })
    expect([await balanceOf(payer, from), await balanceOf(payee, to)]).toEqual([40, 0])
    expect(await refund(client, id)).toMatchObject({ status: 400, code: 'nothing_to_refund' })
    await proveLedgers()
  })

  test('refunds once under concurrent requests', async () => {
    const { client, id, from, to } = await aRequestPaid()
    const answers = await Promise.all(Array.from({ length: 8 }, () => refund(client, id, 10)))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(2)
    expect([await balanceOf(payer, from), await balanceOf(payee, to)]).toEqual([35, 5])
    await proveLedgers()
  })

  test('refunds nothing if its payer cannot book it', async () => {
    const { client, id, from, to } = await aRequestPaid()
    expect((await withoutArrivals(() => refund(client, id))).status).toBe(500)
    expect([await balanceOf(payer, from), await balanceOf(payee, to)]).toEqual([15, 25])
    expect(await bodyOf(refund(client, id))).toMatchObject({ status: 'refunded' })
    expect([await balanceOf(payer, from), await balanceOf(payee, to)]).toEqual([40, 0])
    expect(await refundsOf(client, id)).toMatchObject([{ status: 'completed', amountEuros: 25 }])
    await proveLedgers()
  })
})

test('a request paid from a wallet of the same owner is refunded to it', async () => {
  const { client, id, from, to } = await aRequestPaid(payee)
  expect(await getRequest(client, id)).toMatchObject({ status: 'paid', paidBy: 'wallet' })
  expect(await bodyOf(refund(client, id))).toMatchObject({ status: 'refunded', refundedEuros: 25 })
  expect([await balanceOf(payee, from), await balanceOf(payee, to)]).toEqual([40, 0])
  await proveLedgers()
})

test('a refund to a closed wallet of the same owner goes to the owner’s first wallet', async () => {
  const owner = await service.owner()
  const [first, from, to] = [await wallet(owner), await wallet(owner, 25), await wallet(owner)]
  const client = owner.client as unknown as TestClient
  const { id } = await aRequest(client, to)
  await bodyOf(pay(owner, owner, { from, to, amountEuros: 25, payableId: id }))
  await bodyOf(client.wallets.close({ params: { id: from } }))
  expect(await bodyOf(refund(client, id))).toMatchObject({ status: 'refunded', refundedEuros: 25 })
  expect([await balanceOf(owner, first), await balanceOf(owner, to)]).toEqual([25, 0])
  await proveLedgers()
})
