import { describe, expect, test } from '@jest/globals'
import { ACQUIRER_ACCOUNTS, postAcquirerMovement } from '../../../src/money/ledger/open-book.ts'
import { newId } from '../../../src/values/ids.ts'
import { type Cents, cents } from '../../../src/values/money.ts'
import { statusCounts, times } from '../../support/at-once.ts'
import { bodyOf } from '../../support/factories.ts'
import { startBooks } from '../../support/money/books.ts'
import { expectVerifiedLedger } from '../../support/verified-ledger.ts'

const { service, client, tenant, inBook, wallet } = await startBooks()

async function collect(amountCents: Cents): Promise<string> {
  const id = await wallet()
  const cause = { type: 'trial', id: newId('trial') }
  await inBook({ wallets: [id], others: ACQUIRER_ACCOUNTS }, book =>
    postAcquirerMovement('collect', { from: 'clearing_acquirer', to: id, amountCents, cause }, book),
  )
  return id
}

const paid = (amountEuros: number, reference: string, ownerId = tenant.ownerId) =>
  service.dash.billing.acquirerPaid({ body: { ownerId, mode: 'test', amountEuros, reference } })
const owed = async () => (await bodyOf(client.billing.acquirer())).owedEuros

describe('what the acquirer has charged', () => {
  test('can be spent before it is paid, and is owed until then', async () => {
    const [from, to] = [await collect(cents(2_000n)), await wallet()]
    expect(await owed()).toBe(20)
    const transfer = { fromWalletId: from, toWalletId: to, amountEuros: 20 }
    await bodyOf(client.transfers.create({ body: transfer }))
    expect(await bodyOf(paid(20, newId('payout')))).toEqual({ currency: 'EUR', owedEuros: 0 })
    expect(await owed()).toBe(0)
    await expectVerifiedLedger(client)
  })

  test('is paid once by each reference, for requests at once, too', async () => {
    await collect(cents(1_000n))
    const reference = newId('payout')
    const answers = await times(10, () => paid(4, reference))
    expect(statusCounts(answers)).toEqual({ 200: 10 })
    expect(await owed()).toBe(6)
    expect(await paid(7, newId('payout'))).toMatchObject({
      status: 400,
      code: 'above_owed',
      error: 'amountEuros exceeds the € 6.00 that the acquirer owes for this owner. Record at most that.',
    })
    await bodyOf(paid(6, newId('payout')))
    const { data } = await bodyOf(client.events.list({ query: { event: 'acquirer.paid', limit: 1 } }))
    expect(data[0]?.data).toMatchObject({ amountEuros: 6, owedEuros: 0 })
    await expectVerifiedLedger(client)
  })

  test('is not paid under a reference that has paid another amount', async () => {
    await collect(cents(1_000n))
    const reference = newId('payout')
    await bodyOf(paid(4, reference))
    const before = await owed()
    expect(await paid(5, reference)).toMatchObject({
      status: 409,
      code: 'reference_used',
      error: expect.stringMatching(/^reference: € 4\.00 is already booked under it for this owner\./),
    })
    expect((await paid(4, reference)).status).toBe(200)
    const [other, race] = [await service.owner(), newId('payout')]
    expect((await paid(5, reference, other.ownerId)).code).toBe('above_owed')
    const answers = await times(8, index => paid(1 + (index % 2), race))
    expect(statusCounts(answers)).toEqual({ 200: 4, 409: 4 })
    const first = answers[0]?.status === 200 ? 1 : 2
    expect(await owed()).toBe(before - first)
    await expectVerifiedLedger(client)
  })

  test('a payout without a customer is refused', async () => {
    expect(await paid(1, 'PAYOUT-1', 'customer_unknown')).toMatchObject({
      status: 404,
      code: 'customer_not_found',
    })
  })
})
