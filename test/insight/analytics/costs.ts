import { describe, expect, test } from '@jest/globals'
import { aDelegation, anIntent, asCsv, aToken, bodyOf, redeemDelegation } from '../../support/factories.ts'
import { startTestService } from '../../support/harness.ts'
import {
  aPayingOwner,
  comeBack,
  countAll,
  later,
  pay,
  payByCard,
  todayOf,
} from '../../support/insight/paying.ts'

const service = await startTestService()

describe('the costs of agents', () => {
  test('are what the transactions add up to, each in its day, with what came back beside it', async () => {
    const owner = await aPayingOwner(service)
    const { client, agent, holder } = owner
    const first = await todayOf(client)
    await pay(owner, 10)
    await pay(owner, 0.01)
    const paid = await payByCard(owner, 40)
    await countAll(service)
    await later(client, 1)
    const second = await todayOf(client)
    await comeBack(owner, paid, 15)
    await pay(owner, 20)
    const costs = await bodyOf(client.analytics.costs({ query: { groupBy: 'day' } }))
    expect(costs).toMatchObject({
      to: second,
      groupBy: 'day',
      total: {
        count: 4,
        spentEuros: 70.01,
        refundedEuros: 15,
        netEuros: 55.01,
        feesEuros: 0,
        share: 1,
        change: null,
      },
      other: null,
    })
    const [one, other, ...more] = costs.data
    expect(more).toEqual([])
    expect(one).toMatchObject({ agentId: agent.id, name: 'Buyer', count: 3, netEuros: 30.01, share: 0.5455 })
    expect(other).toMatchObject({
      agentId: holder.id,
      spentEuros: 40,
      refundedEuros: 15,
      netEuros: 25,
      share: 0.4545,
    })
    expect(other?.periods).toMatchObject([
      { from: first, count: 1, spentEuros: 40, refundedEuros: 0, netEuros: 40 },
      { from: second, count: 0, spentEuros: 0, refundedEuros: 15, netEuros: -15 },
    ])
    const { data } = await bodyOf(client.transactions.list())
    const sum = (of: (one: (typeof data)[number]) => number) =>
      Math.round(data.reduce((all, one) => all + of(one) * 100, 0)) / 100
    expect(costs.total.spentEuros).toBe(sum(({ amountEuros }) => amountEuros))
    expect(costs.total.refundedEuros).toBe(sum(({ refundedEuros }) => refundedEuros))
    await countAll(service)
    expect(await bodyOf(client.analytics.costs({ query: { groupBy: 'day' } }))).toEqual(costs)
  })

  test('list denied amounts, by decider, separately from spending', async () => {
    const owner = await aPayingOwner(service)
    const { client, agent, card } = owner
    await pay(owner, 5)
    const asked = await anIntent(client, agent.id, { walletId: owner.shopId, amountEuros: 20_000 })
    await bodyOf(client.intents.deny({ params: asked, body: { reason: 'Too dear' } }))
    const body = { cardId: card.id, amountEuros: 9_000, merchant: 'Bookshop', mcc: '5942', country: 'DE' }
    expect((await bodyOf(client.sandbox.authorizeCard({ body }))).reply).toBe('declined')
    const { total } = await bodyOf(client.analytics.costs())
    expect(total).toMatchObject({ count: 1, spentEuros: 5, deniedCount: 2, deniedEuros: 29_000 })
  })

  test('are grouped by weeks and months, compared with the span before, and of deleted agents too', async () => {
    const owner = await aPayingOwner(service)
    const { client, agent } = owner
    await pay(owner, 40)
    await later(client, 31)
    await pay(owner, 30)
    const today = await todayOf(client)
    for (const groupBy of ['week', 'month'] as const) {
      const { data } = await bodyOf(client.analytics.costs({ query: { groupBy } }))
      expect(data).toMatchObject([{ agentId: agent.id, netEuros: 30, netBeforeEuros: 40, change: -0.25 }])
      const from = data[0]?.periods[0]?.from ?? ''
      expect(from <= today).toBe(true)
      expect(groupBy === 'week' ? new Date(from).getUTCDay() : from.slice(8)).toBe(
        groupBy === 'week' ? 1 : '01',
      )
    }
    await bodyOf(client.agents.delete({ params: agent }))
    await later(client, 1)
    const { data } = await bodyOf(client.analytics.costs())
    expect(data).toMatchObject([{ agentId: agent.id, name: 'Buyer', netEuros: 30 }])
  })

  test('have a line for an agent that has stopped, and all lines add up to the span before, too', async () => {
    const owner = await aPayingOwner(service)
    const { client, agent, holder } = owner
    await pay(owner, 30)
    await later(client, 31)
    await payByCard(owner, 12)
    const { total, data } = await bodyOf(client.analytics.costs())
    expect(total).toMatchObject({ netEuros: 12, netBeforeEuros: 30, change: -0.6 })
    expect(data).toMatchObject([
      { agentId: holder.id, netEuros: 12, netBeforeEuros: 0, change: null },
      { agentId: agent.id, netEuros: 0, netBeforeEuros: 30, change: -1, share: 0, periods: [] },
    ])
  })

  test('of agents beyond the limit are summed as `other`, and the total stays the same', async () => {
    const owner = await aPayingOwner(service)
    const { client } = owner
    await pay(owner, 12.34)
    await payByCard(owner, 0.66)
    const { total, data, other } = await bodyOf(client.analytics.costs({ query: { limit: 1 } }))
    expect(data).toMatchObject([{ name: 'Buyer', netEuros: 12.34 }])
    expect(other).toMatchObject({ agents: 1, netEuros: 0.66, count: 1 })
    expect(total.netEuros).toBe(13)
  })

  test('as a table have a line for each agent and period, which no spreadsheet runs', async () => {
    const owner = await aPayingOwner(service)
    const { client, agent } = owner
    await bodyOf(client.agents.update({ params: agent, body: { name: '=HYPERLINK("x");=1+1' } }))
    await pay(owner, 1_234.5)
    const text = await bodyOf(client.analytics.costs(asCsv))
    const day = await todayOf(client)
    expect(String(text)).toBe(
      `from,agentId,name,count,spentEuros,refundedEuros,netEuros,feesEuros,deniedCount,deniedEuros\r\n${day},${agent.id},"'=HYPERLINK(""x"");'=1+1",1,1234.50,0.00,1234.50,0.00,0,0.00\r\n`,
    )
  })

  test.each([
    ['text/csv', 'csv'],
    ['text/csv;q=0.8, application/json;q=0.5', 'csv'],
    ['text/csv, */*;q=0.1', 'csv'],
    ['application/json, text/csv', 'json'],
    ['text/csv;q=0.2, application/json', 'json'],
    ['*/*', 'json'],
    ['application/pdf', 'json'],
    ['text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8', 'json'],
  ])('with Accept: %s are %s', async (accept, form) => {
    const { key } = await service.owner()
    const authorization = `Bearer ${key}`
    const answer = await fetch(`${service.url}/analytics/agents/costs`, {
      headers: { authorization, accept },
    })
    expect([answer.status, answer.headers.get('vary')]).toEqual([200, 'Accept'])
    expect(answer.headers.get('content-type')).toContain(form)
    expect(answer.headers.get('content-disposition') ?? '').toMatch(
      form === 'csv' ? /^attachment; filename="costs-[\d-]+\.csv"$/ : /^$/,
    )
  })

  test('are refused as JSON, also to who asks for CSV, and other records have no CSV', async () => {
    const { client } = await service.owner()
    const query = { from: '2026-11-02', to: '2026-11-01' }
    const refused = await client.analytics.costs({ query, ...asCsv })
    expect(refused.headers.get('content-type')).toContain('application/json')
    expect(refused).toMatchObject({
      status: 400,
      code: 'span_invalid',
      error: expect.stringContaining('to:'),
    })
    expect((await bodyOf(client.agents.list(asCsv))).data).toEqual(expect.any(Array))
  })

  test('show an agent only its own costs, and a delegation none', async () => {
    const owner = await aPayingOwner(service)
    const { client, agent, holder } = owner
    await pay(owner, 10)
    await payByCard(owner, 20)
    const { token } = await aToken(client, agent.id)
    const own = service.client(String(token))
    expect((await bodyOf(own.analytics.costs())).data).toMatchObject([{ agentId: agent.id, netEuros: 10 }])
    const ofOther = await own.analytics.costs({ query: { agentId: holder.id } })
    expect(ofOther).toMatchObject({ status: 404, code: 'agent_not_found' })
    const stranger = await service.owner()
    const ofStranger = await stranger.client.analytics.costs({ query: { agentId: agent.id } })
    expect(ofStranger).toMatchObject({ status: 404, code: 'agent_not_found' })
    const delegated = await redeemDelegation(client, await aDelegation(client, agent.id))
    const byDelegation = await service.client(String(delegated.token)).analytics.costs()
    expect(byDelegation).toMatchObject({ status: 404, code: 'agent_not_found' })
  })

  test('are refused for days that are none, in no order, or too many', async () => {
    const { client } = await service.owner()
    const refused = async (query: object, words: RegExp) => {
      const answer = await client.analytics.costs({ query })
      expect([answer.status, answer.error]).toEqual([400, expect.stringMatching(words)])
    }
    await refused({ from: '2026-10-02', to: '2026-10-01' }, /^to: must not be before/)
    await refused({ from: '2900-01-01' }, /^from: must not be after today/)
    await refused({ from: '2016-01-01', to: '2026-01-01' }, /^from: .*two years/)
    await refused({ from: '2025-02-29' }, /from/)
    await refused({ from: '01.10.2026' }, /from/)
    await refused({ groupBy: 'hour' }, /groupBy/)
    await refused({ limit: 101 }, /limit/)
    await refused({ agent: 'x' }, /agent/)
    const leap = await bodyOf(client.analytics.costs({ query: { from: '2027-03-01', to: '2029-02-28' } }))
    expect(leap).toMatchObject({ data: [], other: null, total: { netEuros: 0, share: null, change: null } })
  })
})
