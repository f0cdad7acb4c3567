import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { newId } from '../../../src/values/ids.ts'
import { statusCounts, times } from '../../support/at-once.ts'
import { bodyOf } from '../../support/factories.ts'
import { type PayingOwner, startPayingOwners } from '../../support/money/paying-owners.ts'

const { service, owners, pay, refund, wallet, balanceOf, proveLedgers, sweep, withoutArrivals } =
  await startPayingOwners()
const [payer, payee] = owners

describe('a payment whose payee cannot book it', () => {
  test('moves no money on either ledger, for payments, refunds and charges', async () => {
    const [from, to] = [await wallet(payer, 20), await wallet(payee)]
    const { id } = await bodyOf(pay(payer, payee, { from, to, amountEuros: 5 }))
    const key = { idempotencyKey: newId('key') }
    const again = () => pay(payer, payee, { from, to, amountEuros: 5 }, key)
    const body = { fromOwnerId: payer.ownerId, fromWalletId: from, toOwnerId: payee.ownerId, toWalletId: to }
    await withoutArrivals(async () => {
      expect((await again()).status).toBe(500)
      expect((await refund(payee, id, 2)).status).toBe(500)
      expect((await payee.client.payer.charge({ body: { ...body, amountEuros: 7 } })).status).toBe(500)
    })
    expect([await balanceOf(payer, from), await balanceOf(payee, to)]).toEqual([15, 5])
    expect(await bodyOf(again())).toEqual(await bodyOf(again()))
    expect([await balanceOf(payer, from), await balanceOf(payee, to)]).toEqual([10, 10])
    await proveLedgers()
  })
})

test('what an earlier version has handed over is booked once by the sweep', async () => {
  const [from, to] = [await wallet(payer, 20), await wallet(payee)]
  await bodyOf(pay(payer, payee, { from, to, amountEuros: 5, asBefore: true }))
  expect([await balanceOf(payer, from), await balanceOf(payee, to)]).toEqual([15, 0])
  await withoutArrivals(() => expect(sweep()).rejects.toThrow())
  await proveLedgers()
  await times(4, sweep)
  expect([await balanceOf(payer, from), await balanceOf(payee, to)]).toEqual([15, 5])
  await proveLedgers()
})

test('payments both ways at once are all made, and no two wait for each other', async () => {
  const wallets = await Promise.all(owners.map(owner => wallet(owner, 100)))
  const deadlocks = async () => {
    await service.sql('select pg_stat_force_next_flush()')
    const [row] = await service.sql<{ deadlocks: number }>(
      'select deadlocks::int as deadlocks from pg_stat_database where datname = current_database()',
    )
    return row?.deadlocks
  }
  const before = await deadlocks()
  const made = await times(48, index => {
    const [by, other] = [index % 3, (index + 1 + (index % 2)) % 3]
    const payment = { from: String(wallets[by]), to: String(wallets[other]), amountEuros: 1 }
    return pay(owners[by] as PayingOwner, owners[other] as PayingOwner, payment)
  })
  const refunds = await times(made.length, index => {
    const payeeOf = owners[((index % 3) + 1 + (index % 2)) % 3] as PayingOwner
    return refund(payeeOf, String(made[index]?.body.id), 1)
  })
  expect(statusCounts([...made, ...refunds])).toEqual({ 200: 96 })
  expect(await Promise.all(owners.map((owner, index) => balanceOf(owner, String(wallets[index]))))).toEqual([
    100, 100, 100,
  ])
  expect(await deadlocks()).toBe(before)
  await proveLedgers()
})

describe('after any sequence of payments, refunds and crashes between owners', () => {
  interface Step {
    readonly from: number
    readonly to: number
    readonly cents: number
    readonly refunds: boolean
    readonly crashes: boolean
  }
  const step = fc.record<Step>({
    from: fc.nat(2),
    to: fc.nat(2),
    cents: fc.integer({ min: 1, max: 900 }),
    refunds: fc.boolean(),
    crashes: fc.boolean(),
  })
  interface Made extends Pick<Step, 'from' | 'to'> {
    readonly id: string
    left: number
  }

  test('each wallet has what a model says', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 10 }), async steps => {
        const wallets = await Promise.all(owners.map(owner => wallet(owner, 10)))
        const model = [1_000, 1_000, 1_000]
        const made: Made[] = []
        const move = (from: number, to: number, cents: number) => {
          model[from] = Number(model[from]) - cents
          model[to] = Number(model[to]) + cents
        }
        const take = async ({ from, to, cents, refunds }: Step): Promise<void> => {
          const back = refunds ? made.findLast(one => one.to === to && one.left > 0) : undefined
          if (back) {
            const part = Math.min(cents, back.left)
            const { status } = await refund(owners[to] as PayingOwner, back.id, part / 100)
            if (status !== 200) return
            back.left -= part
            return move(to, back.from, part)
          }
          const payment = { from: String(wallets[from]), to: String(wallets[to]), amountEuros: cents / 100 }
          if (from === to) return
          const answer = await pay(owners[from] as PayingOwner, owners[to] as PayingOwner, payment)
          if (answer.status !== 200) return
          move(from, to, cents)
          made.push({ id: answer.body.id, from, to, left: cents })
        }
        for (const one of steps) {
          if (one.crashes) await withoutArrivals(() => take(one))
          else await take(one)
        }
        const balances = await Promise.all(
          owners.map((owner, index) => balanceOf(owner, String(wallets[index]))),
        )
        expect(balances.map(euros => Math.round(euros * 100))).toEqual(model)
      }),
      { numRuns: 6 },
    )
    await proveLedgers()
  })
})
