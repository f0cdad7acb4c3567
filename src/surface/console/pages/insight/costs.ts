import { costsApi } from '../../../../insight/analytics/index.ts'
import { type Html, html } from '../../../../web/html.ts'
import type { AnswerOf, Page, PageRequest } from '../../page.ts'
import { bars } from '../../parts/chart.ts'
import { recordLink } from '../../parts/links.ts'
import { box, type Columns, facts, table } from '../../parts/table.ts'
import { change, dayInWords, euros, percent, plainEuros, text } from '../../parts/text.ts'
import { csvAddress, periodsIn, reportForm, reportQuery, spanInWords } from './report-query.ts'

type Costs = AnswerOf<typeof costsApi.costs>
type Period = Costs['total']['periods'][number]

export const costsPage: Page = async request => {
  const content = await request.part({ id: 'costs', events: ['transaction.*'], make: () => costs(request) })
  return {
    title: 'Costs',
    content: html`<h1>Costs</h1>
<p class="lead">Payments and refunds by day (UTC).</p>
${await reportForm(costsApi.costs, ['from', 'to', 'groupBy'], request)}
${content}`,
  }
}

async function costs(request: PageRequest): Promise<Html> {
  const report = await request.ask(costsApi.costs, { query: reportQuery(request) })
  const { total, data } = report
  if (total.count === 0 && total.deniedCount === 0 && total.refundedEuros === 0)
    return html`<div class="empty"><p>No payments from ${spanInWords(report)}.</p></div>`
  return html`${box(
    spanInWords(report),
    facts([
      ['Spent', html`${euros(total.spentEuros)}, ${total.count} payments`],
      ['Refunded', euros(total.refundedEuros)],
      [
        'Net',
        html`${euros(total.netEuros)}${total.change !== null && html` (${change(total.change)} from the previous period)`}`,
      ],
      [
        'Denied',
        html`${euros(total.deniedEuros)}, ${total.deniedCount === 1 ? '1 payment' : `${total.deniedCount} payments`}`,
      ],
    ]),
    drawn(report, request),
  )}
${box('By agent', byAgent(report, request))}
<nav class="pages" aria-label="Report"><span>${data.length} agents listed</span><a class="aside" href="${csvAddress(costsApi.costsTable, request)}" download>CSV</a></nav>`
}

const columns: Columns<Period> = {
  From: ({ from }) => html`<time datetime="${from}">${dayInWords(from)}</time>`,
  Payments: { figure: 'count' },
  Spent: 'spentEuros',
  Refunded: 'refundedEuros',
  Net: 'netEuros',
  Fees: 'feesEuros',
}

function drawn({ from, to, groupBy, total }: Costs, request: PageRequest): Html {
  const known = new Map(total.periods.map(period => [period.from, period]))
  const items = periodsIn(from, to, groupBy).map(first => ({
    name: dayInWords(first),
    up: known.get(first)?.spentEuros ?? 0,
    down: Math.max(0, known.get(first)?.refundedEuros ?? 0),
  }))
  const dearest = items.reduce((one, other) => (other.up > one.up ? other : one))
  return bars(items, {
    id: 'spent',
    title: `Spending by ${groupBy}`,
    description: `${items.length} bars, one for each ${groupBy}. The highest is ${plainEuros(dearest.up)}, ${dearest.name}. The table below has the figures.`,
    legend: [
      ['up', 'Spent'],
      ['down', 'Refunded'],
    ],
    table: table(request, `Costs by ${groupBy}`, total.periods, columns),
  })
}

type Line = Costs['total'] & { readonly who: Html }

const lineColumns: Columns<Line> = {
  Agent: ({ who }) => who,
  Payments: { figure: 'count' },
  Spent: 'spentEuros',
  Refunded: 'refundedEuros',
  Net: 'netEuros',
  Share: { figure: ({ share }) => percent(share) },
  Change: { figure: one => change(one.change) },
  Denied: 'deniedEuros',
}

function byAgent({ data, other }: Costs, request: PageRequest): Html {
  const listed = data.map(line => ({
    ...line,
    who:
      line.agentId === null
        ? html`You, without an agent`
        : recordLink(request, line.agentId, text(line.name, 60)),
  }))
  const rest = other ? [{ ...other, who: html`${other.agents} other agents` }] : []
  return table(request, 'Costs by agent', [...listed, ...rest], lineColumns)
}
