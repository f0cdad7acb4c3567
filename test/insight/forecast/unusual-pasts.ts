import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { buildSpendHistory } from '../../../src/insight/forecast/history.ts'
import { type Cents, cents, NO_CENTS } from '../../../src/values/money.ts'
import { bodyOf } from '../../support/factories.ts'
import { startTestService } from '../../support/harness.ts'
import { spentBefore } from '../../support/insight/past-cells.ts'
import {
  aPayingOwner,
  comeBack,
  later,
  type PayingOwner,
  pay,
  payByCard,
  steady,
  todayOf,
} from '../../support/insight/paying.ts'

const service = await startTestService()

const forecast = ({ client }: PayingOwner, { id }: { readonly id: string }) =>
  bodyOf(client.forecast.ofAgent({ params: { id }, query: { days: 14 } }))

type Forecast = Awaited<ReturnType<typeof forecast>>
type Figures = Pick<Forecast['data'][number], 'p10' | 'p50' | 'p90'>

/** Without dates. */
const figuresOf = ({ data, total }: Forecast): Figures[] =>
  [...data, ...(total ? [total] : [])].map(({ p10, p50, p90 }) => ({ p10, p50, p90 }))

const allOf = (euros: number): Figures => ({ p10: euros, p50: euros, p90: euros })
const NOTHING = allOf(0)

function expectInOrder(told: Forecast): void {
  const figures = figuresOf(told)
  expect(figures).toHaveLength(15)
  expect(figures.filter(({ p10, p50, p90 }) => !(p10 >= 0 && p10 <= p50 && p50 <= p90))).toEqual([])
}

/** One amount for each day up to yesterday, the earliest first. */
const daily = (days: number, centsOn: (day: number) => number) =>
  Array.from({ length: days }, (_, day) => ({
    daysAgo: days - day,
    cents: centsOn(day),
    merchant: 'bookshop',
  }))

describe('the forecast of an unusual past', () => {
  test('takes each day of a year in which nothing was paid for nothing, and forgets what lies further back', async () => {
    const owner = await aPayingOwner(service)
    const { client, agent } = owner
    await pay(owner, 50)
    await later(client, 365)
    const silent = await steady(service, () => forecast(owner, agent))
    expect(silent.basis).toMatchObject({ method: 'same_weekdays', days: 365 })
    expect(figuresOf(silent)).toEqual(Array(15).fill(NOTHING))
    expect(silent.runsOut.wallet).toEqual({ p10: null, p50: null, p90: null })
    await pay(owner, 20)
    const [today, ...others] = figuresOf(await forecast(owner, agent))
    expect(today).toEqual(allOf(20))
    expect(others).toEqual([...Array(13).fill(NOTHING), allOf(20)])
    await later(client, 36)
    const later36 = await forecast(owner, agent)
    expect(later36.basis).toMatchObject({ method: 'same_weekdays', days: 36 })
    expectInOrder(later36)
  })

  test('stays as it is where more comes back on a day than was paid on it, and is never below nothing', async () => {
    const owner = await aPayingOwner(service)
    const { client, holder } = owner
    const paid = await payByCard(owner, 40)
    for (let day = 2; day <= 8; day += 2) {
      await later(client, 2)
      await payByCard(owner, 8 + day)
    }
    const before = await forecast(owner, holder)
    await comeBack(owner, paid, 40)
    const { total } = await bodyOf(client.analytics.costs({ query: { from: await todayOf(client) } }))
    expect(total).toMatchObject({ spentEuros: 16, refundedEuros: 40, netEuros: -24 })
    const after = await steady(service, () => forecast(owner, holder))
    expect(figuresOf(after)).toEqual(figuresOf(before))
    await later(client, 1)
    const dayAfter = await forecast(owner, holder)
    expect(dayAfter.basis.days).toBe(9)
    expectInOrder(dayAfter)
  })

  test('is never negative, for any refunds and corrections', () => {
    const dayOf = (day: string, spentCents: Cents) => ({
      day,
      count: 1,
      spentCents,
      refundedCents: cents(4_000n),
      feesCents: NO_CENTS,
    })
    const history = buildSpendHistory(
      [dayOf('2026-01-01', cents(500n)), dayOf('2026-01-02', cents(-300n))],
      '2026-01-04',
    )
    expect(history.spend.cents).toEqual([500, 0, 0])
    expect(
      buildSpendHistory([dayOf('2026-01-01', cents(500n)), dayOf('2026-01-04', cents(-300n))], '2026-01-04')
        .todayCents,
    ).toBe(0)
  })

  test('of weeks that are alike is that week, and loses nothing', async () => {
    const owner = await aPayingOwner(service)
    const { agent } = owner
    await spentBefore(
      service,
      owner,
      agent.id,
      daily(36, day => 1_000 * (1 + (day % 7))),
    )
    const { backtest, basis, data } = await forecast(owner, agent)
    expect(backtest).toMatchObject({ days: 8, coverage: 1, lossEuros: 0, rivalLossEuros: 0 })
    expect(backtest?.naiveLossEuros).toBeGreaterThan(0)
    expect(data.slice(0, 7)).toEqual(data.slice(7).map((day, n) => ({ ...day, date: data[n]?.date })))
    expect(data.slice(0, 3).map(({ p10, p50, p90 }) => [p10, p50, p90])).toEqual(
      [20, 30, 40].map(euros => Array(3).fill(euros)),
    )
    expect(basis).toMatchObject({ method: 'same_weekdays', notes: [] })
  })

  test('does not depend on the spending of unrelated agents, at the same merchants and at others', async () => {
    const owner = await aPayingOwner(service)
    const { client, agent, holder } = owner
    const weekly = [7, 14, 21, 28, 35].map(daysAgo => ({ daysAgo, cents: 999, merchant: 'netflix' }))
    const own = daily(60, day => 500 + ((day * 7_919) % 3_000))
    await spentBefore(service, owner, agent.id, [...own, ...weekly])
    await pay(owner, 12)
    const before = await forecast(owner, agent)
    expect(before.basis).toMatchObject({ method: 'same_weekdays', known: [{ merchant: 'netflix' }, {}] })
    const past = fc.array(
      fc.record({
        daysAgo: fc.integer({ min: 1, max: 399 }),
        cents: fc.integer({ min: 1, max: 1_000_000 }),
        merchant: fc.constantFrom('bookshop', 'netflix', 'rare maps'),
      }),
      { minLength: 1, maxLength: 60 },
    )
    const today = fc.array(fc.integer({ min: 1, max: 50 }), { maxLength: 2 })
    await fc.assert(
      fc.asyncProperty(past, today, async (spent, paid) => {
        await spentBefore(service, owner, holder.id, spent)
        for (const amount of paid) await payByCard(owner, amount)
        expect(await forecast(owner, agent)).toEqual(before)
      }),
      { numRuns: 8 },
    )
    await payByCard(owner, 500)
    expect(await steady(service, () => forecast(owner, agent))).toEqual(before)
    const { data } = await bodyOf(client.forecast.ofOwner())
    expect(data[0]?.p10).toBeGreaterThanOrEqual(512)
  })
})
