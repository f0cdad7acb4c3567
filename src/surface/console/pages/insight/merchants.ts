import { merchantsApi } from '../../../../insight/analytics/index.ts'
import { type Html, html } from '../../../../web/html.ts'
import type { AnswerOf, Page, PageRequest } from '../../page.ts'
import { bars } from '../../parts/chart.ts'
import { recordLink } from '../../parts/links.ts'
import { readNames } from '../../parts/names.ts'
import { box, type Columns, table } from '../../parts/table.ts'
import { change, dayInWords, euros, none, percent, plainEuros, text } from '../../parts/text.ts'
import { csvAddress, reportForm, reportQuery, spanInWords } from './report-query.ts'

type Merchants = AnswerOf<typeof merchantsApi.merchants>
type Merchant = Merchants['data'][number]

export const merchantsPage: Page = async request => {
  const content = await request.part({
    id: 'merchants',
    events: ['transaction.*'],
    make: () => merchants(request),
  })
  return {
    title: 'Merchants',
    content: html`<h1>Merchants</h1>
<p class="lead">Merchants by spending. Different spellings of a merchant are grouped.</p>
${await reportForm(merchantsApi.merchants, ['from', 'to', 'groupBy'], request)}
${content}`,
  }
}

async function merchants(request: PageRequest): Promise<Html> {
  const [report] = await Promise.all([
    request.ask(merchantsApi.merchants, { query: reportQuery(request) }),
    readNames(request, 'agents'),
  ])
  const { data, other, total } = report
  if (data.length === 0) return html`<div class="empty"><p>No payments from ${spanInWords(report)}.</p></div>`
  return html`${box(spanInWords(report), drawn(report, request))}
<nav class="pages" aria-label="Report"><span>${other ? `${other.groups} other merchants: ${plainEuros(other.netEuros)} of ${plainEuros(total.netEuros)} net` : `Total: ${plainEuros(total.netEuros)} net`}</span><a class="aside" href="${csvAddress(merchantsApi.merchantsTable, request)}" download>CSV</a></nav>`
}

const nameOf = ({ key, names }: Merchant): string => names[0] ?? key ?? 'Unknown merchant'

const columns: Columns<Merchant> = {
  Merchant: merchant => html`${text(nameOf(merchant), 60)}${otherNames(merchant)}`,
  Payments: { figure: 'count' },
  Spent: 'spentEuros',
  Refunded: 'refundedEuros',
  Net: 'netEuros',
  Share: { figure: ({ share }) => percent(share) },
  'First payment': ({ firstOn }) => (firstOn ? dayInWords(firstOn) : none),
  'Last payment': ({ lastOn }) => (lastOn ? dayInWords(lastOn) : none),
  Recurring: rhythm,
}

const otherNames = ({ names }: Merchant): Html | false =>
  names.length > 1 &&
  html`<details class="more"><summary>${names.length} spellings</summary><ul>${names.map(name => html`<li>${text(name, 100)}</li>`)}</ul></details>`

function rhythm({ rhythm: found }: Merchant, request: PageRequest): Html {
  if (!found) return none
  const { every, next, lastEuros, change: grown, agentId } = found
  return html`every ${every}, ${euros(lastEuros)} (${change(grown)} since the first), next about ${dayInWords(next)}${agentId !== null && html`, ${recordLink(request, agentId)}`}`
}

function drawn({ data }: Merchants, request: PageRequest): Html {
  const [most] = data
  return bars(
    data.map(merchant => ({
      name: nameOf(merchant).slice(0, 60),
      up: merchant.spentEuros,
      down: Math.max(0, merchant.refundedEuros),
    })),
    {
      id: 'paid',
      title: 'Spending by merchant',
      description: `${data.length} bars, the highest net spend first${most ? `: ${nameOf(most).slice(0, 60)} with ${plainEuros(most.netEuros)}` : ''}. The table below has the figures.`,
      legend: [
        ['up', 'Spent'],
        ['down', 'Refunded'],
      ],
      table: table(request, 'Merchants', data, columns),
      isOpen: true,
    },
  )
}
