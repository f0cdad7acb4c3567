import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { renderBarChart, renderFanChart } from '../../../src/surface/console/parts/chart.ts'
import { html } from '../../../src/web/html.ts'
import { aWallet, bodyOf } from '../../support/factories.ts'
import { aPayingOwner, comeBack, later, pay, payByCard } from '../../support/insight/paying.ts'
import { aVisitor, service } from './visitors.ts'

const PAGES = ['costs', 'merchants', 'outcomes', 'forecast']

async function aLooker() {
  const paying = await aPayingOwner(service)
  return { ...paying, ...(await aVisitor('owner', paying)) }
}

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
    expect(text.match(/<rect class="up"/g)).toHaveLength(2)
    expect(text.match(/<rect class="down"/g)).toHaveLength(1)
    expect(text).toMatch(/role="img" aria-labelledby="spent-title spent-description"/)
    expect(text).toContain('€\u00a052.50')
    expect(text).toContain('€\u00a037.50')
    expect(rowsIn(text)).toBe(4)
    expect(text).not.toMatch(/ style="/)
    const [, address = ''] = /href="\.\.\/(analytics\/agents\/costs\/csv[^"]*)"/.exec(text) ?? []
    expect((await read(address)).text.trimEnd().split('\r\n')).toHaveLength(3)
    const alone = await read(`console/costs?agentId=${agent.id}&from=&to=`)
    expect(alone.text.match(/<rect class="up"/g)).toHaveLength(1)
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
    const { text } = await read(`console/forecast?agentId=${agent.id}&days=14`)
    expect(text).toContain('Depletion date')
    expect(forecast.runsOut.wallet.p50).not.toBeNull()
    expect(text).toContain(`<strong><time datetime="${forecast.runsOut.wallet.p50}">`)
    expect(text.match(/<path class="band"/g)).toHaveLength(1)
    expect(text.match(/<rect class="up"/g)).toHaveLength(14)
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

describe('a drawing', () => {
  const words = { id: 'a', title: '<b>', description: '"', legend: [], table: html`<table></table>` }
  const amount = fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 1e14 })).map(cents => cents / 100)

  test('stays within its frame for any amounts, and shows names as text', () => {
    const any = fc.record({ name: fc.constant('<i>'), up: amount, down: amount })
    fc.assert(
      fc.property(fc.array(any, { minLength: 1, maxLength: 40 }), items => {
        const { text } = renderBarChart(items, words)
        for (const [, y, height] of text.matchAll(/ y="([^"]+)" width="[^"]+" height="([^"]+)"/g)) {
          expect(Number(y)).toBeGreaterThanOrEqual(-2)
          expect(Number(y) + Number(height)).toBeLessThanOrEqual(202)
        }
        expect(text).not.toMatch(/NaN|Infinity|<i>|<b>/)
      }),
      { numRuns: 60 },
    )
  })

  test('of a forecast has its band from the first forecast day', () => {
    const forecast = { p10: 1, p50: 2, p90: 4 }
    const { text } = renderFanChart(
      [
        { name: 'past', spent: 3 },
        { name: 'ahead', forecast },
      ],
      words,
    )
    expect(text).toContain('d="M500 40L1000 40L1000 160L500 160Z"')
    expect(text).toContain('d="M500 120L1000 120"')
    expect(renderFanChart([{ name: 'one', forecast: { p10: 0, p50: 0, p90: 0 } }], words).text).not.toMatch(
      /NaN/,
    )
  })
})
