import { beforeAll, describe, expect, test } from '@jest/globals'
import { bodyOf } from '../../support/factories.ts'
import { startTestService } from '../../support/harness.ts'
import { addedUp, addedUpBy, figuresIn, type Paid, toldByLists } from '../../support/insight/by-hand.ts'
import { countAll, steady, todayOf } from '../../support/insight/paying.ts'
import { buyUntilRefused, limitMonth, threeMonths } from '../../support/insight/three-months.ts'

const service = await startTestService()

/** The texts of the story differ from their merchants only in case. */
const merchantOf = ({ merchant }: Paid): string => merchant.toLowerCase()
const euros = (cents: number): number => cents / 100

describe('three months of agents that buy on weekdays, subscribe, burst and err', () => {
  let story: Awaited<ReturnType<typeof threeMonths>>
  let lists: Awaited<ReturnType<typeof toldByLists>>
  let query: { from: string; to: string }

  beforeAll(async () => {
    story = await threeMonths(service)
    lists = await toldByLists(story.client)
    query = { from: story.first, to: await todayOf(story.client) }
  })

  const ask = <T>(report: () => Promise<T>): Promise<T> => steady(service, report)

  test('cost what the list of transactions adds up to, by day, month and agent', async () => {
    const { client, came } = story
    for (const groupBy of ['day', 'month'] as const) {
      const length = groupBy === 'day' ? 10 : 7
      const { total, data } = await ask(() =>
        bodyOf(client.analytics.costs({ query: { ...query, groupBy } })),
      )
      expect(figuresIn(total)).toEqual(addedUp(lists.paid))
      expect(data.map(line => [line.agentId, ...figuresIn(line)])).toEqual(
        addedUpBy(lists.paid, ({ agentId }) => agentId),
      )
      const spent = addedUpBy(lists.paid, ({ createdAt }) => createdAt.slice(0, length))
      const periods = total.periods.filter(({ count }) => count > 0)
      expect(new Map(periods.map(one => [one.from.slice(0, length), one.spentEuros]))).toEqual(
        new Map(spent.map(([period, , cents]) => [String(period), euros(Number(cents))])),
      )
      const back = total.periods.filter(({ refundedEuros }) => refundedEuros > 0)
      expect(back.map(one => [one.from.slice(0, length), one.refundedEuros])).toEqual(
        came.map(({ on, euros: amount }) => [on.slice(0, length), amount]),
      )
    }
  })

  test('paid merchants what the list adds up to, with the rhythm of each subscription', async () => {
    const { client, holder } = story
    const { data, total } = await ask(() => bodyOf(client.analytics.merchants({ query })))
    expect(data.map(line => [line.key, ...figuresIn(line)])).toEqual(addedUpBy(lists.paid, merchantOf))
    expect(figuresIn(total)).toEqual(addedUp(lists.paid))
    for (const { key, firstOn, lastOn } of data) {
      const days = lists.paid
        .filter(one => merchantOf(one) === key)
        .map(({ createdAt }) => createdAt.slice(0, 10))
      expect([firstOn, lastOn]).toEqual([days.at(-1), days[0]])
    }
    const rhythms = data.flatMap(({ key, rhythm }) =>
      rhythm ? [[key, rhythm.agentId, rhythm.every, rhythm.times, rhythm.next.slice(5)]] : [],
    )
    expect(rhythms.sort()).toEqual([
      ['deutsche bahn', holder.id, 'week', 13, '04-07'],
      ['netflix', holder.id, 'month', 3, '04-15'],
    ])
  })

  test('are allocated to runs and teams as the lists of transactions and intents tell', async () => {
    const { client } = story
    const teams = new Map(lists.intents.map(({ id, metadata }) => [id, metadata.team ?? null]))
    const teamOf = ({ intentId }: Paid) => (intentId ? (teams.get(intentId) ?? null) : null)
    for (const [groupBy, keyOf] of [
      ['run', ({ runId }: Paid) => runId],
      ['agent', ({ agentId }: Paid) => agentId],
      ['merchant', merchantOf],
      ['metadata.team', teamOf],
    ] as const) {
      const { data } = await ask(() => bodyOf(client.analytics.allocation({ query: { ...query, groupBy } })))
      expect([groupBy, data.map(line => [line.label, ...figuresIn(line)])]).toEqual([
        groupBy,
        addedUpBy(lists.paid, keyOf),
      ])
    }
  })

  test('count what was denied and declined, and were worth what was reported', async () => {
    const { client, outcomes } = story
    const costs = await ask(() => bodyOf(client.analytics.costs({ query })))
    const denied = lists.intents.filter(({ status }) => status === 'denied')
    const declined = lists.transactions.filter(({ status }) => status === 'declined')
    const [count, cents] = addedUp([...denied, ...declined].map(one => ({ ...one, refundedEuros: 0 })))
    expect(costs.total).toMatchObject({
      deniedCount: count,
      deniedEuros: euros(Number(cents)),
      refundedEuros: euros(Number(addedUp(lists.paid)[2])),
    })
    const { total } = await ask(() => bodyOf(client.outcomes.summary({ query })))
    const reported = new Set(outcomes.map(({ intentId }) => intentId))
    const [, , , net] = addedUp(lists.paid.filter(({ intentId }) => reported.has(intentId ?? '')))
    const completed = lists.intents.filter(({ status }) => status === 'completed').length
    expect(total).toMatchObject({
      reported: outcomes.length,
      succeeded: outcomes.filter(({ success }) => success).length,
      valueEuros: outcomes.reduce((sum, { valueEuros }) => sum + valueEuros, 0),
      netSpendEuros: euros(Number(net)),
      unreported: completed - outcomes.length,
    })
  })

  test('tell a person of the charge that was made twice, and of the subscription that became dearer', async () => {
    const { client, holder } = story
    const { data } = await ask(() => bodyOf(client.analytics.anomalies({ query: { to: query.to } })))
    expect(data.filter(({ agentId }) => agentId === holder.id).map(({ sentence }) => sentence)).toEqual([
      expect.stringMatching(
        /^deutsche bahn charged € 20.00 2 times on .*-03-31; it usually charges once a day.$/,
      ),
      'The monthly charge of netflix has risen from € 12.99 to € 15.99, by 23 %.',
    ])
  })

  test('are forecast with each subscription on its day, and with the depletion date of the budget', async () => {
    const { client, agent, holder } = story
    await countAll(service)
    const { data, basis, backtest } = await bodyOf(
      client.forecast.ofAgent({ params: { id: holder.id }, query: { days: 20 } }),
    )
    const charged = data.filter(({ p50 }) => p50 > 0).map(({ date, p50 }) => [date.slice(5), p50])
    expect(charged).toEqual([
      ['04-07', 20],
      ['04-14', 20],
      ['04-15', 15.99],
    ])
    expect(basis.known.map(({ date, merchant }) => [date.slice(5), merchant])).toEqual([
      ['04-07', 'deutsche bahn'],
      ['04-14', 'deutsche bahn'],
      ['04-15', 'netflix'],
    ])
    expect(backtest?.days).toBeGreaterThan(50)
    await limitMonth(story, 320)
    const { runsOut } = await bodyOf(client.forecast.ofAgent({ params: { id: agent.id } }))
    const { p10, p50, p90 } = runsOut.budget
    const ranOut = await buyUntilRefused(story, story.last + 1)
    expect([p10, p50, p90, ranOut].map(day => day?.slice(0, 7))).toEqual(Array(4).fill(ranOut.slice(0, 7)))
    expect(String(p10) <= ranOut && ranOut <= String(p90)).toBe(true)
  })
})
