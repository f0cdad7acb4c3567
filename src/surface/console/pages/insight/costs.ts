import { costsApi } from '../../../../insight/analytics/index.ts'
import { type Html, html } from '../../../../web/html.ts'
import type { ConsolePage, OperationAnswer, PageRequest } from '../../page.ts'
import { renderBarChart } from '../../parts/chart.ts'
import { renderRecordLink } from '../../parts/links.ts'
import { renderBox, renderFacts, renderTable, type TableColumns } from '../../parts/table.ts'
import {
  formatDay,
  formatPlainEuros,
  renderChange,
  renderEuros,
  renderPercent,
  renderText,
} from '../../parts/text.ts'
import {
  csvDownloadAddress,
  filledReportQuery,
  formatSpan,
  periodsInSpan,
  renderReportForm,
} from './report-query.ts'

type Costs = OperationAnswer<typeof costsApi.costs>
type Period = Costs['total']['periods'][number]

export const costsPage: ConsolePage = async request => {
  const content = await request.part({ id: 'costs', events: ['transaction.*'], make: () => costs(request) })
  return {
    title: 'Costs',
    content: html`<h1>Costs</h1>
<p class="lead">Payments and refunds by day (UTC).</p>
${await renderReportForm(costsApi.costs, ['from', 'to', 'groupBy'], request)}
${content}`,
  }
}

async function costs(request: PageRequest): Promise<Html> {
  const report = await request.ask(costsApi.costs, { query: filledReportQuery(request) })
  const { total, data } = report
  if (total.count === 0 && total.deniedCount === 0 && total.refundedEuros === 0)
    return html`<div class="empty"><p>No payments from ${formatSpan(report)}.</p></div>`
  return html`${renderBox(
    formatSpan(report),
    renderFacts([
      ['Spent', html`${renderEuros(total.spentEuros)}, ${total.count} payments`],
      ['Refunded', renderEuros(total.refundedEuros)],
      [
        'Net',
        html`${renderEuros(total.netEuros)}${total.change !== null && html` (${renderChange(total.change)} from the previous period)`}`,
      ],
      [
        'Denied',
        html`${renderEuros(total.deniedEuros)}, ${total.deniedCount === 1 ? '1 payment' : `${total.deniedCount} payments`}`,
      ],
    ]),
    drawn(report, request),
  )}
${renderBox('By agent', byAgent(report, request))}
<nav class="pages" aria-label="Report"><span>${data.length} agents listed</span><a class="aside" href="${csvDownloadAddress(costsApi.costsTable, request)}" download>CSV</a></nav>`
}

const columns: TableColumns<Period> = {
  From: ({ from }) => html`<time datetime="${from}">${formatDay(from)}</time>`,
  Payments: { figure: 'count' },
  Spent: 'spentEuros',
  Refunded: 'refundedEuros',
  Net: 'netEuros',
  Fees: 'feesEuros',
}

function drawn({ from, to, groupBy, total }: Costs, request: PageRequest): Html {
  const known = new Map(total.periods.map(period => [period.from, period]))
  const items = periodsInSpan(from, to, groupBy).map(first => ({
    name: formatDay(first),
    up: known.get(first)?.spentEuros ?? 0,
    down: Math.max(0, known.get(first)?.refundedEuros ?? 0),
  }))
  const dearest = items.reduce((one, other) => (other.up > one.up ? other : one))
  return renderBarChart(items, {
    id: 'spent',
    title: `Spending by ${groupBy}`,
    description: `${items.length} bars, one for each ${groupBy}. The highest is ${formatPlainEuros(dearest.up)}, ${dearest.name}. The table below has the figures.`,
    legend: [
      ['up', 'Spent'],
      ['down', 'Refunded'],
    ],
    table: renderTable(request, `Costs by ${groupBy}`, total.periods, columns),
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
  const rest = other ? [{ ...other, who: html`${other.agents} other agents` }] : []
  return renderTable(request, 'Costs by agent', [...listed, ...rest], lineColumns)
}
