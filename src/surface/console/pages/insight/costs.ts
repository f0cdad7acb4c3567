import { costsApi } from '../../../../insight/analytics/index.ts'
import { type Html, html } from '../../../../web/html.ts'
import type { ConsolePage, OperationAnswer, PageRequest } from '../../page.ts'
import { renderChart } from '../../parts/chart.ts'
import { renderRecordLink } from '../../parts/links.ts'
import { renderBox, renderFacts, renderTable, type TableColumns } from '../../parts/table.ts'
import {
  countOf,
  formatDay,
  formatPlainEuros,
  renderChange,
  renderEuros,
  renderPercent,
  renderText,
} from '../../parts/text.ts'
import {
  formatSpan,
  periodsInSpan,
  renderReportForm,
  reportExportLink,
  reportQuery,
  spanBefore,
} from './report-query.ts'

type Costs = OperationAnswer<typeof costsApi.costs>
type Period = Costs['total']['periods'][number]

export const costsPage: ConsolePage = async request => {
  const content = await request.part({ id: 'costs', events: ['transaction.*'], make: () => costs(request) })
  return {
    title: 'Spend',
    content: html`<h1>Spend</h1>
<p class="lead">Payments and refunds over time, and by agent.</p>
${await renderReportForm('costs', request)}
${content}`,
  }
}

async function costs(request: PageRequest): Promise<Html> {
  const query = reportQuery('costs', request)
  const report = await request.ask(costsApi.costs, { query })
  const { total, data } = report
  if (total.count === 0 && total.deniedCount === 0 && total.refundedEuros === 0)
    return html`<div class="empty"><p>No payments from ${formatSpan(report)}.</p><p>Spend by day and agent appears here.</p><p><a href="${request.to('docs/guides/runs-and-delegations')}">Read the guide</a></p></div>`
  const before = await request.ask(costsApi.costs, {
    query: { ...query, ...spanBefore(report), limit: 1 },
  })
  return html`${renderBox(
    formatSpan(report),
    renderFacts([
      ['Spent', html`${renderEuros(total.spentEuros)}, ${countOf(total.count, 'payment')}`],
      ['Refunded', renderEuros(total.refundedEuros)],
      [
        'Net',
        html`${renderEuros(total.netEuros)}${total.change !== null && html` (${renderChange(total.change)} from ${formatSpan(before)})`}`,
      ],
      ['Denied', html`${renderEuros(total.deniedEuros)}, ${countOf(total.deniedCount, 'payment')}`],
    ]),
    drawn(report, before, request),
  )}
${renderBox('By agent', byAgent(report, request))}
<nav class="pages" aria-label="Report"><span>${countOf(data.length, 'agent')} listed</span>${reportExportLink('costs', request)}</nav>`
}

interface Point extends Partial<Period> {
  readonly from: string
  readonly beforeEuros: number | null
}

const columns: TableColumns<Point> = {
  From: ({ from }) => html`<time datetime="${from}">${formatDay(from)}</time>`,
  Payments: { figure: ({ count = 0 }) => count },
  Spent: { figure: ({ spentEuros = 0 }) => renderEuros(spentEuros) },
  'Previous period': { figure: ({ beforeEuros }) => renderEuros(beforeEuros ?? 0) },
  Refunded: { figure: ({ refundedEuros = 0 }) => renderEuros(refundedEuros) },
  Net: { figure: ({ netEuros = 0 }) => renderEuros(netEuros) },
  Fees: { figure: ({ feesEuros = 0 }) => renderEuros(feesEuros) },
}

/** The periods of both spans, paired from the first one on: months differ in length. */
function pointsOf({ from, to, groupBy, total }: Costs, before: Costs): Point[] {
  const known = new Map(total.periods.map(period => [period.from, period]))
  const earlier = new Map(before.total.periods.map(period => [period.from, period.spentEuros]))
  const firstsBefore = periodsInSpan(before.from, before.to, groupBy)
  return periodsInSpan(from, to, groupBy).map((first, index) => {
    const firstBefore = firstsBefore[index]
    return {
      ...known.get(first),
      from: first,
      beforeEuros: firstBefore === undefined ? null : (earlier.get(firstBefore) ?? 0),
    }
  })
}

function drawn(report: Costs, before: Costs, request: PageRequest): Html {
  const { groupBy } = report
  const points = pointsOf(report, before)
  const dearest = points.reduce((one, other) =>
    (other.spentEuros ?? 0) > (one.spentEuros ?? 0) ? other : one,
  )
  const refunds = points.map(({ refundedEuros = 0 }) => Math.max(0, refundedEuros))
  return renderChart(request, {
    id: 'spent',
    title: `Spending by ${groupBy}`,
    description: `${points.length} bars, one for each ${groupBy}. The highest is ${formatPlainEuros(dearest.spentEuros ?? 0)}, ${formatDay(dearest.from)}. The table below has the figures.`,
    points: points.map(({ from }) => formatDay(from)),
    series: [
      { name: 'Spent', kind: 'bars', values: points.map(({ spentEuros = 0 }) => spentEuros) },
      ...(refunds.some(amount => amount > 0)
        ? [{ name: 'Refunded', kind: 'down', values: refunds } as const]
        : []),
      {
        name: 'Previous period',
        kind: 'before',
        values: points.map(({ beforeEuros }) => beforeEuros),
      },
    ],
    table: renderTable(request, `Spend by ${groupBy}`, points, columns),
  })
}

type Line = Costs['total'] & { readonly who: Html }

const lineColumns: TableColumns<Line> = {
  Agent: ({ who }) => who,
  Payments: { figure: 'count' },
  Spent: 'spentEuros',
  Refunded: 'refundedEuros',
  Net: 'netEuros',
  Share: { figure: ({ share }) => renderPercent(share) },
  Change: { figure: one => renderChange(one.change) },
  Denied: 'deniedEuros',
}

function byAgent({ data, other }: Costs, request: PageRequest): Html {
  const listed = data.map(line => ({
    ...line,
    who:
      line.agentId === null
        ? html`You, without an agent`
        : renderRecordLink(request, line.agentId, renderText(line.name, 60)),
  }))
  const rest = other ? [{ ...other, who: html`${countOf(other.agents, 'other agent')}` }] : []
  return renderTable(request, 'Spend by agent', [...listed, ...rest], lineColumns)
}
