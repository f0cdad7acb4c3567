import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { areas } from '../../../src/areas.ts'
import { endOverdue } from '../../../src/kernel/background/deadlines.ts'
import type { IncomingEvent } from '../../../src/money/incoming/incoming-event.ts'
import { newId } from '../../../src/values/ids.ts'
import { aWallet, bodyOf } from '../../support/factories.ts'
import { startTestService } from '../../support/harness.ts'
import { notedWrites } from '../../support/money/noted-writes.ts'
import { payerArea } from '../../support/money/payer-noun.ts'
import { statusCounts, times } from '../../support/sample-service.ts'
import { expectVerifiedLedger } from '../../support/verified-ledger.ts'
import { openWorkerRuntime } from '../../support/worker-runtime.ts'

const service = await startTestService({ areas: { ...areas, payer: payerArea } })
const owners = [await service.owner(), await service.owner(), await service.owner()] as const
type PayingOwner = (typeof owners)[number]
const [payer, payee, third] = owners
const worker = await openWorkerRuntime(service)

/** The sweep, a minute later. */
async function sweep(): Promise<void> {
  await service.sql('update incoming_credits set due_at = now() where due_at is not null')
  await endOverdue(worker)
}

interface Payment {
  readonly from: string
  readonly to: string
  readonly amountEuros: number
  readonly payableId?: string
}

const pay = (
  by: PayingOwner,
  to: PayingOwner,
  { from, to: toWalletId, ...more }: Payment,
  options: object = {},
) =>
  by.client.payer.pay({
    body: { fromWalletId: from, toOwnerId: to.ownerId, toWalletId, ...more },
    ...options,
  })
const refund = (by: PayingOwner, creditId: string, amountEuros: number) =>
  by.client.payer.refund({ body: { creditId, amountEuros } })
const wallet = async ({ client }: PayingOwner, euros = 0) => (await aWallet(client, euros)).id
const balanceOf = async ({ client }: PayingOwner, id: string) =>
  (await bodyOf(client.wallets.get({ params: { id } }))).availableEuros

type Told = (typeof IncomingEvent)['_output']
const lastEvent = async ({ client }: PayingOwner, event: 'incoming.received') =>
  (await bodyOf(client.events.list({ query: { event, limit: 1 } }))).data[0]?.data as Told | undefined

const BALANCES = `
select kind, coalesce(sum(posted_cents), 0)::int as cents from ledger_accounts where owner_id = $1 group by kind`

/** Proves the ledger of each owner, and that its bank has exactly what its wallets and its suspense account are owed. */
async function proveLedgers(): Promise<void> {
  for (const { ownerId, client } of owners) {
    await expectVerifiedLedger(client)
    const rows = await service.sql<{ kind: string; cents: number }>(BALANCES, [ownerId])
    const cents = (kind: string) => rows.find(row => row.kind === kind)?.cents ?? 0
    expect(cents('bank') + cents('wallet') + cents('suspense')).toBe(0)
  }
}

/** These owners can book nothing that comes in meanwhile: as if each process were killed before the second step. */
async function withoutArrivals<T>(work: () => Promise<T>): Promise<T> {
  await service.sql(`
    create function refuse_arrival() returns trigger language plpgsql as $$
    begin if new.status <> 'handed_over' then raise exception 'the process was killed'; end if; return new; end $$;
    create trigger refuse before insert on incoming_credits for each row execute function refuse_arrival()`)
  try {
    return await work()
  } finally {
    await service.sql('drop function refuse_arrival cascade')
  }
}

describe('a payment from owner to owner', () => {
  test('leaves one ledger, enters the other, and names what it pays', async () => {
    const [from, to] = [await wallet(payer, 100), await wallet(payee)]
    const requestId = newId('request')
    const answer = await pay(payer, payee, { from, to, amountEuros: 12.34, payableId: requestId })
    expect(answer).toMatchObject({ status: 200 })
    expect([await balanceOf(payer, from), await balanceOf(payee, to)]).toEqual([87.66, 12.34])
    expect(await lastEvent(payee, 'incoming.received')).toEqual({
      creditId: answer.body.id,
      walletId: to,
      status: 'matched',
      amountEuros: 12.34,
      reason: null,
      source: 'owner',
      payableType: 'request',
      payableId: requestId,
    })
    await proveLedgers()
  })

  test('shows each owner its own side only', async () => {
    const [from, to] = [await wallet(payer, 100), await wallet(payee)]
    await bodyOf(pay(payer, payee, { from, to, amountEuros: 3 }))
    const seen = async ({ client }: PayingOwner) =>
      JSON.stringify([
        await bodyOf(client.events.list({ query: { limit: 100 } })),
        await bodyOf(client.ledger.transfers({ query: { limit: 100 } })),
      ])
    expect(await seen(payer)).not.toMatch(new RegExp(`${to}|${payee.ownerId}`))
    expect(await seen(payee)).not.toMatch(new RegExp(`${from}|${payer.ownerId}`))
  })

  test('stands on the statements of both with the name of the other', async () => {
    const [from, to] = [await wallet(payer, 100), await wallet(payee)]
    const { id } = await bodyOf(pay(payer, payee, { from, to, amountEuros: 7 }))
    await bodyOf(refund(payee, id, 2))
    const lines = async ({ client, key }: PayingOwner, walletId: string) => {
      const period = new Date().toISOString().slice(0, 7)
      const { id } = await bodyOf(client.statements.create({ body: { walletId, period } }))
      const { text } = await service.http('GET', `/statements/${id}/csv`, { token: key })
      return text.split('\r\n').filter(line => /Payment/.test(line))
    }
    expect(await lines(payer, from)).toEqual([
      expect.stringMatching(/,Payment,Payee,,For the tests,,-7.00,/),
      expect.stringMatching(/,"Payment, refunded",Payee,,Given back,,2.00,/),
    ])
    expect(await lines(payee, to)).toEqual([
      expect.stringMatching(/,Payment received,Payer,,For the tests,,7.00,/),
      expect.stringMatching(/,"Payment received, given back",Payer,,Given back,,-2.00,/),
    ])
  })

  test('stays on one ledger between two wallets of one owner', async () => {
    const [from, to] = [await wallet(payer, 20), await wallet(payer)]
    const { id } = await bodyOf(pay(payer, payer, { from, to, amountEuros: 5, payableId: 'request_own' }))
    expect(await lastEvent(payer, 'incoming.received')).toMatchObject({
      creditId: id,
      payableId: 'request_own',
    })
    await bodyOf(refund(payer, id, 5))
    expect([await balanceOf(payer, from), await balanceOf(payer, to)]).toEqual([20, 0])
    await proveLedgers()
  })

  test('waits on the payee’s suspense account where the wallet is closed meanwhile', async () => {
    const [from, to, next] = [await wallet(payer, 20), await wallet(payee), await wallet(payee)]
    const { id } = await withoutArrivals(() => bodyOf(pay(payer, payee, { from, to, amountEuros: 5 })))
    await bodyOf(payee.client.wallets.close({ params: { id: to } }))
    await sweep()
    expect(await lastEvent(payee, 'incoming.received')).toMatchObject({
      creditId: id,
      status: 'unmatched',
      reason: 'wallet_closed',
      payableId: null,
    })
    await bodyOf(service.dash.incoming.assign({ params: { id }, body: { walletId: next } }))
    expect(await balanceOf(payee, next)).toBe(5)
    await bodyOf(refund(payee, id, 5))
    expect(await balanceOf(payer, from)).toBe(20)
    await proveLedgers()
  })

  test('is taken by a request of the payee, each side in a transaction of its own', async () => {
    const [from, to] = [await wallet(payer, 20), await wallet(payee)]
    const owned = await notedWrites(service, async () => {
      const body = {
        fromOwnerId: payer.ownerId,
        fromWalletId: from,
        toOwnerId: payee.ownerId,
        toWalletId: to,
      }
      await bodyOf(payee.client.payer.charge({ body: { ...body, amountEuros: 4 } }))
      await bodyOf(pay(payer, payee, { from, to, amountEuros: 4 }))
    })
    expect(owned.flat().toSorted()).toEqual(expect.arrayContaining([payer.ownerId, payee.ownerId]))
    expect(owned.filter(ids => ids.length > 1)).toEqual([])
    expect([await balanceOf(payer, from), await balanceOf(payee, to)]).toEqual([12, 8])
    const due = await service.sql('select id from incoming_credits where due_at is not null')
    expect(due).toEqual([])
  })

  test('of all that is left, twenty at once, is made as often as there is money for', async () => {
    const [from, to] = [await wallet(payer, 5), await wallet(payee)]
    const answers = await times(20, () => pay(payer, payee, { from, to, amountEuros: 1 }))
    expect(statusCounts(answers)).toEqual({ 200: 5, 400: 15 })
    expect([await balanceOf(payer, from), await balanceOf(payee, to)]).toEqual([0, 5])
    await proveLedgers()
  })

  test('is given back once by twenty requests at once, and never more than came', async () => {
    const [from, to] = [await wallet(payer, 5), await wallet(payee, 50)]
    const { id } = await bodyOf(pay(payer, payee, { from, to, amountEuros: 5 }))
    const answers = await times(20, () => refund(payee, id, 2))
    expect(statusCounts(answers)).toEqual({ 200: 2, 400: 18 })
    expect([await balanceOf(payer, from), await balanceOf(payee, to)]).toEqual([4, 51])
    expect(await lastEvent(payer, 'incoming.received')).toMatchObject({
      source: 'refund',
      payableType: 'payment',
      payableId: id,
      walletId: from,
    })
    await proveLedgers()
  })
})

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
    expect(third.ownerId).not.toBe(payer.ownerId)
  })
})
