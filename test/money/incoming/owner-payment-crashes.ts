import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { newId } from '../../../src/values/ids.ts'
import { bodyOf } from '../../support/factories.ts'
import { type PayingOwner, startPayingOwners } from '../../support/money/paying-owners.ts'
import { times } from '../../support/sample-service.ts'

const { owners, pay, refund, wallet, balanceOf, proveLedgers, sweep, withoutArrivals } =
  await startPayingOwners()
const [payer, payee] = owners

describe('a process that ends between the two ledgers', () => {
  test('leaves the payment to the sweep, which books it once', async () => {
    const [from, to] = [await wallet(payer, 20), await wallet(payee)]
    const key = { idempotencyKey: newId('key') }
    const { id } = await withoutArrivals(async () => {
      const made = await bodyOf(pay(payer, payee, { from, to, amountEuros: 5 }, key))
      expect([await balanceOf(payer, from), await balanceOf(payee, to)]).toEqual([15, 0])
      await expect(sweep()).rejects.toThrow()
      await proveLedgers()
      return made
    })
    await times(4, sweep)
    expect([await balanceOf(payer, from), await balanceOf(payee, to)]).toEqual([15, 5])
    expect(await bodyOf(pay(payer, payee, { from, to, amountEuros: 5 }, key))).toEqual({ id })
    expect(await balanceOf(payee, to)).toBe(5)
    await proveLedgers()
  })

  test('leaves a payment that the payee has taken, and a refund, to the sweep, too', async () => {
    const [from, to] = [await wallet(payer, 20), await wallet(payee)]
    const { id } = await bodyOf(pay(payer, payee, { from, to, amountEuros: 5 }))
    const body = { fromOwnerId: payer.ownerId, fromWalletId: from, toOwnerId: payee.ownerId, toWalletId: to }
    await withoutArrivals(async () => {
      await bodyOf(payee.client.payer.charge({ body: { ...body, amountEuros: 7 } }))
      await bodyOf(refund(payee, id, 2))
      expect([await balanceOf(payer, from), await balanceOf(payee, to)]).toEqual([8, 3])
    })
    await times(3, sweep)
    expect([await balanceOf(payer, from), await balanceOf(payee, to)]).toEqual([10, 10])
    await proveLedgers()
  })
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

  test('each wallet has what a model says once all has arrived', async () => {
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
          // What has not arrived can be neither spent nor given back: the model has all of it there already.
          if (one.crashes) await withoutArrivals(() => take(one)).then(sweep)
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
