import { describe, expect, test } from '@jest/globals'
import { utcDay } from '../../../src/values/clock.ts'
import { anAgent, anIntent, aRun, asCsv, aWallet, bodyOf } from '../../support/factories.ts'
import { startTestService } from '../../support/harness.ts'
import { spentBefore } from '../../support/insight/past-cells.ts'
import {
  aPayingOwner,
  comeBack,
  later,
  pay,
  payByCard,
  steady,
  todayOf,
} from '../../support/insight/paying.ts'

const service = await startTestService()

const dayAfter = (day: string, days: number): string => utcDay(new Date(Date.parse(day) + days * 86_400_000))

describe('the merchants that most was paid to', () => {
  test('are one for all spellings, whose texts stay visible, and the rest is `other`', async () => {
    const owner = await aPayingOwner(service)
    const { client } = owner
    const paid = await payByCard(owner, 40, 'AMZN MKTP DE*1X2Y3')
    await payByCard(owner, 15, 'Amazon')
    await pay(owner, 5, { walletId: (await aWallet(client, 0, { name: 'amazon eu' })).id })
    await comeBack(owner, paid, 10)
    await pay(owner, 5)
    const report = await steady(service, () => bodyOf(client.analytics.merchants({ query: { limit: 1 } })))
    const day = await todayOf(client)
    expect(report).toMatchObject({
      total: { count: 4, spentEuros: 65, refundedEuros: 10, netEuros: 55 },
      data: [
        {
          key: 'amazon',
          count: 3,
          spentEuros: 60,
          refundedEuros: 10,
          netEuros: 50,
          share: 0.9091,
          firstOn: day,
          lastOn: day,
          rhythm: null,
        },
      ],
      other: { groups: 1, netEuros: 5 },
    })
    expect(report.data[0]?.names).toEqual(['Amazon', 'amazon eu'])
    const trades = await bodyOf(client.analytics.merchants({ query: { groupBy: 'mcc' } }))
    expect(trades.data.map(({ key, netEuros }) => [key, netEuros])).toEqual([
      ['5942', 45],
      [null, 10],
    ])
    const table = String(await bodyOf(client.analytics.merchants({ query: { limit: 1 }, ...asCsv })))
    expect(table.split('\r\n')[2]).toBe('other,,1,5.00,0.00,5.00,,,,')
  })

  test('are one as for the rules: by the intent, and without one by the descriptor', async () => {
    const owner = await aPayingOwner(service)
    const { client, holder } = owner
    await anIntent(client, holder.id, { merchant: 'Bookshop', amountEuros: 30 })
    for (const descriptor of [
      'BOOKSHOP BERLIN',
      'BOOKSHOP BERLIN DE',
      'SQ *BOOKSHOP 1234 BERLIN',
      'Bookshop',
    ])
      await payByCard(owner, 20, descriptor)
    await anIntent(client, holder.id, { merchant: 'Pizzeria am alten Markt', amountEuros: 30 })
    await payByCard(owner, 10, 'PIZZERIA AM ALTEN MARK')
    await payByCard(owner, 5, 'PIZZERIA NAPOLI')
    const { data } = await steady(service, () => bodyOf(client.analytics.merchants({})))
    expect(data.map(({ key, count, netEuros }) => [key, count, netEuros])).toEqual([
      ['bookshop', 4, 80],
      ['pizzeria am alten markt', 1, 10],
      ['pizzeria napoli', 1, 5],
    ])
    const { data: intents } = await bodyOf(client.intents.list({ query: { agentId: holder.id } }))
    expect(intents.map(({ status }) => status)).toEqual(['completed', 'completed'])
    expect(await bodyOf(client.merchants.resolve({ query: { q: 'BOOKSHOP BERLIN' } }))).toMatchObject({
      name: 'Bookshop',
    })
  })

  test('have the rhythm in which they are paid, and how the amount has changed', async () => {
    const owner = await aPayingOwner(service)
    const { client, holder } = owner
    let from = ''
    for (const amount of [9.99, 9.99, 9.99, 12.99]) {
      from = await todayOf(client)
      await payByCard(owner, amount, 'NETFLIX.COM')
      await payByCard(owner, 3, 'Deutsche Bahn')
      await later(client, 15)
      await payByCard(owner, 4, 'Deutsche Bahn')
      await later(client, 15)
    }
    const { data } = await steady(service, () => bodyOf(client.analytics.merchants({ query: { from } })))
    const [netflix] = data.filter(({ key }) => key === 'netflix')
    expect(netflix?.rhythm).toMatchObject({
      agentId: holder.id,
      every: 'month',
      times: 4,
      firstEuros: 9.99,
      beforeEuros: 9.99,
      lastEuros: 12.99,
      change: 0.3003,
    })
    expect(data.find(({ key }) => key === 'deutsche bahn')?.rhythm).toBe(null)
    const to = dayAfter(await todayOf(client), 60)
    const withDaysToCome = await bodyOf(client.analytics.merchants({ query: { from, to } }))
    expect(withDaysToCome.data).toEqual(data)
    const { data: anomalies } = await steady(service, () =>
      bodyOf(client.analytics.anomalies({ query: { from } })),
    )
    expect(anomalies).toMatchObject([
      {
        kind: 'subscription_dearer',
        agentId: holder.id,
        merchant: 'netflix',
        figures: { amountEuros: 12.99, usualEuros: 9.99, share: 0.3, times: 4 },
        sentence: 'The monthly charge of netflix has risen from € 9.99 to € 12.99, by 30 %.',
      },
    ])
  })
})

describe('anomalies', () => {
  test('are a day and a merchant far from the usual ones, the same charge twice, and a new merchant', async () => {
    const owner = await aPayingOwner(service)
    const { client, holder, agent } = owner
    for (let day = 0; day < 20; day++) {
      await payByCard(owner, 10 + (day % 3), 'Bookshop')
      await later(client, 1)
    }
    await payByCard(owner, 11, 'Bookshop')
    await payByCard(owner, 11, 'Bookshop')
    await payByCard(owner, 400, 'Rare Maps')
    await pay(owner, 1)
    const query = { from: await todayOf(client) }
    const { data, others } = await steady(service, () => bodyOf(client.analytics.anomalies({ query })))
    expect(others).toBe(0)
    expect(data.map(({ kind, agentId, merchant }) => [kind, agentId, merchant])).toEqual(
      expect.arrayContaining([
        ['day_above_usual', holder.id, null],
        ['charged_twice', holder.id, 'bookshop'],
        ['new_merchant', holder.id, 'rare maps'],
      ]),
    )
    expect(data).toHaveLength(3)
    expect(data.every(({ score }) => score >= 0.5 && score <= 1)).toBe(true)
    const one = await bodyOf(client.analytics.anomalies({ query: { ...query, limit: 1 } }))
    expect(one).toMatchObject({ data: [data[0]], others: 2 })
    const groupsBy = async (groupBy: 'kind' | 'agent' | 'merchant') =>
      (await bodyOf(client.analytics.anomalies({ query: { ...query, groupBy } }))).groups.map(Object.values)
    expect(await groupsBy('agent')).toEqual([[holder.id, holder.name, 3]])
    expect(await groupsBy('merchant')).toEqual([null, 'bookshop', 'rare maps'].map(key => [key, null, 1]))
    expect(await groupsBy('kind')).toHaveLength(3)
    expect(await bodyOf(client.analytics.anomalies({ query: { agentId: agent.id } }))).toMatchObject({
      data: [],
    })
    expect(String(await bodyOf(client.analytics.anomalies({ query, ...asCsv }))).split('\r\n')).toHaveLength(
      5,
    )
  })

  test.each([
    [181, ['day_above_usual']],
    [182, []],
  ])('compare with the 182 days up to now: a first day %i days ago', async (ago, expected) => {
    const owner = await aPayingOwner(service)
    const { client } = owner
    await payByCard(owner, 10, 'Bookshop')
    await later(client, ago - 12)
    for (let day = 0; day < 12; day++) {
      await payByCard(owner, 10, 'Bookshop')
      await later(client, 1)
    }
    await payByCard(owner, 400, 'Bookshop')
    const query = { from: await todayOf(client) }
    const { data } = await steady(service, () => bodyOf(client.analytics.anomalies({ query })))
    expect(data.map(({ kind }) => kind).filter(kind => kind === 'day_above_usual')).toEqual(expected)
  })

  test('are a merchant that got more than six deviations above its median, once eight days are known', async () => {
    const owner = await aPayingOwner(service)
    const { client, holder } = owner
    for (let day = 0; day < 10; day++) {
      await payByCard(owner, 10 + (day % 3), 'Bookshop')
      if (day > 3) await payByCard(owner, 5, 'Rare Maps')
      await later(client, 1)
    }
    const unusualToday = async () => {
      const from = await todayOf(client)
      return (await steady(service, () => bodyOf(client.analytics.anomalies({ query: { from } })))).data
    }
    // € 11.00 are usual, and a deviation is € 2.20, a fifth of that. The other merchant has only seven days.
    await payByCard(owner, 24.2, 'Bookshop')
    await payByCard(owner, 200, 'Rare Maps')
    expect(await unusualToday()).toEqual([])
    await later(client, 1)
    await payByCard(owner, 90, 'Bookshop')
    const day = await todayOf(client)
    expect(await unusualToday()).toEqual([
      {
        kind: 'merchant_above_usual',
        agentId: holder.id,
        name: holder.name,
        merchant: 'bookshop',
        day,
        sentence: `bookshop received € 90.00 on ${day}; the usual amount is € 11.00 a day.`,
        figures: { amountEuros: 90, usualEuros: 11, deviations: 35.91 },
        score: 0.92,
      },
    ])
  })

  /** Charges of each month, the latest last; the expected price, and the anomalies of the latest month. */
  const SUBSCRIPTIONS = {
    'double charge at the old price': [[[29], [29], [29, 29]], 29, ['2 x 29']],
    'double charge at once': [[[29, 29], [29], [29]], 29, []],
    'rise and double charge on one day': [[[29], [29], [39, 39]], 39, ['2 x 39', '29 > 39']],
    'rise and triple charge on one day': [[[29], [29], [39, 39, 39]], 39, ['29 > 39', '3 x 39']],
    'rise, confirmed by the next charge': [[[29], [39, 39], [39]], 39, []],
    'rise, then a double charge': [[[29], [29], [39], [39, 39]], 39, ['2 x 39']],
    'rise that is counted once': [[[29], [29], [39], [39]], 39, []],
    'rise after a year': [[...Array<number[]>(11).fill([29]), [39]], 39, ['29 > 39']],
    'rise to more than twice': [[[29], [29], [78]], 78, ['29 > 78']],
    'two purchases, told by the next charge': [[[29], [29], [29, 49], [29]], 29, []],
    'two purchases, not in whole cents': [[[29], [29], [29, 49.01]], 78.01, ['29 > 78.01']],
    'old and new price, read as their mean': [[[29], [29], [29, 39]], 34, ['2 x 34', '29 > 34']],
    'old and new price, once the new one is charged alone': [[[29], [29], [29, 39], [39]], 39, []],
    'twice as many from now on': [[[29], [29], [29, 29], [29, 29]], 58, ['2 x 29', '29 > 58']],
    'lower price, charged twice': [[[29], [29], [19, 19], [19]], 19, []],
  } satisfies Record<string, [number[][], number, string[]]>

  test('tell a subscription that became more expensive from one that was charged twice, as the forecast does', async () => {
    const owner = await service.owner()
    const { client } = owner
    const { id } = await anAgent(client)
    const past = Object.entries(SUBSCRIPTIONS).flatMap(([merchant, [months]]) =>
      months.flatMap((charges, n) =>
        charges.map(euros => ({
          daysAgo: 1 + 30 * (months.length - 1 - n),
          cents: Math.round(euros * 100),
          merchant,
        })),
      ),
    )
    await spentBefore(service, owner, id, past)
    const [anomalies, merchants, ahead] = await Promise.all([
      bodyOf(client.analytics.anomalies({ query: { from: dayAfter(await todayOf(client), -1) } })),
      bodyOf(client.analytics.merchants()),
      bodyOf(client.forecast.ofAgent({ params: { id }, query: { days: 30 } })),
    ])
    const refusalFormOf = (key: string) =>
      anomalies.data.flatMap(({ kind, merchant, figures: { amountEuros, usualEuros, times } }) => {
        if (merchant !== key) return []
        if (kind === 'charged_twice') return [`${times} x ${usualEuros}`]
        return kind === 'subscription_dearer' ? [`${usualEuros} > ${amountEuros}`] : []
      })
    const seen = Object.keys(SUBSCRIPTIONS).map(key => [
      key,
      merchants.data.find(one => one.key === key)?.rhythm?.lastEuros,
      ahead.basis.known.find(({ merchant }) => merchant === key)?.amountEuros,
      refusalFormOf(key).sort(),
    ])
    const expected = Object.entries(SUBSCRIPTIONS).map(([key, [, price, told]]) => [key, price, price, told])
    expect(seen).toEqual(expected)
  })

  test('are no new merchant where it was paid long ago, before the days that are looked at one by one', async () => {
    const owner = await service.owner()
    const { client } = owner
    const agent = await anAgent(client)
    const paid = (daysAgo: number, merchant: string) => ({ daysAgo, cents: 1_000, merchant })
    await spentBefore(service, owner, agent.id, [
      paid(500, 'rare maps'),
      paid(5, 'bookshop'),
      paid(0, 'rare maps'),
      paid(0, 'map seller'),
    ])
    const query = { from: await todayOf(client) }
    const { data } = await bodyOf(client.analytics.anomalies({ query }))
    expect(data.map(({ kind, merchant }) => [kind, merchant])).toEqual([['new_merchant', 'map seller']])
  })

  test('are spending outside of runs, and a budget that does not last', async () => {
    const owner = await aPayingOwner(service)
    const { client, agent } = owner
    const today = await todayOf(client)
    const toTheTenth =
      (Date.UTC(Number(today.slice(0, 4)), Number(today.slice(5, 7)), 10) - Date.parse(today)) / 86_400_000
    await later(client, toTheTenth)
    const policy = await bodyOf(
      client.policies.create({
        body: { name: 'Little', monthlyLimitEuros: 100, autoApproveLimitEuros: 100 },
      }),
    )
    await bodyOf(client.policies.assign({ params: { agentId: agent.id }, body: { policyId: policy.id } }))
    const run = await aRun(client, agent.id)
    await pay(owner, 50, { runId: run.id })
    await pay(owner, 2)
    await bodyOf(client.policies.setBudget({ body: { dailyLimitEuros: null, monthlyLimitEuros: 60 } }))
    const { data } = await steady(service, () => bodyOf(client.analytics.anomalies()))
    expect(
      data.map(({ kind, agentId, figures }) => [kind, agentId, figures.amountEuros, figures.limitEuros]),
    ).toEqual([
      ['budget_at_this_pace', null, 52, 60],
      ['budget_at_this_pace', agent.id, 52, 100],
      ['outside_of_runs', agent.id, 2, undefined],
    ])
    expect(data[0]?.sentence).toContain('€ 52.00 of the € 60.00 that all agents share this month')
    const ofAgent = await bodyOf(client.analytics.anomalies({ query: { agentId: agent.id } }))
    expect(ofAgent.data.map(({ kind }) => kind)).toEqual(['budget_at_this_pace', 'outside_of_runs'])
    const unusual = async (query: object) =>
      (await bodyOf(client.analytics.anomalies({ query }))).data.map(({ kind, day }) => [kind, day])
    const [now, month] = [await todayOf(client), { to: dayAfter(await todayOf(client), 18) }]
    expect(await unusual({ ...month, from: now })).toEqual(data.map(({ kind, day }) => [kind, day]))
    expect(await unusual({ ...month, from: dayAfter(now, 1) })).toEqual([])
  })
})
