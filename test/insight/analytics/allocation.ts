import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { distributeCentsSql } from '../../../src/insight/analytics/allocation.ts'
import { asCsv, bodyOf } from '../../support/factories.ts'
import { startTestService } from '../../support/harness.ts'
import { aPayingOwner, pay, payByCard, steady } from '../../support/insight/paying.ts'

const service = await startTestService()

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
    const ask = (query: object) => steady(service, () => bodyOf(client.analytics.allocation({ query })))
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
    expect(data.map(({ label }) => label)).toEqual(['sales', 'research', null])
    expect([total.netEuros, other?.groups, other?.allocatedEuros]).toEqual([77.1, 1, 7.03])
    const table = String(await bodyOf(client.analytics.allocation({ query: { groupBy }, ...asCsv })))
      .trim()
      .split('\r\n')
    expect(table.map(line => line.split(',')[2])).toEqual(['label', 'sales', 'research', 'ops', '(no label)'])
    for (const bad of ['', 'team', 'metadata.', 'mcc'])
      expect((await client.analytics.allocation({ query: { groupBy: bad } })).error).toMatch(/^groupBy/)
  })

  test('divides any amount into parts that are the whole, each within a cent of what is due', async () => {
    const cents = fc.bigInt({ min: -(10n ** 12n), max: 10n ** 12n })
    const weights = fc.array(fc.bigInt({ min: -1_000n, max: 10n ** 9n }), { minLength: 1, maxLength: 50 })
    const partsOf = async (amount: bigint, of: readonly bigint[]): Promise<bigint[]> => {
      const rows = await service.sql<{ part: string }>(
        `with weights as (select $1::bigint as amount, weight, place from unnest($2::bigint[]) with ordinality as w (weight, place))
         select part::text from (${distributeCentsSql('weights')}) as one order by place`,
        [amount, of],
      )
      return rows.map(({ part }) => BigInt(part))
    }
    await fc.assert(
      fc.asyncProperty(cents, weights, async (amount, of) => {
        const parts = await partsOf(amount, of)
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
    expect(await partsOf(100n, [1n, 1n, 1n])).toEqual([34n, 33n, 33n])
    expect(await partsOf(-100n, [0n, 1n, 2n])).toEqual([0n, -33n, -67n])
    expect(await partsOf(5n, [0n, -3n])).toEqual([3n, 2n])
  })
})
