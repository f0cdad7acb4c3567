import './ledger/collected.ts'
import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { readLedgerTotals, readWalletBalances } from '../../src/money/ledger/balances.ts'
import { DEBT_ACCOUNTS, FORCED_DEBIT_ACCOUNTS } from '../../src/money/ledger/open-book.ts'
import { newId } from '../../src/values/ids.ts'
import { type Cents, cents, NO_CENTS } from '../../src/values/money.ts'
import { startBooks } from '../support/money/books.ts'
import { expectVerifiedLedger } from '../support/verified-ledger.ts'

const { service, client, tenant, sql, inBook, wallet } = await startBooks()

const WALLETS = 4

/** A random operation; whether it is possible depends on the balances. */
interface Operation {
  readonly kind: 'fund' | 'move' | 'hold' | 'capture' | 'release' | 'force'
  readonly from: number
  readonly to: number
  readonly amount: number
}

const operation = fc.record<Operation>({
  kind: fc.constantFrom('fund', 'move', 'move', 'hold', 'capture', 'release', 'force'),
  from: fc.nat(WALLETS - 1),
  to: fc.nat(WALLETS - 1),
  amount: fc.integer({ min: 1, max: 1_000 }),
})

interface ModelAccount {
  available: bigint
  holds: { id: string; left: bigint }[]
}

/** The owner's debt, which continues over all runs. */
let owed = 0n

const heldIn = ({ holds }: ModelAccount): bigint => holds.reduce((sum, { left }) => sum + left, 0n)

/** Applies an operation to the model and to the ledger; undefined if it is not possible. */
function apply(
  { kind, from, to, amount }: Operation,
  model: readonly ModelAccount[],
  wallets: readonly string[],
) {
  const [payer, payee] = [model[from] as ModelAccount, model[to] as ModelAccount]
  const [fromId, toId] = [wallets[from] as string, wallets[to] as string]
  const amountCents = cents(amount)
  const cause = { type: 'trial', id: newId('trial') }
  if (kind === 'fund') {
    const paid = owed < amountCents ? owed : amountCents
    owed -= paid
    payer.available += amountCents - paid
    return inBook({ wallets: [fromId], others: ['bank'], ifExists: DEBT_ACCOUNTS }, book => {
      book.move('fund', 'bank', fromId, amountCents, cause)
      expect(book.repayDebt(fromId, amountCents, cause)).toBe(paid)
    })
  }
  if (kind === 'force') {
    const drawn = payer.available < amountCents ? payer.available : amountCents
    owed += amountCents - drawn
    payer.available -= drawn
    return inBook({ wallets: [fromId], others: FORCED_DEBIT_ACCOUNTS }, book =>
      expect(book.forceDebit('fund_reversal', fromId, 'bank', amountCents, cause)).toBe(amountCents - drawn),
    )
  }
  if (kind === 'move') {
    if (payer.available < amountCents || from === to) return undefined
    payer.available -= amountCents
    payee.available += amountCents
    return inBook({ wallets: [fromId, toId] }, book =>
      book.move('transfer', fromId, toId, amountCents, cause),
    )
  }
  if (kind === 'hold') {
    if (payer.available < amountCents) return undefined
    payer.available -= amountCents
    payer.holds.push({ id: cause.id, left: amountCents })
    return inBook({ wallets: [fromId] }, book => book.hold(fromId, amountCents, cause))
  }
  const [hold] = payer.holds
  if (!hold || (kind === 'capture' && (amountCents > hold.left || from === to))) return undefined
  const holdCause = { type: 'trial', id: hold.id }
  if (kind === 'release') {
    payer.available += hold.left
    payer.holds.shift()
    return inBook({ wallets: [fromId], holds: [holdCause] }, book => book.release(holdCause))
  }
  hold.left -= amountCents
  payee.available += amountCents
  if (hold.left === 0n) payer.holds.shift()
  return inBook({ wallets: [fromId, toId], holds: [holdCause] }, book =>
    book.capture('transfer', holdCause, toId, amountCents, cause),
  )
}

describe('after every step of a random sequence,', () => {
  test('the ledger agrees with a model', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(operation, { minLength: 10, maxLength: 40 }), async operations => {
        const wallets = await Promise.all(Array.from({ length: WALLETS }, () => wallet()))
        const model: ModelAccount[] = wallets.map(() => ({ available: 0n, holds: [] }))
        for (const operation of operations) {
          await apply(operation, model, wallets)
          const balances = await readWalletBalances(sql, tenant, wallets)
          expect(wallets.map(id => balances.get(id))).toMatchObject(
            model.map(account => ({ availableCents: account.available, heldCents: heldIn(account) })),
          )
          const totals = await readLedgerTotals(sql, tenant)
          for (const account of DEBT_ACCOUNTS) expect(totals(account).availableCents).toBe(owed)
        }
      }),
      { numRuns: 12 },
    )
    await expectVerifiedLedger(client)

    const rich = await wallet(Number(owed + 100n) / 100)
    expect((await readWalletBalances(sql, tenant, [rich])).get(rich)?.availableCents).toBe(100n)
  })
})

/** Kills about one in ten busy connections. */
const KILL = `select pg_terminate_backend(pid) from pg_stat_activity
  where datname = current_database() and pid <> pg_backend_pid() and state <> 'idle' and random() < 0.1`

describe('concurrent postings', () => {
  /** Pays if there is enough, as every noun does; returns what it has moved. */
  const pay = (from: string, to: string, cents: Cents) =>
    inBook({ wallets: [from, to] }, book => {
      if (!book.canPay(from, cents)) return NO_CENTS
      book.move('transfer', from, to, cents, { type: 'trial', id: newId('trial') })
      return cents
    })

  test('of 1 €, a hundred of them from a wallet with 50 €, succeed fifty times', async () => {
    const [from, to] = [await wallet(50), await wallet()]
    const moved = await Promise.all(Array.from({ length: 100 }, () => pay(from, to, cents(100n))))
    expect(moved.filter(cents => cents > 0n)).toHaveLength(50)
    const balances = await readWalletBalances(sql, tenant, [from, to])
    expect([from, to].map(id => balances.get(id)?.availableCents)).toEqual([0n, 5_000n])
  })

  test('in opposite directions between the same wallets do not deadlock, and lose no cent', async () => {
    const wallets = await Promise.all(Array.from({ length: WALLETS }, () => wallet(10)))
    const sum = new Map(wallets.map(id => [id, 1_000n]))
    const pairs = fc.sample(operation, { numRuns: 300, seed: 7 }).filter(({ from, to }) => from !== to)
    await Promise.all(
      pairs.map(async ({ from, to, amount }) => {
        const [fromId, toId] = [wallets[from] as string, wallets[to] as string]
        const moved = await pay(fromId, toId, cents(amount))
        sum.set(fromId, (sum.get(fromId) ?? 0n) - moved)
        sum.set(toId, (sum.get(toId) ?? 0n) + moved)
      }),
    )
    const balances = await readWalletBalances(sql, tenant, wallets)
    expect(new Map(wallets.map(id => [id, balances.get(id)?.availableCents]))).toEqual(sum)
    await expectVerifiedLedger(client)
  })

  test('are whole or absent when their connection is killed', async () => {
    const [from, to] = [await wallet(100), await wallet()]
    let [sure, lost, paying] = [0n, 0n, 6]
    const lane = async () => {
      for (let n = 0; n < 40; n++)
        await pay(from, to, cents(1n)).then(
          cents => {
            sure += cents
          },
          () => {
            lost += 1n
          },
        )
      paying--
    }
    const killer = async () => {
      while (paying > 0) await service.sql(KILL)
    }
    await Promise.all([...Array.from({ length: 6 }, lane), killer()])
    const received = (await readWalletBalances(sql, tenant, [to])).get(to)?.availableCents ?? NO_CENTS
    expect(lost).toBeGreaterThan(0n)
    expect(received >= sure && received <= sure + lost).toBe(true)
    await expectVerifiedLedger(client)
  })
})
