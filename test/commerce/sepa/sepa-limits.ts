import { describe, expect, test } from '@jest/globals'
import { statusCounts, times } from '../../support/at-once.ts'
import { aBeneficiary, aSepaTransfer, aWallet, bodyOf, type TestClient } from '../../support/factories.ts'
import { startTestService } from '../../support/harness.ts'
import { expectVerifiedLedger } from '../../support/verified-ledger.ts'

const service = await startTestService()

async function anOwner(limits: { singleEuros?: number; dailyEuros?: number } = {}) {
  const { ownerId, client } = await service.owner()
  const set = (singleEuros: number | null, dailyEuros: number | null, mode: 'test' | 'live' = 'test') =>
    service.dash.transfers.setLimits({ params: { id: ownerId }, body: { mode, singleEuros, dailyEuros } })
  await bodyOf(set(limits.singleEuros ?? null, limits.dailyEuros ?? null))
  const wallet = await aWallet(client, 1_000)
  const { id: beneficiaryId } = await aBeneficiary(client)
  const pay = (amountEuros: number) =>
    client.transfers.create({ body: { fromWalletId: wallet.id, beneficiaryId, amountEuros } })
  return { ownerId, client, set, pay, wallet, limits: () => bodyOf(client.transfers.limits({})) }
}

const heldIn = async (client: TestClient, id: string) =>
  (await bodyOf(client.wallets.get({ params: { id } }))).heldEuros

describe('the limits of an owner', () => {
  test('are those of the plan until they are set, and again once they are removed', async () => {
    const { client, ownerId, set, limits } = await anOwner()
    const ofPlan = { singleEuros: 50_000, dailyEuros: 250_000, usedEuros: 0, remainingEuros: 250_000 }
    expect(await limits()).toMatchObject({ ownerId, mode: 'test', ...ofPlan })
    await bodyOf(service.dash.customers.update({ params: { id: ownerId }, body: { plan: 'free' } }))
    expect(await limits()).toMatchObject({ singleEuros: 1_000, dailyEuros: 2_000 })
    expect((await bodyOf(set(5, 70))).remainingEuros).toBe(70)
    expect(await limits()).toMatchObject({ singleEuros: 5, dailyEuros: 70, remainingEuros: 70 })
    await bodyOf(set(null, 0, 'live'))
    expect(await limits()).toMatchObject({ singleEuros: 5, dailyEuros: 70 })
    await bodyOf(set(null, null))
    expect(await limits()).toMatchObject({ singleEuros: 1_000, dailyEuros: 2_000 })
    const { data } = await bodyOf(client.events.list({ query: { event: 'transfer.limits_changed' } }))
    expect(data[1]?.data).toMatchObject({ ownerId, mode: 'test', singleEuros: 5, dailyEuros: 70 })
  })

  test('refuse a transfer above them with the amounts, and hold no money', async () => {
    const { client, pay, wallet, limits } = await anOwner({ singleEuros: 50, dailyEuros: 70 })
    expect(await pay(50.01)).toMatchObject({
      status: 400,
      code: 'single_limit_exceeded',
      error: 'The amount of € 50.01 exceeds the limit of € 50.00 for one transfer.',
    })
    await bodyOf(pay(50))
    expect(await pay(20.01)).toMatchObject({
      status: 400,
      code: 'daily_limit_exceeded',
      error: 'The daily limit of € 70.00 is reached: € 50.00 used, € 20.00 left.',
    })
    await bodyOf(pay(20))
    expect((await pay(0.01)).error).toBe('The daily limit of € 70.00 is reached: € 70.00 used, € 0.00 left.')
    expect(await limits()).toMatchObject({ usedEuros: 70, remainingEuros: 0 })
    expect(await heldIn(client, wallet.id)).toBe(70)
  })

  test('leave no remainder once they are lowered below what is used', async () => {
    const { set, pay, limits } = await anOwner({ dailyEuros: 70 })
    await bodyOf(pay(60))
    await bodyOf(set(null, 10))
    expect(await limits()).toMatchObject({ usedEuros: 60, remainingEuros: 0 })
    expect((await pay(1)).error).toBe('The daily limit of € 10.00 is reached: € 60.00 used, € 0.00 left.')
  })

  test('do not count transfers between wallets', async () => {
    const { client, wallet, limits } = await anOwner({ singleEuros: 1, dailyEuros: 1 })
    const { id: toWalletId } = await aWallet(client)
    await bodyOf(client.transfers.create({ body: { fromWalletId: wallet.id, toWalletId, amountEuros: 500 } }))
    expect((await limits()).usedEuros).toBe(0)
  })

  test('reset with each day of the owner’s clock', async () => {
    const { client, pay, limits } = await anOwner({ dailyEuros: 70 })
    await bodyOf(pay(70))
    const { day } = await limits()
    await bodyOf(client.sandbox.advance({ body: { days: 1 } }))
    expect(await limits()).toMatchObject({ usedEuros: 0, remainingEuros: 70 })
    expect((await limits()).day > day).toBe(true)
    await bodyOf(pay(70))
  })

  test('get back the amount of a cancelled transfer, on the day that it had used', async () => {
    const { client, limits, wallet } = await anOwner()
    const payee = await aBeneficiary(client, { name: 'No Match GmbH' })
    const waiting = await aSepaTransfer(client, { fromWalletId: wallet.id, beneficiaryId: payee.id })
    const { day } = await limits()
    await bodyOf(client.sandbox.advance({ body: { days: 1 } }))
    const today = await aSepaTransfer(client, { fromWalletId: wallet.id, amountEuros: 1 })
    await bodyOf(client.transfers.cancel({ params: { id: waiting.id }, body: {} }))
    expect((await limits()).usedEuros).toBe(1)
    const [row] = await service.sql<{ used: string }>(
      'select used_cents as used from transfer_days where owner_id = $1 and day = $2',
      [today.ownerId, day],
    )
    expect(row?.used).toBe('0')
  })

  test('get nothing back for a transfer that settled and was returned', async () => {
    const { client, limits, wallet } = await anOwner()
    const { id } = await aSepaTransfer(client, { fromWalletId: wallet.id })
    await bodyOf(client.sandbox.advance({ body: { minutes: 1 } }))
    const used = (await limits()).usedEuros
    await bodyOf(client.transfers.simulateReturn({ body: { transferId: id } }))
    expect((await limits()).usedEuros).toBe(used)
  })

  test('are set by an operator, and only for an existing owner', async () => {
    const { client, ownerId } = await anOwner()
    const body = { mode: 'test', singleEuros: null, dailyEuros: null } as const
    expect((await client.transfers.setLimits({ params: { id: ownerId }, body })).status).toBe(403)
    expect((await service.dash.transfers.setLimits({ params: { id: 'customer_1' }, body })).status).toBe(404)
  })
})

describe('concurrent transfers', () => {
  test('of 1 €, a hundred of them under a daily limit of 70 €, succeed seventy times', async () => {
    const { client, pay, wallet, limits } = await anOwner({ dailyEuros: 70 })
    const answers = await times(100, () => pay(1))
    expect(statusCounts(answers)).toEqual({ 201: 70, 400: 30 })
    expect(await limits()).toMatchObject({ usedEuros: 70, remainingEuros: 0 })
    expect(await heldIn(client, wallet.id)).toBe(70)
    await expectVerifiedLedger(client)
  })

  test('from two processes and many wallets, some of them cancelled, never exceed the limit', async () => {
    const { client, ownerId, limits } = await anOwner({ dailyEuros: 30 })
    const wallets = await times(4, () => aWallet(client, 20))
    const { id: beneficiaryId } = await aBeneficiary(client)
    const otherUrl = await service.another()
    const { key } = (await bodyOf(client.keys.create({ body: { name: 'Two', environment: 'sandbox' } }))) as {
      key: string
    }
    const answers = await times(60, async n => {
      const body = { fromWalletId: String(wallets[n % 4]?.id), beneficiaryId, amountEuros: 1 }
      if (n % 2) return client.transfers.create({ body })
      const response = await fetch(`${otherUrl}/transfers`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      })
      return { status: response.status, body: (await response.json()) as { id?: string } }
    })
    expect(statusCounts(answers)).toEqual({ 201: 30, 400: 30 })
    const ids = answers.flatMap(({ status, body }) => (status === 201 && body?.id ? [body.id] : []))
    await times(10, n => bodyOf(client.transfers.cancel({ params: { id: String(ids[n]) }, body: {} })))
    expect((await limits()).usedEuros).toBe(20)
    const [row] = await service.sql<{ sum: string }>(
      `select sum(amount_cents) as sum from transfers where owner_id = $1 and status = 'created'`,
      [ownerId],
    )
    expect(row?.sum).toBe('2000')
  })
})
