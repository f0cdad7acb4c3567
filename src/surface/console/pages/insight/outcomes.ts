import { outcomesApi } from '../../../../insight/outcomes/index.ts'
import { type Html, html } from '../../../../web/html.ts'
import type { ConsolePage, ListItemOf, OperationAnswer, PageRequest } from '../../page.ts'
import { copyableText, renderRecordLink } from '../../parts/links.ts'
import { readRecordNames } from '../../parts/names.ts'
import { renderBox, renderFacts, renderTable, type TableColumns } from '../../parts/table.ts'
import { noneText, renderEuros, renderPercent, renderStatus, renderText } from '../../parts/text.ts'
import { filledReportQuery, formatSpan, renderReportForm } from './report-query.ts'

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
${await renderReportForm(outcomesApi.summary, ['from', 'to', 'groupBy'], request, { groupBy })}
${summed}
${latest}`,
  }
}

const groupBy = ['agent', 'merchant', 'mcc', 'run'].map(one => [one, one] as const)

const rate = ({ successRate }: Figures): Html =>
  successRate
    ? html`${renderPercent(successRate.rate)} <small>${renderPercent(successRate.low)} to ${renderPercent(successRate.high)}</small>`
    : noneText

async function summary(request: PageRequest): Promise<Html> {
  const report = await request.ask(outcomesApi.summary, { query: filledReportQuery(request) })
  const { total, data, other } = report
  if (data.length === 0)
    return html`<div class="empty"><p>No outcomes and no completed intents from ${formatSpan(report)}.</p><p>${copyableText('agentpay outcomes create --intent-id intent_… --success true --value-euros 40')}</p></div>`
  const groups = data.map(group => ({ ...group, who: nameOf(group, report, request) }))
  const rest = other ? [{ ...other, who: html`${other.groups} other groups` }] : []
  return html`${renderBox(
    formatSpan(report),
    renderFacts([
      ['Reported', html`${total.reported} of ${total.reported + total.unreported}`],
      ['Succeeded', rate(total)],
      ['Net cost', renderEuros(total.netSpendEuros)],
      ['Value', html`${renderEuros(total.valueEuros)} from ${total.valued} outcomes`],
      [
        'Return',
        html`${renderEuros(total.returnEuros)}${total.returnShare !== null && html` (${renderPercent(total.returnShare)})`}`,
      ],
    ]),
  )}
${renderBox(`By ${report.groupBy}`, renderTable(request, `Outcomes by ${report.groupBy}`, [...groups, ...rest], columns))}`
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
    figure: ({ costPerSuccessEuros: cost }) => (cost === null ? noneText : renderEuros(cost)),
  },
  'Not reported': { figure: 'unreported' },
}

async function latestOutcomes(request: PageRequest): Promise<Html> {
  const { agentId } = filledReportQuery(request)
  const only = agentId === undefined ? {} : { agentId }
  const [{ data }] = await Promise.all([
    request.ask(outcomesApi.list, { query: { limit: 20, ...only } }),
    readRecordNames(request, 'agents'),
  ])
  if (data.length === 0) return html``
  const csv = `${request.to('console/csv/outcomes')}?${new URLSearchParams(only)}`
  return renderBox(
    'Latest outcomes',
    renderTable(request, 'Latest outcomes', data, latestColumns),
    html`<nav class="pages" aria-label="All outcomes"><a class="aside" href="${csv}" download>CSV</a></nav>`,
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
