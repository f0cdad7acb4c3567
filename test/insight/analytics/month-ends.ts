import { describe, expect, test } from '@jest/globals'
import { nextChargeDateAfter } from '../../../src/insight/analytics/charge-series.ts'
import { daysBetween } from '../../../src/insight/reports/index.ts'
import { bodyOf } from '../../support/factories.ts'
import { startTestService } from '../../support/harness.ts'
import { aPayingOwner, later, payByCard, steady, todayOf } from '../../support/insight/paying.ts'

const service = await startTestService()

const lastOf = (year: number, month: number): string =>
  new Date(Date.UTC(year, month, 0)).toISOString().slice(0, 10)

describe('a charge at the end of each month', () => {
  test.each([
    ['on the 31st', ['2026-01-31', '2026-02-28', '2026-03-31'], ['2026-04-30', '2026-05-31']],
    [
      'on the 31st, past a leap day',
      ['2027-12-31', '2028-01-31', '2028-02-29'],
      ['2028-03-31', '2028-04-30'],
    ],
    ['on the 31st, past New Year', ['2026-10-31', '2026-11-30', '2026-12-31'], ['2027-01-31', '2027-02-28']],
    ['on the 30th', ['2026-01-30', '2026-02-28', '2026-03-30'], ['2026-04-30', '2026-05-30']],
    ['on the 28th', ['2026-01-28', '2026-02-28', '2026-03-28'], ['2026-04-28', '2026-05-28']],
  ])('is expected on its day, or on the last one of a shorter month: %s', (_, days, expected) => {
    const next = nextChargeDateAfter({ every: 'month', days })
    const one = next(days.at(-1) ?? '')
    expect([one, next(one)]).toEqual(expected)
  })

  test('a charge at the ends of January to March is monthly, and expected at the ends of April and May', async () => {
    const known = await service.owner()
    const { client } = known
    const until = async (day: string) => {
      const days = daysBetween(await todayOf(client), day)
      if (days > 0) await later(client, days)
    }
    const today = await todayOf(client)
    const thisYear = Number(today.slice(0, 4))
    const year = today <= lastOf(thisYear, 1) ? thisYear : thisYear + 1
    await until(lastOf(year, 1))
    const owner = await aPayingOwner(service, known)
    for (const month of [1, 2, 3]) {
      await until(lastOf(year, month))
      await payByCard(owner, 20, 'NETFLIX.COM')
    }
    await later(client, 1)
    const [from, last] = [lastOf(year, 1), lastOf(year, 3)]
    const { data } = await steady(service, () => bodyOf(client.analytics.merchants({ query: { from } })))
    expect(data).toMatchObject([
      {
        key: 'netflix',
        firstOn: from,
        lastOn: last,
        rhythm: { every: 'month', times: 3, since: from, last, next: lastOf(year, 4), change: 0 },
      },
    ])
    const params = { id: owner.holder.id }
    const ahead = await bodyOf(client.forecast.ofAgent({ params, query: { days: 90 } }))
    const ends = [lastOf(year, 4), lastOf(year, 5)]
    expect(ahead.basis.known.map(({ kind, date }) => [kind, date])).toEqual(
      ends.map(date => ['subscription', date]),
    )
    expect(ahead.data.filter(({ p90 }) => p90 > 0)).toEqual(
      ends.map(date => ({ date, p10: 20, p50: 20, p90: 20 })),
    )
  })
})
