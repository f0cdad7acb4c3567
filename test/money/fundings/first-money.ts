import { describe, expect, test } from '@jest/globals'
import { statusCounts, times } from '../../support/at-once.ts'
import { aWallet, bodyOf } from '../../support/factories.ts'
import { startTestService } from '../../support/harness.ts'
import { expectVerifiedLedger } from '../../support/verified-ledger.ts'

const service = await startTestService()

/** The first request of an owner opens its accounts beside the wallets. */
describe('the first money of an owner', () => {
  test('comes into many wallets, and goes into suspense, at the same time', async () => {
    for (const { client: mine } of await times(5, () => service.owner())) {
      const wallets = await times(8, () => aWallet(mine))
      const body = { amountEuros: 5 }
      const nobody = { iban: 'DE89370400440532013000', amountEuros: 3, senderName: 'A customer' }
      const answers = await Promise.all([
        ...wallets.map(({ id }) => mine.fund.wallet({ params: { id }, body })),
        ...Array.from({ length: 4 }, () => mine.incoming.simulate({ body: nobody })),
      ])
      expect(statusCounts(answers)).toEqual({ 200: 8, 201: 4 })
      expect(await bodyOf(mine.billing.balance({}))).toMatchObject({
        availableEuros: 40,
        unassignedEuros: 12,
      })
      await expectVerifiedLedger(mine)
    }
  })

  test('is drawn back from many wallets while others are funded and closed', async () => {
    const { client: mine } = await service.owner()
    const wallets = await times(12, () => aWallet(mine))
    const pay = (id: string) => mine.fund.wallet({ params: { id }, body: { amountEuros: 10 } })
    const fundings = await Promise.all(wallets.slice(0, 6).map(({ id }) => bodyOf(pay(id))))
    const answers = await Promise.all([
      ...fundings.map(({ funding }) =>
        mine.fund.simulateReverse({ params: { fundingId: funding.id }, body: { reason: 'No' } }),
      ),
      ...wallets.map(({ id }) => pay(id)),
      ...wallets.slice(6).map(({ id }) => mine.wallets.close({ params: { id } })),
    ])
    for (const { status } of answers) expect([200, 400]).toContain(status)
    await expectVerifiedLedger(mine)
  })
})
