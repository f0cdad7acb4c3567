import { outcomesApi } from '../../../../insight/outcomes/index.ts'
import { type Html, html } from '../../../../web/html.ts'
import type { ConsolePage, ListItemOf, OperationAnswer, PageRequest } from '../../page.ts'
import { renderChart } from '../../parts/chart.ts'
import { copyableText, renderRecordLink } from '../../parts/links.ts'
import { preloadRecordNames } from '../../parts/names.ts'
import { renderBox, renderFacts, renderTable, type TableColumns } from '../../parts/table.ts'
import { countOf, noneText, renderEuros, renderPercent, renderStatus, renderText } from '../../parts/text.ts'
import { formatSpan, renderReportForm, reportQuery } from './report-query.ts'

type Summary = OperationAnswer<typeof outcomesApi.summary>
type Figures = Summary['total']
type Outcome = ListItemOf<typeof outcomesApi.list>

const EVENTS = ['outcome.*', 'transaction.*', 'intent.completed']

export const outcomesPage: ConsolePage = async request => {
  const [summed, latest] = await Promise.all([
    request.part({ id: 'summary', events: EVENTS, make: () => summary(request) }),
    request.part({ id: 'latest', events: ['outcome.*'], make: () => latestOutcomes(request) }),
  ])
  return {
    title: 'Outcomes',
    content: html`<h1>Outcomes</h1>
<p class="lead">Outcomes of intents by the day of their declaration, with their costs so far.</p>
${await renderReportForm('outcomes', request)}
${summed}
${latest}`,
  }
}

const rate = ({ successRate }: Figures): Html =>
  successRate
    ? html`${renderPercent(successRate.rate)} <small>${renderPercent(successRate.low)} to ${renderPercent(successRate.high)}</small>`
    : noneText

async function summary(request: PageRequest): Promise<Html> {
  const report = await request.ask(outcomesApi.summary, { query: reportQuery('outcomes', request) })
  const { total, data, other } = report
  if (data.length === 0)
    return html`<div class="empty"><p>No outcomes and no completed intents from ${formatSpan(report)}.</p><p>${copyableText('agentpay outcomes create --intent-id intent_… --success true --value-euros 40')}</p></div>`
  const groups = data.map(group => ({ ...group, who: nameOf(group, report, request) }))
  const rest = other ? [{ ...other, who: html`${countOf(other.groups, 'other group')}` }] : []
  return html`${renderBox(
    formatSpan(report),
    renderFacts([
      ['Reported', html`${total.reported} of ${total.reported + total.unreported}`],
      ['Succeeded', rate(total)],
      ['Net cost', renderEuros(total.netSpendEuros)],
      ['Value', html`${renderEuros(total.valueEuros)} from ${countOf(total.valued, 'outcome')}`],
      [
        'Return',
        html`${renderEuros(total.returnEuros)}${total.returnShare !== null && html` (${renderPercent(total.returnShare)})`}`,
      ],
    ]),
  )}
${renderBox(`By ${report.groupBy}`, drawn(report, renderTable(request, `Outcomes by ${report.groupBy}`, [...groups, ...rest], columns), request))}`
}

function drawn({ data, groupBy }: Summary, table: Html, request: PageRequest): Html {
  return renderChart(request, {
    id: 'returned',
    title: `Net cost and value by ${groupBy}`,
    description: `${data.length} groups. The table below has the figures.`,
    points: data.map(({ key, name }) => (name ?? key ?? 'none').slice(0, 60)),
    series: [
      { name: 'Net cost', kind: 'bars', values: data.map(({ netSpendEuros }) => netSpendEuros) },
      { name: 'Value', kind: 'line', values: data.map(({ valueEuros }) => valueEuros) },
    ],
    table,
  })
}

function nameOf(
  { key, name }: Summary['data'][number],
  { groupBy: by }: Summary,
  request: PageRequest,
): Html {
  if (key === null) return html`<span class="none">none</span>`
  return by === 'agent' || by === 'run'
    ? renderRecordLink(request, key, renderText(name ?? key, 60))
    : html`${renderText(key, 60)}`
}

const columns: TableColumns<Figures & { readonly who: Html }> = {
  Group: ({ who }) => who,
  Reported: { figure: 'reported' },
  'Succeeded, 95 % interval': { figure: rate },
  'Net cost': 'netSpendEuros',
  Value: 'valueEuros',
  Return: 'returnEuros',
  'Cost per success': {
    figure: 'costPerSuccessEuros',
  },
  'Not reported': { figure: 'unreported' },
}

async function latestOutcomes(request: PageRequest): Promise<Html> {
  const { agentId } = reportQuery('outcomes', request)
  const only = agentId === undefined ? {} : { agentId }
  const [{ data }] = await Promise.all([
    request.ask(outcomesApi.list, { query: { limit: 20, ...only } }),
    preloadRecordNames(request, 'agents'),
  ])
  if (data.length === 0) return html``
  const csv = `${request.to('console/csv/outcomes')}?${new URLSearchParams(only)}`
  return renderBox(
    'Latest outcomes',
    renderTable(request, 'Latest outcomes', data, latestColumns),
    html`<nav class="pages" aria-label="All outcomes"><a class="aside" href="${csv}" download>Export</a></nav>`,
  )
}

const latestColumns: TableColumns<Outcome> = {
  Intent: 'intentId',
  Agent: 'agentId',
  Outcome: ({ success }) => renderStatus(success ? 'succeeded' : 'failed'),
  Value: 'valueEuros',
  Note: ({ note }) => renderText(note, 200),
  Reported: 'createdAt',
}
