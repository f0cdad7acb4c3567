import { outcomesApi } from '../../../../insight/outcomes/index.ts'
import { type Html, html } from '../../../../web/html.ts'
import type { AnswerOf, ItemOf, Page, PageRequest } from '../../page.ts'
import { copyable, recordLink } from '../../parts/links.ts'
import { readNames } from '../../parts/names.ts'
import { box, type Columns, facts, table } from '../../parts/table.ts'
import { euros, none, percent, status, text } from '../../parts/text.ts'
import { reportForm, reportQuery, spanInWords } from './report-query.ts'

type Summary = AnswerOf<typeof outcomesApi.summary>
type Figures = Summary['total']
type Outcome = ItemOf<typeof outcomesApi.list>

const EVENTS = ['outcome.*', 'transaction.*', 'intent.completed']

export const outcomesPage: Page = async request => {
  const [summed, latest] = await Promise.all([
    request.part({ id: 'summary', events: EVENTS, make: () => summary(request) }),
    request.part({ id: 'latest', events: ['outcome.*'], make: () => latestOutcomes(request) }),
  ])
  return {
    title: 'Outcomes',
    content: html`<h1>Outcomes</h1>
<p class="lead">Outcomes of intents by the day of their declaration, with their costs so far.</p>
${await reportForm(outcomesApi.summary, ['from', 'to', 'groupBy'], request, { groupBy })}
${summed}
${latest}`,
  }
}

const groupBy = ['agent', 'merchant', 'mcc', 'run'].map(one => [one, one] as const)

const rate = ({ successRate }: Figures): Html =>
  successRate
    ? html`${percent(successRate.rate)} <small>${percent(successRate.low)} to ${percent(successRate.high)}</small>`
    : none

async function summary(request: PageRequest): Promise<Html> {
  const report = await request.ask(outcomesApi.summary, { query: reportQuery(request) })
  const { total, data, other } = report
  if (data.length === 0)
    return html`<div class="empty"><p>No outcomes and no completed intents from ${spanInWords(report)}.</p><p>${copyable('agentpay outcomes create --intent-id intent_… --success true --value-euros 40')}</p></div>`
  const groups = data.map(group => ({ ...group, who: nameOf(group, report, request) }))
  const rest = other ? [{ ...other, who: html`${other.groups} other groups` }] : []
  return html`${box(
    spanInWords(report),
    facts([
      ['Reported', html`${total.reported} of ${total.reported + total.unreported}`],
      ['Succeeded', rate(total)],
      ['Net cost', euros(total.netSpendEuros)],
      ['Value', html`${euros(total.valueEuros)} from ${total.valued} outcomes`],
      [
        'Return',
        html`${euros(total.returnEuros)}${total.returnShare !== null && html` (${percent(total.returnShare)})`}`,
      ],
    ]),
  )}
${box(`By ${report.groupBy}`, table(request, `Outcomes by ${report.groupBy}`, [...groups, ...rest], columns))}`
}

function nameOf(
  { key, name }: Summary['data'][number],
  { groupBy: by }: Summary,
  request: PageRequest,
): Html {
  if (key === null) return html`<span class="none">none</span>`
  return by === 'agent' || by === 'run'
    ? recordLink(request, key, text(name ?? key, 60))
    : html`${text(key, 60)}`
}

const columns: Columns<Figures & { readonly who: Html }> = {
  Group: ({ who }) => who,
  Reported: { figure: 'reported' },
  'Succeeded, 95 % interval': { figure: rate },
  'Net cost': 'netSpendEuros',
  Value: 'valueEuros',
  Return: 'returnEuros',
  'Cost per success': { figure: ({ costPerSuccessEuros: cost }) => (cost === null ? none : euros(cost)) },
  'Not reported': { figure: 'unreported' },
}

async function latestOutcomes(request: PageRequest): Promise<Html> {
  const { agentId } = reportQuery(request)
  const only = agentId === undefined ? {} : { agentId }
  const [{ data }] = await Promise.all([
    request.ask(outcomesApi.list, { query: { limit: 20, ...only } }),
    readNames(request, 'agents'),
  ])
  if (data.length === 0) return html``
  const csv = `${request.to('console/csv/outcomes')}?${new URLSearchParams(only)}`
  return box(
    'Latest outcomes',
    table(request, 'Latest outcomes', data, latestColumns),
    html`<nav class="pages" aria-label="All outcomes"><a class="aside" href="${csv}" download>CSV</a></nav>`,
  )
}

const latestColumns: Columns<Outcome> = {
  Intent: 'intentId',
  Agent: 'agentId',
  Outcome: ({ success }) => status(success ? 'succeeded' : 'failed'),
  Value: 'valueEuros',
  Note: ({ note }) => text(note, 200),
  Reported: 'createdAt',
}
