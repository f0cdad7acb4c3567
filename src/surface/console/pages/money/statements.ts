import { statementsApi } from '../../../../money/statements/index.ts'
import { type Html, type HtmlContent, html } from '../../../../web/html.ts'
import type { PageRequest } from '../../page.ts'
import { consoleSection } from '../../parts/section.ts'
import { formatDay } from '../../parts/text.ts'

const forms = [
  ['pdf', 'PDF'],
  ['csv', 'CSV'],
  ['camt053', 'camt.053'],
] as const

const downloads = ({ id }: { readonly id: string }, { to }: PageRequest): Html =>
  html`<span class="downloads">${forms.map(([form, name]) => html`<a href="${to(`statements/${id}/${form}`)}" download>${name}</a> `)}</span>`

const labels = { period: 'Month (default: this month)' }

/** One button exports a month of all wallets, of those that the newest hundred statements are about. */
async function exportForm({ ask, may, to }: PageRequest): Promise<HtmlContent> {
  if (!may(statementsApi.export)) return false
  const { data } = await ask(statementsApi.list, { query: { limit: 100 } })
  const months = [...new Set(data.map(({ period }) => period))].toSorted().toReversed()
  if (months.length === 0) return false
  return html`<form method="get" class="export-month" action="${to('statements/export')}">
<label class="unseen" for="export-month">Month</label>
<select id="export-month" name="period">${months.map(month => html`<option value="${month}">${formatDay(month)}</option>`)}</select>
<button type="submit" class="main">Export</button>
<span class="hint">All wallets as PDF, CSV and camt.053, in one ZIP file</span>
</form>`
}

export const statementsSection = consoleSection({
  kind: 'Statement',
  lead: 'Monthly statements of each wallet, created on the first day of the next month.',
  list: statementsApi.list,
  get: statementsApi.get,
  name: ({ period }) => formatDay(period),
  columns: ['walletId', 'status', 'openingEuros', 'closingEuros', { Download: downloads }],
  hidden: ['period'],
  events: ['bill.updated'],
  summary: 'newest',
  guide: 'receipts',
  above: exportForm,
  empty: 'No statements yet. The first one is created after the month ends; you can create one now.',
  create: { operation: statementsApi.create, labels, submit: 'Create statement' },
  actions: [
    {
      operation: statementsApi.create,
      when: ({ status }) => status === 'open',
      forRecord: ({ walletId, period }) => ({ given: { walletId, period }, members: [] }),
      submit: 'Update',
    },
  ],
  note: (statement, request) => html`<p class="record">${downloads(statement, request)}</p>`,
})

export const renderStatementsOfWallet = (walletId: string, request: PageRequest): Promise<Html> =>
  statementsSection.related(
    {
      title: 'Statements',
      query: { walletId },
      limit: 6,
      empty: 'No statements yet.',
      create: {
        operation: statementsApi.create,
        given: { walletId },
        members: ['period'],
        labels,
        submit: 'Create statement',
      },
    },
    request,
  )
