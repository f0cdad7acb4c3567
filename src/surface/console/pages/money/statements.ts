import { statementsApi } from '../../../../money/statements/index.ts'
import { type Html, html } from '../../../../web/html.ts'
import type { ItemOf, PageRequest } from '../../page.ts'
import { operationForm } from '../../parts/form.ts'
import { recordLink } from '../../parts/links.ts'
import { listPage } from '../../parts/list.ts'
import { choicesOf, readNames } from '../../parts/names.ts'
import { recordPage } from '../../parts/record-page.ts'
import { box, type Columns, facts } from '../../parts/table.ts'
import { euros, text, time } from '../../parts/text.ts'

type Statement = ItemOf<typeof statementsApi.list>

const forms = [
  ['pdf', 'PDF'],
  ['csv', 'CSV'],
  ['camt053', 'camt.053'],
] as const

/** The statement as files, from the API's own addresses. */
const downloads = ({ id }: Pick<Statement, 'id'>, { to }: PageRequest): Html =>
  html`<span class="downloads">${forms.map(([form, name]) => html`<a href="${to(`statements/${id}/${form}`)}" download>${name}</a> `)}</span>`

export const statementColumns: Columns<Statement> = {
  Month: ({ id, period }, request) => recordLink(request, id, period),
  State: 'status',
  Opening: 'openingEuros',
  Closing: 'closingEuros',
  Download: downloads,
}

export const statementsPage = listPage({
  title: 'Statements',
  lead: 'One for each wallet and month, drawn up on the first of the next.',
  operation: statementsApi.list,
  filters: ['walletId', 'period', 'status'],
  labels: { period: 'Month (YYYY-MM)' },
  events: ['bill.updated'],
  empty: {
    words: 'No statement yet. The first comes when the month ends; draw one up here, or by a call.',
    command: 'agentpay statements create --wallet-id wallet_…',
  },
  above: async request =>
    operationForm(request, statementsApi.create, {
      members: ['walletId', 'period'],
      labels: { period: 'Month (YYYY-MM); this one if left out' },
      choices: { walletId: await choicesOf('wallets', request) },
      submit: 'Draw up a statement',
      done: 'go:console/statements/{id}',
      fold: true,
    }),
  names: ['wallets'],
  columns: { Wallet: 'walletId', ...statementColumns },
})

export const statementPage = recordPage({
  kind: 'Statement',
  operation: statementsApi.get,
  events: ['bill.updated'],
  name: ({ period }) => period,
  title: ({ period }) => `Statement of ${period}`,
  async body(statement, request) {
    await readNames(request, 'wallets')
    const { walletId, period } = statement
    return html`<p class="record">${downloads(statement, request)}</p>
${box(
  'Month',
  facts([
    ['Wallet', recordLink(request, walletId)],
    ['Holder', text(statement.holder)],
    ['IBAN', text(statement.iban)],
    ['From', time(statement.from)],
    ['To', time(statement.to)],
    ['Opening', euros(statement.openingEuros)],
    ['In', euros(statement.inEuros)],
    ['Out', euros(statement.outEuros)],
    ['Closing', euros(statement.closingEuros)],
    ['Movements', statement.movements],
  ]),
  statement.status === 'open' &&
    operationForm(request, statementsApi.create, { given: { walletId, period }, submit: 'Bring up to date' }),
)}`
  },
})
