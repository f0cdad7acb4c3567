import { expect, test } from '@jest/globals'
import fc from 'fast-check'
import { refundTransfer, transferRefundBatch } from '../../../src/commerce/transfers/index.ts'
import type { BudgetCounter } from '../../../src/control/budgets/counter.ts'
import { BudgetCounters } from '../../../src/control/budgets/counters.ts'
import { loadRefundBook } from '../../../src/money/refunds/index.ts'
import { newCompletedTransaction } from '../../../src/money/transactions/index.ts'
import { cents, NO_CENTS } from '../../../src/values/money.ts'

const PAID = cents(1_000n)
const CAUSE = { type: 'intent', id: 'intent_1' }
const tenantNow = {
  tenant: { ownerId: 'customer_1', mode: 'test' },
  now: new Date('2026-11-24T12:00:00.000Z'),
} as const

const counter = (period: string): BudgetCounter => ({
  ...{
    subject: 'agent_1',
    period,
    reserved: NO_CENTS,
    spent: NO_CENTS,
    reservedUses: 0,
    uses: 0,
    term: null,
  },
  ...{ lastSpendAt: null, firstMerchant: null, limit: null, mandate: null },
})

function countersOfPayer() {
  const periods = ['all', 'day:2026-11-24', 'month:2026-11'].map(counter)
  const counters = new BudgetCounters(tenantNow.tenant, tenantNow.now, periods, [])
  counters.reserve(CAUSE, ['agent_1'], PAID, null)
  counters.spend(CAUSE, PAID, 'Bookshop')
  return counters
}

test('partial refunds of payees reduce the limits up to the paid amount, and are recorded in full', async () => {
  const refunds = await loadRefundBook(async () => [], tenantNow, {})
  const parts = fc.array(fc.bigInt({ min: 1n, max: PAID + 1n }).map(cents), { minLength: 1, maxLength: 6 })
  fc.assert(
    fc.property(parts, amounts => {
      const emitted: { readonly event: string; readonly data: Record<string, unknown> }[] = []
      const emit = (event: string, data: object) => void emitted.push({ event, data: { ...data } })
      const transaction = newCompletedTransaction(
        {
          ...{ type: 'transfer', walletId: 'wallet_1', agentId: 'agent_1', amountCents: PAID },
          ...{ merchant: 'Bookshop', intentId: CAUSE.id, transferId: 'transfer_1' },
        },
        { ...tenantNow, emit: () => undefined, wake: () => undefined },
      )
      const counters = countersOfPayer()
      const transactions = new Map([[transaction.id, transaction]])
      const batch = transferRefundBatch(tenantNow, { counters, refunds, transactions })
      let sum = 0n
      for (const [n, amountCents] of amounts.entries()) {
        const id = `credit_${n}`
        const place = { walletId: 'wallet_1', source: { type: 'credit', id } }
        refundTransfer(transaction, { id, amountCents, ...place }, batch, {
          ...tenantNow,
          emit,
          wake: () => undefined,
        })
        sum += amountCents
        const back = sum < PAID ? sum : PAID
        expect(transaction).toMatchObject({
          ...{ refundedCents: back, status: back === PAID ? 'refunded' : 'completed' },
        })
        expect(counters.reservationOf(CAUSE)).toMatchObject({ reserved: 0n, spent: PAID - back })
        const recorded = emitted.filter(({ event }) => event === 'refund.completed').map(({ data }) => data)
        const total = (isOfPayment: boolean) =>
          recorded
            .filter(({ transactionId }) => (transactionId !== null) === isOfPayment)
            .reduce((total, one) => total + BigInt(String(one.amountCents)), 0n)
        expect([total(true), total(false)]).toEqual([back, sum - back])
      }
      expect(batch.changed.transactions).toEqual(new Set([transaction]))
    }),
    { numRuns: 300 },
  )
})
