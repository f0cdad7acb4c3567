import { merchantReportsApi } from '../../../../insight/analytics/index.ts'
import { type Html, html } from '../../../../web/html.ts'
import type { ConsolePage, OperationAnswer, PageRequest } from '../../page.ts'
import { renderChart } from '../../parts/chart.ts'
import { renderRecordLink } from '../../parts/links.ts'
import { preloadRecordNames } from '../../parts/names.ts'
import { renderBox, renderTable, type TableColumns } from '../../parts/table.ts'
import {
  countOf,
  formatDay,
  formatPlainEuros,
  noneText,
  renderChange,
  renderEuros,
  renderPercent,
  renderText,
} from '../../parts/text.ts'
import { formatSpan, renderReportForm, reportExportLink, reportQuery } from './report-query.ts'

type Merchants = OperationAnswer<typeof merchantReportsApi.merchants>
type Merchant = Merchants['data'][number]

export const merchantsPage: ConsolePage = async request => {
  const content = await request.part({
    id: 'merchants',
    events: ['transaction.*'],
    make: () => merchants(request),
  })
  return {
    title: 'Merchants',
    content: html`<h1>Merchants</h1>
<p class="lead">Merchants by spending. Different spellings of a merchant are grouped.</p>
${await renderReportForm('merchants', request)}
${content}`,
  }
}

async function merchants(request: PageRequest): Promise<Html> {
  const [report] = await Promise.all([
    request.ask(merchantReportsApi.merchants, { query: reportQuery('merchants', request) }),
    preloadRecordNames(request, 'agents'),
  ])
  const { data, other, total } = report
  if (data.length === 0)
    return html`<div class="empty"><p>No payments from ${formatSpan(report)}.</p><p>Merchants by spending appear here.</p></div>`
  return html`${renderBox(formatSpan(report), drawn(report, request))}
<nav class="pages" aria-label="Report"><span>${other ? `${countOf(other.groups, 'other merchant')}: ${formatPlainEuros(other.netEuros)} of ${formatPlainEuros(total.netEuros)} net` : `Total: ${formatPlainEuros(total.netEuros)} net`}</span>${reportExportLink('merchants', request)}</nav>`
}

const nameOf = ({ key, names }: Merchant): string => names[0] ?? key ?? 'Unknown merchant'

const columns: TableColumns<Merchant> = {
  Merchant: merchant => html`${renderText(nameOf(merchant), 60)}${otherNames(merchant)}`,
  Payments: { figure: 'count' },
  Spent: 'spentEuros',
  Refunded: 'refundedEuros',
  Net: 'netEuros',
  Share: { figure: ({ share }) => renderPercent(share) },
  'First payment': ({ firstOn }) => (firstOn ? formatDay(firstOn) : noneText),
  'Last payment': ({ lastOn }) => (lastOn ? formatDay(lastOn) : noneText),
  Recurring: rhythm,
}

const otherNames = ({ names }: Merchant): Html | false =>
  names.length > 1 &&
  html`<details class="more"><summary>${names.length} spellings</summary><ul>${names.map(name => html`<li>${renderText(name, 100)}</li>`)}</ul></details>`

function rhythm({ rhythm: found }: Merchant, request: PageRequest): Html {
  if (!found) return noneText
  const { every, next, lastEuros, change: grown, agentId } = found
  return html`every ${every}, ${renderEuros(lastEuros)} (${renderChange(grown)} since the first), next about ${formatDay(next)}${agentId !== null && html`, ${renderRecordLink(request, agentId)}`}`
}

function drawn({ data }: Merchants, request: PageRequest): Html {
  const [most] = data
  return renderChart(request, {
    id: 'paid',
    title: 'Spending by merchant',
    description: `${data.length} bars, the highest net spend first${most ? `: ${nameOf(most).slice(0, 60)} with ${formatPlainEuros(most.netEuros)}` : ''}. The table below has the figures.`,
    points: data.map(merchant => nameOf(merchant).slice(0, 60)),
    series: [
      { name: 'Spent', kind: 'bars', values: data.map(({ spentEuros }) => spentEuros) },
      {
        name: 'Refunded',
        kind: 'down',
        values: data.map(({ refundedEuros }) => Math.max(0, refundedEuros)),
      },
    ],
    table: renderTable(request, 'Merchants', data, columns),
  })
}
