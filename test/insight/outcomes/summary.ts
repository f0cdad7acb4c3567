import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { successRate } from '../../../src/insight/outcomes/summary.ts'
import { anIntent, aRun, bodyOf, type TestClient } from '../../support/factories.ts'
import { startTestService } from '../../support/harness.ts'
import { aPayingOwner, countAll, later, pay } from '../../support/insight/paying.ts'

const service = await startTestService()

const report = (client: TestClient, intentId: string, success: boolean, more: object = {}) =>
  bodyOf(client.outcomes.create({ body: { intentId, success, ...more } }))

/** Three paid intents, one unpaid, and one without a report. */
async function aReportingOwner() {
  const owner = await aPayingOwner(service)
  const { client, agent } = owner
  const run = await aRun(client, agent.id)
  const paid = [
    await pay(owner, 10, { runId: run.id, metadata: { team: 'research' } }),
    await pay(owner, 20, { metadata: { team: 'research' } }),
    await pay(owner, 30),
    await pay(owner, 40, { metadata: { team: 'sales' } }),
  ]
  const unpaid = await anIntent(client, agent.id, { walletId: owner.shopId, amountEuros: 5 })
  const [first, second, third] = paid.map(({ intent }) => intent.id) as [string, string, string]
  await report(client, first, true, { valueEuros: 100 })
  await report(client, second, true, { valueEuros: 0.01 })
  await report(client, third, false, { metadata: { team: 'legal' } })
  await report(client, unpaid.id, false)
  return { ...owner, run }
}

describe('the summary of outcomes', () => {
  test('has the reported outcomes, their cost, and the number of unreported ones', async () => {
    const { client, agent } = await aReportingOwner()
    const summary = await bodyOf(client.outcomes.summary())
    const figures = {
      reported: 4,
      succeeded: 2,
      successRate: { rate: 0.5, low: 0.15, high: 0.85 },
      netSpendEuros: 60,
      valueEuros: 100.01,
      valued: 2,
      returnEuros: 40.01,
      returnShare: 0.6668,
      costPerSuccessEuros: 30,
      unreported: 1,
    }
    expect(summary).toMatchObject({ groupBy: 'agent', total: figures, other: null })
    expect(summary.data).toEqual([{ key: agent.id, name: 'Buyer', ...figures }])
    await countAll(service)
    expect(await bodyOf(client.outcomes.summary())).toEqual(summary)
  })

  test('is divided by merchant, code, run and labels, and the parts are the whole', async () => {
    const { client, run } = await aReportingOwner()
    const keysBy: Record<string, unknown[][]> = {}
    for (const isCounted of [false, true]) {
      if (isCounted) await countAll(service)
      for (const groupBy of ['agent', 'merchant', 'mcc', 'run', 'metadata.team', 'metadata.none'])
        for (const limit of [1, 100]) {
          const { total, data, other } = await bodyOf(client.outcomes.summary({ query: { groupBy, limit } }))
          expect(total).toMatchObject({ reported: 4, netSpendEuros: 60, unreported: 1 })
          const parts = [...data, ...(other ? [other] : [])]
          for (const name of [
            'reported',
            'succeeded',
            'netSpendEuros',
            'valueEuros',
            'valued',
            'returnEuros',
            'unreported',
          ] as const)
            expect([
              groupBy,
              name,
              parts.reduce((all, part) => all + Math.round(part[name] * 100), 0),
            ]).toEqual([groupBy, name, Math.round(total[name] * 100)])
          if (limit === 100)
            keysBy[groupBy] = data.map(({ key, reported, unreported }) => [key, reported, unreported])
        }
      expect(keysBy.run).toEqual([
        [null, 3, 1],
        [run.id, 1, 0],
      ])
      expect(keysBy['metadata.team']).toEqual(
        [
          ['research', 2, 0],
          [null, 1, 0],
          ['legal', 1, 0],
          ['sales', 0, 1],
        ].sort(byRank),
      )
      expect(keysBy['metadata.none']).toEqual([[null, 4, 1]])
      expect(keysBy.merchant).toEqual([['bookshop', 4, 1]])
    }
  })

  test('groups by merchant, even if an outcome has its merchant by the rules of an earlier version', async () => {
    const { client, ownerId } = await aReportingOwner()
    await service.sql(`update outcomes set merchant = 'book shop' where owner_id = $1`, [ownerId])
    const { data } = await bodyOf(client.outcomes.summary({ query: { groupBy: 'merchant' } }))
    expect(data.map(({ key, reported, unreported }) => [key, reported, unreported])).toEqual([
      ['book shop', 4, 0],
      ['bookshop', 0, 4],
    ])
  })

  test('is of the intents that were declared in its days', async () => {
    const { client } = await aReportingOwner()
    await later(client, 40)
    expect((await bodyOf(client.outcomes.summary())).total).toMatchObject({
      reported: 0,
      successRate: null,
      costPerSuccessEuros: null,
      returnShare: null,
      unreported: 0,
    })
    for (const groupBy of ['hour', 'metadata', 'metadata.', '', 'agent '])
      expect((await client.outcomes.summary({ query: { groupBy } })).error).toMatch(/^groupBy: /)
  })
})

const byRank = (one: unknown[], other: unknown[]): number =>
  Number(other[1]) - Number(one[1]) ||
  Number(other[2]) - Number(one[2]) ||
  (String(one[0] ?? '') < String(other[0] ?? '') ? -1 : 1)

describe('the interval of a rate', () => {
  test('is that of published tables', () => {
    expect(successRate(2, 3)).toEqual({ rate: 0.6667, low: 0.2077, high: 0.9385 })
    expect(successRate(0, 10)).toEqual({ rate: 0, low: 0, high: 0.2775 })
    expect(successRate(10, 10)).toEqual({ rate: 1, low: 0.7225, high: 1 })
    expect(successRate(81, 263)).toEqual({ rate: 0.308, low: 0.2553, high: 0.3662 })
    expect(successRate(0, 0)).toBe(null)
  })

  test('has the rate in it, stays between 0 and 1, and is narrower the more there are', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 1_000 }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (trials, share) => {
          const successes = Math.round(trials * share)
          const { rate, low, high } = successRate(successes, trials) as NonNullable<
            ReturnType<typeof successRate>
          >
          expect(0 <= low && low <= rate && rate <= high && high <= 1).toBe(true)
          const more = successRate(successes * 10, trials * 10) as NonNullable<ReturnType<typeof successRate>>
          expect(more.high - more.low).toBeLessThanOrEqual(high - low)
        },
      ),
    )
  })
})
