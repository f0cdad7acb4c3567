import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { readLedgerTotals } from '../../../src/money/ledger/balances.ts'
import {
  ACQUIRER_ACCOUNTS,
  FORCED_DEBIT_ACCOUNTS,
  postAcquirerMovement,
} from '../../../src/money/ledger/open-book.ts'
import { newId } from '../../../src/values/ids.ts'
import { cents } from '../../../src/values/money.ts'
import { startBooks } from '../../support/money/books.ts'
import { expectVerifiedLedger } from '../../support/verified-ledger.ts'

const { client, tenant, sql, inBook, wallet } = await startBooks()

/** A step of an acquirer or its owner; whether it is possible depends on the balances. */
interface Step {
  readonly kind: 'collect' | 'refund' | 'settle' | 'pay out' | 'draw back'
  readonly amount: number
}

const step = fc.record<Step>({
  kind: fc.constantFrom('collect', 'collect', 'refund', 'settle', 'pay out', 'draw back'),
  amount: fc.integer({ min: 1, max: 1_000 }),
})

/** In cents: the wallet, what the acquirer owes, and what the owner owes; the last two continue over all runs. */
const model = { wallet: 0n, acquirer: 0n, owner: 0n }

const others = [...new Set([...ACQUIRER_ACCOUNTS, ...FORCED_DEBIT_ACCOUNTS])]

/** Applies a step to the model and to the ledger; undefined if it is not possible. */
function apply({ kind, amount }: Step, id: string): Promise<unknown> | undefined {
  const amountCents = cents(amount)
  const cause = { type: 'trial', id: newId('trial') }
  const collected = (from: string, to: string) => ({ from, to, amountCents, cause })
  const accounts = { wallets: [id], others }
  if (kind === 'collect') {
    const repaid = model.owner < amountCents ? model.owner : amountCents
    model.owner -= repaid
    model.wallet += amountCents - repaid
    model.acquirer += amountCents
    return inBook(accounts, book => {
      postAcquirerMovement('collect', collected('clearing_acquirer', id), book)
      expect(book.repayDebt(id, amountCents, cause)).toBe(repaid)
    })
  }
  if (kind === 'settle') {
    if (model.acquirer < amountCents) return undefined
    model.acquirer -= amountCents
    return inBook(accounts, book =>
      postAcquirerMovement('collect_settle', collected('bank', 'clearing_acquirer'), book),
    )
  }
  if (kind === 'draw back') {
    const drawn = model.wallet < amountCents ? model.wallet : amountCents
    model.wallet -= drawn
    model.owner += amountCents - drawn
    return inBook(accounts, book =>
      expect(book.forceDebit('fund_reversal', id, 'bank', amountCents, cause)).toBe(amountCents - drawn),
    )
  }
  if (model.wallet < amountCents) return undefined
  model.wallet -= amountCents
  if (kind === 'refund') {
    model.acquirer -= amountCents
    return inBook(accounts, book =>
      postAcquirerMovement('collect_refund', collected(id, 'clearing_acquirer'), book),
    )
  }
  return inBook(accounts, book => book.move('charge_out', id, 'bank', amountCents, cause))
}

describe('after any charges, payouts and refunds of an acquirer,', () => {
  test('the bank account covers all wallet debits through the platform’s advances', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 40 }), async steps => {
        const id = await wallet()
        model.wallet = 0n
        const before = (await readLedgerTotals(sql, tenant))('wallet').availableCents
        for (const one of steps) {
          await apply(one, id)
          const totals = await readLedgerTotals(sql, tenant)
          const stands = (kind: Parameters<typeof totals>[0]) => totals(kind).availableCents
          const unpaid = model.acquirer > 0n ? model.acquirer : 0n
          expect({
            wallets: stands('wallet'),
            acquirer: stands('clearing_acquirer'),
            owner: stands('receivable'),
            advance: stands('advance'),
          }).toEqual({
            wallets: before + model.wallet,
            acquirer: model.acquirer,
            owner: model.owner,
            advance: model.owner + unpaid,
          })
          expect(stands('bank')).toBeGreaterThanOrEqual(stands('wallet'))
        }
      }),
      { numRuns: 10 },
    )
    await expectVerifiedLedger(client)
  })
})
