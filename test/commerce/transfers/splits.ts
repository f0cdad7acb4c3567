import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { divideByShares } from '../../../src/commerce/transfers/transfer.ts'
import { cents } from '../../../src/values/money.ts'
import { times } from '../../support/at-once.ts'
import { aWallet, bodyOf } from '../../support/factories.ts'
import { startTestService } from '../../support/harness.ts'
import { expectVerifiedLedger } from '../../support/verified-ledger.ts'

const service = await startTestService({ own: true })
const owner = await service.owner()
const { client } = owner
const balanceOf = async (id: string) => (await bodyOf(client.wallets.get({ params: { id } }))).availableEuros

const proveLedger = () => expectVerifiedLedger(client)

describe('a split', () => {
  const split = (fromWalletId: string, parts: object[], amountEuros?: number) =>
    client.transfers.split({
      body: { fromWalletId, parts: parts as { walletId: string }[], ...(amountEuros ? { amountEuros } : {}) },
    })

  test('pays all parts, by amounts or by shares, and loses no cent', async () => {
    const [from, ...payees] = [
      await aWallet(client, 100),
      await aWallet(client),
      await aWallet(client),
      await aWallet(client),
    ]
    const [a, b, c] = payees.map(({ id }) => id)
    const byAmount = await bodyOf(
      split(from.id, [
        { walletId: a, amountEuros: 1 },
        { walletId: b, amountEuros: 2 },
      ]),
    )
    expect(byAmount).toMatchObject({ kind: 'split', status: 'completed', amountEuros: 3, toWalletId: null })
    const thirds = await bodyOf(
      split(
        from.id,
        [a, b, c].map(walletId => ({ walletId, share: 1 })),
        10,
      ),
    )
    expect(thirds.parts?.map(({ amountEuros }) => amountEuros)).toEqual([3.34, 3.33, 3.33])
    expect(await Promise.all([from.id, a, b, c].map(id => balanceOf(String(id))))).toEqual([
      87, 4.34, 5.33, 3.33,
    ])
    const { data } = await bodyOf(client.ledger.transfers({ query: { referenceId: thirds.id } }))
    const posting = await bodyOf(client.ledger.transfer({ params: { id: String(data[0]?.id) } }))
    expect(posting.entries).toHaveLength(4)
    const events = await bodyOf(client.events.list({ query: { event: 'transfer.split.completed' } }))
    expect(events.data[0]?.data).toEqual({
      transferId: thirds.id,
      status: 'completed',
      amountEuros: 10,
      fromWalletId: from.id,
      toWalletId: null,
      beneficiaryId: null,
      parts: thirds.parts,
    })
  })

  test('pays a thousand wallets in one go', async () => {
    const from = await aWallet(client, 1_000)
    const payees: { id: string }[] = []
    while (payees.length < 1_000) payees.push(...(await times(50, () => aWallet(client))))
    const done = await bodyOf(
      split(
        from.id,
        payees.map(({ id }) => ({ walletId: id, amountEuros: 0.01 })),
      ),
    )
    expect(done.amountEuros).toBe(10)
    expect(await balanceOf(from.id)).toBe(990)
    await proveLedger()
  })

  test('is all or nothing', async () => {
    const [from, a, shut] = [await aWallet(client, 5), await aWallet(client), await aWallet(client)]
    await bodyOf(client.wallets.close({ params: { id: shut.id } }))
    const parts = (id: string) => [
      { walletId: a.id, amountEuros: 3 },
      { walletId: id, amountEuros: 3 },
    ]
    const codes = []
    for (const id of [a.id, shut.id, from.id, 'wallet_nobody'])
      codes.push((await split(from.id, parts(id))).code)
    expect(codes).toEqual(['insufficient_funds', 'wallet_closed', 'same_wallet', 'wallet_not_found'])
    expect(
      (
        await split(
          from.id,
          [
            { walletId: a.id, share: 1 },
            { walletId: a.id, share: 900 },
          ],
          0.01,
        )
      ).code,
    ).toBe('part_of_nothing')
    expect([await balanceOf(from.id), await balanceOf(a.id)]).toEqual([5, 0])
  })

  test.each([
    ['no parts', [], 1, 'parts'],
    ['an amount and shares missing', [{ walletId: 'wallet_a' }], 1, 'parts.0.share'],
    ['shares of nothing', [{ walletId: 'wallet_a', share: 1 }], undefined, 'parts.0.amountEuros'],
    ['both', [{ walletId: 'wallet_a', share: 1, amountEuros: 1 }], 1, 'parts.0.amountEuros'],
    ['a share of five decimals', [{ walletId: 'wallet_a', share: 0.00001 }], 1, 'parts.0.share'],
  ])('with %s is a 400 that names the field', async (_, parts, amount, field) => {
    const { status, error } = await split('wallet_x', parts, amount)
    expect([status, error]).toEqual([400, expect.stringContaining(field)])
  })

  test('divides without loss, each part within a cent of its exact share', () => {
    fc.assert(
      fc.property(
        fc.bigInt({ min: 1n, max: 10_000_000_000n }).map(cents),
        fc.array(fc.integer({ min: 1, max: 1_000_000 }), { minLength: 1, maxLength: 50 }),
        (amount, weights) => {
          const parts = divideByShares(
            amount,
            weights.map(weight => weight / 10_000),
          )
          const total = BigInt(weights.reduce((sum, weight) => sum + weight, 0))
          expect(parts.reduce((sum, part) => sum + part, 0n)).toBe(amount)
          parts.forEach((part, index) => {
            const off = part * total - amount * BigInt(weights[index] ?? 0)
            expect(off < total && off > -total).toBe(true)
          })
        },
      ),
    )
  })
})
