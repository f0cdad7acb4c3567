import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { expectVerifiedLedger } from '../../support/verified-ledger.ts'
import { FUNDS, PAID, Payment } from './followed-payment.ts'
import { Oracle, type Step } from './oracle.ts'
import { countedOf } from './service.ts'
import { atOnce, known, knownAtOnce, story } from './stories.ts'

/** Expected sums of the owner's money, the records and the limits. */
interface Sums {
  readonly back: number
  readonly beside: number
  readonly credited: number
  readonly kept: number
}

async function expectAgreement(payment: Payment, { back, beside, credited, kept }: Sums): Promise<void> {
  const worth = FUNDS + beside + back + credited - PAID
  const stands = {
    worth: await payment.worth(),
    recorded: [await payment.recorded(true), await payment.recorded(false)],
    counted: await countedOf([payment.agentId]),
  }
  expect(stands).toEqual({
    worth,
    recorded: [back, beside],
    counted: [{ reserved: 0, spent: PAID - back - kept, uses: 1 }],
  })
  await expectVerifiedLedger(payment.client)
}

async function follow(steps: readonly Step[]): Promise<void> {
  const payment = await Payment.begin()
  const oracle = new Oracle(PAID)
  for (const [n, one] of steps.entries()) {
    const isTaken = await payment.take(one)
    expect([n, one, isTaken]).toEqual([n, one, oracle.take(one)])
    if (!oracle.isCleared) continue
    const { back, credited, kept } = oracle
    expect([n, one, await payment.back()]).toEqual([n, one, { back, credited, kept }])
    expect(back + credited).toBeLessThanOrEqual(PAID)
  }
  await expectAgreement(payment, oracle)
}

/** Two processes take all steps concurrently on a partly disputed payment. */
async function followAtOnce([isUnauthorized, ...steps]: readonly [boolean, ...Step[]]): Promise<void> {
  const payment = await Payment.begin()
  await payment.take({ kind: 'clear' })
  await payment.take({ kind: 'dispute', cents: 700, isUnauthorized })
  const isTaken = await Promise.all(steps.map(one => payment.take(one)))
  const sent = steps.reduce((sum, one, n) => (one.kind === 'credit' && isTaken[n] ? sum + one.cents : sum), 0)
  const { back, credited, kept } = await payment.back()
  expect(back + credited).toBeLessThanOrEqual(PAID)
  await expectAgreement(payment, { back, beside: sent - back, credited, kept })
}

const shown = { verbose: 1, endOnFailure: true } as const

describe('refunds, disputes and credits of the network of one payment', () => {
  test('never come to more than was paid in any order, save by facts, and money, limits and ledger agree', () =>
    fc.assert(fc.asyncProperty(story, follow), { numRuns: 20, examples: known, ...shown }))

  test('never come to more than was paid at one instant, and money, limits and ledger agree', () =>
    fc.assert(fc.asyncProperty(atOnce, followAtOnce), {
      numRuns: 10,
      examples: knownAtOnce,
      ...shown,
    }))
})
