import { describe, expect, test } from '@jest/globals'
import { renderChart } from '../../../src/surface/console/parts/chart.ts'
import { html } from '../../../src/web/html.ts'
import { aWallet, bodyOf } from '../../support/factories.ts'
import { aPayingOwner, comeBack, later, pay, payByCard } from '../../support/insight/paying.ts'
import { aVisitor, service } from './visitors.ts'

const PAGES = ['costs', 'merchants', 'outcomes', 'forecast']

async function aLooker() {
  const paying = await aPayingOwner(service)
  return { ...paying, ...(await aVisitor('owner', paying)) }
}

interface Drawn {
  readonly points: readonly string[]
  readonly series: readonly { readonly kind: string; readonly values: readonly (number | null)[] }[]
}

/** What the script of a chart draws. */
function chartIn(text: string, id: string): Drawn {
  const [, data = ''] = new RegExp(`id="${id}"[^>]* data-chart="([^"]*)"`).exec(text) ?? []
  const plain = data.replace(/&(quot|lt|gt|amp|#39);/g, (_, name: string) => ENTITIES[name] ?? '')
  return JSON.parse(plain) as Drawn
}

const ENTITIES: Readonly<Record<string, string>> = { quot: '"', lt: '<', gt: '>', amp: '&', '#39': "'" }

const rowsIn = (text: string): number =>
  [...text.matchAll(/<tr>/g)].length - [...text.matchAll(/<thead>/g)].length

describe('the pages about insight', () => {
  test('say where there is nothing to tell, and show a viewer nothing to press', async () => {
    const { owner } = await aVisitor()
    const viewer = await aVisitor('viewer', owner)
    for (const page of PAGES) {
      const { status, text } = await viewer.read(`console/${page}`)
      expect([page, status]).toEqual([page, 200])
      expect(text).toMatch(/class="empty"|there is no forecast yet/)
      expect(text).not.toMatch(/data-operation=|<figure/)
    }
    expect((await viewer.read('console')).text).toContain('No unusual spending in the last 30 days')
  })

  test('draw costs and refunds by day, with the same figures in a table and as CSV', async () => {
    const { client, agent, read, ...owner } = await aLooker()
    await pay({ client, agent, shopId: owner.shopId }, 12.5)
    await later(client, 2)
    const authorizationId = await payByCard({ client, agent, ...owner }, 40)
    await comeBack({ client, agent, ...owner }, authorizationId, 15)
    const { text } = await read('console/costs')
    const { points, series } = chartIn(text, 'spent')
    expect(series.map(({ kind }) => kind)).toEqual(['bars', 'down', 'before'])
    expect(series[0]?.values.filter(Boolean).toSorted()).toEqual([12.5, 40])
    expect(series[1]?.values.filter(Boolean)).toEqual([15])
    expect([points.length, ...series.map(({ values }) => values.length)]).toEqual([30, 30, 30, 30])
    expect(text).toMatch(/role="img" aria-label="Spending by day. 30 bars/)
    expect(text).toContain('€\u00a052.50')
    expect(text).toContain('€\u00a037.50')
    expect(rowsIn(text)).toBe(32)
    expect(text).not.toMatch(/ style="/)
    const [, address = ''] = /href="\.\.\/(console\/csv\/costs[^"]*)"/.exec(text) ?? []
    expect((await read(address)).text.trimEnd().split('\r\n')).toHaveLength(3)
    const alone = await read(`console/costs?agentId=${agent.id}&from=&to=`)
    expect(chartIn(alone.text, 'spent').series[0]?.values.filter(Boolean)).toHaveLength(1)
    expect((await read('console/costs?groupBy=month')).text).toContain('Spending by month')
  })

  test('show merchants with their spellings, and outcomes with the interval of their rate', async () => {
    const { read, ...owner } = await aLooker()
    const { client } = owner
    await payByCard(owner, 20, 'AMZN MKTP DE*1X2Y3')
    await pay(owner, 20, { walletId: (await aWallet(client, 0, { name: 'amazon eu' })).id })
    for (const success of [false, true, true]) {
      const { id: intentId } = (await pay(owner, 10)).intent
      await bodyOf(client.outcomes.create({ body: { intentId, success, valueEuros: 25 } }))
    }
    const merchants = await read('console/merchants')
    expect(merchants.text).toContain('2 spellings')
    expect(merchants.text).toContain('€\u00a040.00')
    const { text } = await read('console/outcomes')
    expect(text).toContain('66.7%')
    expect(text).toMatch(/20\.8%.*to.*93\.9%/)
    expect(text).toContain('€\u00a045.00')
    expect((await read('console/csv/outcomes')).text.trimEnd().split('\r\n')).toHaveLength(4)
  })

  test('draw the forecast beside what was spent, with the day on which nothing is left', async () => {
    const { client, agent, shopId, read } = await aLooker()
    for (let day = 0; day < 32; day += 2) {
      await pay({ client, agent, shopId }, 1_000 + day)
      await later(client, 2)
    }
    const query = { days: 14 }
    const forecast = await bodyOf(client.forecast.ofAgent({ params: { id: agent.id }, query }))
    const until = new Date(Date.parse(String(forecast.data[0]?.date)) + 13 * 86_400_000)
    const to = until.toISOString().slice(0, 10)
    const { text } = await read(`console/forecast?agentId=${agent.id}&to=${to}`)
    expect(text).toContain('Depletion date')
    expect(forecast.runsOut.wallet.p50).not.toBeNull()
    expect(text).toContain(`<strong><time datetime="${forecast.runsOut.wallet.p50}">`)
    const { points, series } = chartIn(text, 'fan')
    expect(points).toHaveLength(29 + 13)
    expect(series.map(({ kind }) => kind)).toEqual(['bars', 'high', 'low', 'line'])
    expect(series[0]?.values.filter(Boolean)).toHaveLength(14)
    expect(series[1]?.values.at(-1)).toBe(forecast.data.at(-1)?.p90)
    expect(rowsIn(text)).toBe(29 + 13)
    expect(text).toContain('Days compared')
    expect((await read('console/forecast')).text).toContain('You and all agents')
  })

  test('tell on the first page what a person would have wished to know', async () => {
    const { read, ...owner } = await aLooker()
    const { client, agent } = owner
    for (const days of [1, 1, 1, 0, 0]) {
      await pay(owner, 80)
      if (days > 0) await later(client, days)
    }
    const { data } = await bodyOf(client.analytics.anomalies({ query: {} }))
    const twice = data.find(({ kind }) => kind === 'charged_twice')
    const { text } = await read('console?part=unusual')
    expect(twice?.sentence).toContain('2 times')
    expect(text).toContain(twice?.sentence)
    expect(text).toContain(`console/agents/${agent.id}`)
  })

  test('take their span along from one report to the next, but not a grouping that the other has not', async () => {
    const { read, ...owner } = await aLooker()
    await pay(owner, 20)
    const now = new Date(Date.parse((await bodyOf(owner.client.analytics.costs({ query: {} }))).to))
    const day = (ago: number) => new Date(now.getTime() - ago * 86_400_000).toISOString().slice(0, 10)
    for (const page of PAGES) {
      const { status, text } = await read(`console/${page}?from=${day(9)}&to=${day(0)}&groupBy=week`)
      expect([page, status]).toEqual([page, 200])
      expect(text).toContain(`type="date" name="from" value="${day(9)}"`)
      expect(text).toMatch(/<p class="presets"><a href="\?[^"]*from=/)
      expect(text).toContain(`console/merchants?groupBy=week&amp;from=${day(9)}&amp;to=${day(0)}"`)
    }
    const text = (await read(`console/costs?from=${day(9)}&to=${day(0)}`)).text
    expect(chartIn(text, 'spent').points).toHaveLength(10)
    expect((await read('console/costs?groupBy=colour')).status).toBe(400)
  })

  test('refuse invalid reports, and show no data of other accounts', async () => {
    const { read } = await aVisitor()
    const stranger = await aVisitor()
    const { id } = await bodyOf(stranger.owner.client.agents.create({ body: { name: 'Scout' } }))
    for (const page of PAGES) {
      expect([page, (await read(`console/${page}?agentId=${id}`)).status]).toEqual([page, 404])
      expect([page, (await read(`console/${page}?colour=green`)).status]).toEqual([page, 400])
    }
    const { status, text } = await read('console/costs?from=2026-02-01&to=2026-01-01')
    expect(status).toBe(400)
    expect(text).toContain('must not be before from')
    expect((await read('console/forecast?days=91')).status).toBe(400)
  })
})

test('a drawing has its figures in an attribute, and a table', () => {
  const { text } = renderChart(
    { to: path => path },
    {
      id: 'a',
      title: '<b>',
      description: '"',
      points: ['<i>'],
      series: [{ name: '</figure>', kind: 'bars', values: [1] }],
      table: html`<table></table>`,
    },
  )
  expect(text).not.toMatch(/<b>|<i>/)
  expect(text.split('</figure>')).toHaveLength(2)
  expect(text).toContain('<summary>View as table</summary><table></table>')
  expect(chartIn(text, 'a')).toEqual({
    points: ['<i>'],
    series: [{ name: '</figure>', kind: 'bars', values: [1] }],
  })
})
