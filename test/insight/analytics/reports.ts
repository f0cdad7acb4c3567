import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import pg from 'pg'
import { distribute } from '../../../src/insight/analytics/distribute.ts'
import { countSpend } from '../../../src/insight/spend/index.ts'
import { aDispute, networkSays } from '../../support/commerce/disputes.ts'
import { anIntent, aRun, aWallet, bodyOf } from '../../support/factories.ts'
import { startTestService } from '../../support/harness.ts'
import { aPayingOwner, comeBack, later, pay, payByCard, todayOf } from '../../support/insight/paying.ts'

const service = await startTestService()

async function count(): Promise<void> {
  const pool = new pg.Pool({ connectionString: service.databaseUrl, max: 1 })
  await countSpend({ pool })
  await pool.end()
}

/** The answer, which is the same once everything is in the sums. */
async function steady<T>(ask: () => Promise<T>): Promise<T> {
  const first = await ask()
  await count()
  expect(await ask()).toEqual(first)
  return first
}

describe('the merchants that most was paid to', () => {
  test('are one for all spellings, whose texts stay visible, and the rest is `other`', async () => {
    const owner = await aPayingOwner(service)
    const { client } = owner
    const paid = await payByCard(owner, 40, 'AMZN MKTP DE*1X2Y3')
    await payByCard(owner, 15, 'Amazon')
    await pay(owner, 5, { walletId: (await aWallet(client, 0, { name: 'amazon eu' })).id })
    await comeBack(owner, paid, 10)
    await pay(owner, 5)
    const report = await steady(() => bodyOf(client.analytics.merchants({ query: { limit: 1 } })))
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
    const table = String(await bodyOf(client.analytics.merchantsTable({ query: { limit: 1 } })))
    expect(table.split('\r\n')[2]).toBe('other,,1,5.00,0.00,5.00,,,,')
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
    const { data } = await steady(() => bodyOf(client.analytics.merchants({ query: { from } })))
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
    const { data: anomalies } = await steady(() => bodyOf(client.analytics.anomalies({ query: { from } })))
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
    const { data, others } = await steady(() => bodyOf(client.analytics.anomalies({ query })))
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
    expect(await bodyOf(client.analytics.anomalies({ query: { agentId: agent.id } }))).toMatchObject({
      data: [],
    })
    expect(String(await bodyOf(client.analytics.anomaliesTable({ query }))).split('\r\n')).toHaveLength(5)
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
    const { data } = await steady(() => bodyOf(client.analytics.anomalies()))
    expect(
      data.map(({ kind, agentId, figures }) => [kind, agentId, figures.amountEuros, figures.limitEuros]),
    ).toEqual([
      ['budget_at_this_pace', agent.id, 52, 100],
      ['outside_of_runs', agent.id, 2, undefined],
    ])
  })
})

describe('the allocation of costs', () => {
  test('adds up to what was spent, by labels of intents, runs and agents', async () => {
    const owner = await aPayingOwner(service)
    const { client, agent, holder } = owner
    const run = await bodyOf(
      client.runs.create({ body: { agentId: agent.id, name: 'R', metadata: { team: 'sales' } } }),
    )
    await bodyOf(client.agents.update({ params: holder, body: { metadata: { team: 'ops' } } }))
    await pay(owner, 10, { metadata: { team: 'research' } })
    await pay(owner, 20, { runId: run.id, metadata: { team: 'research' } })
    await pay(owner, 40, { runId: run.id })
    await pay(owner, 0.1)
    await payByCard(owner, 7)
    const ask = (query: object) => steady(() => bodyOf(client.analytics.allocation({ query })))
    const lines = async (query: object) =>
      (await ask(query)).data.map(({ label, allocatedEuros }) => [label, allocatedEuros])
    const groupBy = 'metadata.team'
    expect(await lines({ groupBy })).toEqual([
      ['sales', 40],
      ['research', 30],
      ['ops', 7],
      [null, 0.1],
    ])
    expect(await lines({ groupBy, shared: 'alike' })).toEqual([
      ['sales', 40.04],
      ['research', 30.03],
      ['ops', 7.03],
      [null, 0],
    ])
    expect(await lines({ groupBy, shared: 'by_spend' })).toEqual([
      ['sales', 40.05],
      ['research', 30.04],
      ['ops', 7.01],
      [null, 0],
    ])
    expect(await lines({ groupBy: 'run' })).toEqual([
      [run.id, 60],
      [null, 17.1],
    ])
    expect(await lines({ groupBy: 'agent' })).toEqual([
      [agent.id, 70.1],
      [holder.id, 7],
    ])
    expect(await lines({ groupBy: 'merchant' })).toEqual([['bookshop', 77.1]])
    expect(await lines({ groupBy: 'metadata.none' })).toEqual([[null, 77.1]])
    const { total, data, other } = await ask({ groupBy, limit: 2, shared: 'alike' })
    expect([total.netEuros, data.length, other?.allocatedEuros]).toEqual([77.1, 2, 7.03])
    const table = String(await bodyOf(client.analytics.allocationTable({ query: { groupBy } })))
      .trim()
      .split('\r\n')
    expect(table.map(line => line.split(',')[2])).toEqual(['label', 'sales', 'research', 'ops', '(no label)'])
    for (const bad of ['', 'team', 'metadata.', 'mcc'])
      expect((await client.analytics.allocation({ query: { groupBy: bad } })).error).toMatch(/^groupBy/)
  })

  test('divides any amount into parts that are the whole, each within a cent of what is due', () => {
    const cents = fc.bigInt({ min: -(10n ** 12n), max: 10n ** 12n })
    const weights = fc.array(fc.bigInt({ min: -1_000n, max: 10n ** 9n }), { minLength: 1, maxLength: 50 })
    fc.assert(
      fc.property(cents, weights, (amount, of) => {
        const parts = distribute(amount, of)
        expect(parts).toHaveLength(of.length)
        expect(parts.reduce((all, part) => all + part, 0n)).toBe(amount)
        const positive = of.map(weight => (weight > 0n ? weight : 0n))
        const sum = positive.reduce((all, weight) => all + weight, 0n)
        if (sum > 0n)
          for (const [n, part] of parts.entries()) {
            const rest = part * sum - amount * (positive[n] as bigint)
            expect(rest < sum && rest > -sum).toBe(true)
          }
      }),
    )
  })
})

describe('what was kept back and got back', () => {
  test('is told by rule, with refunds and disputes that were won, each once', async () => {
    const owner = await aPayingOwner(service)
    const { client, agent, shopId } = owner
    const asked = await anIntent(client, agent.id, { walletId: shopId, amountEuros: 20_000 })
    await bodyOf(client.intents.deny({ params: asked, body: { reason: 'Too dear' } }))
    await anIntent(client, agent.id, { walletId: shopId, amountEuros: 15_000, expiresInMinutes: 5 })
    const paid = await payByCard(owner, 40)
    await comeBack(owner, paid, 15)
    await payByCard(owner, 60)
    const { data } = await bodyOf(client.transactions.list({ query: { limit: 1 } }))
    const dispute = await aDispute(client, String(data[0]?.id))
    await networkSays(client, dispute.id, 'won')
    await later(client, 1)
    const report = await steady(() => bodyOf(client.analytics.savings()))
    expect(report).toMatchObject({
      keptBack: {
        count: 2,
        amountEuros: 35_000,
        rules: [
          { how: 'turned_down', rule: 'autoApproveLimitEuros', count: 1, amountEuros: 20_000 },
          { how: 'expired', rule: 'autoApproveLimitEuros', count: 1, amountEuros: 15_000 },
        ],
      },
      refundedEuros: 15,
      disputesWon: { count: 1, amountEuros: 60 },
      totalEuros: 35_075,
    })
    const table = String(await bodyOf(client.analytics.savingsTable({ query: {} })))
      .trim()
      .split('\r\n')
    expect(table.slice(1)).toEqual([
      'turned_down,autoApproveLimitEuros,1,20000.00',
      'expired,autoApproveLimitEuros,1,15000.00',
      'refunded,,,15.00',
      'disputes_won,,1,60.00',
    ])
  })
})
