import { statementsApi } from '../../../../money/statements/index.ts'
import { type Html, html } from '../../../../web/html.ts'
import type { PageRequest } from '../../page.ts'
import { section } from '../../parts/section.ts'

const forms = [
  ['pdf', 'PDF'],
  ['csv', 'CSV'],
  ['camt053', 'camt.053'],
] as const

const downloads = ({ id }: { readonly id: string }, { to }: PageRequest): Html =>
  html`<span class="downloads">${forms.map(([form, name]) => html`<a href="${to(`statements/${id}/${form}`)}" download>${name}</a> `)}</span>`

const labels = { period: 'Month (YYYY-MM); this one if left out' }

export const statements = section({
  kind: 'Statement',
  lead: 'One for each wallet and month, drawn up on the first of the next.',
  list: statementsApi.list,
  get: statementsApi.get,
  name: ({ period }) => period,
  columns: ['walletId', 'status', 'openingEuros', 'closingEuros', { Download: downloads }],
  hidden: ['period'],
  events: ['bill.updated'],
  empty: 'No statements yet. The first comes when the month ends; you can draw one up now.',
  create: { operation: statementsApi.create, labels, submit: 'Draw up a statement' },
  actions: [
    {
      operation: statementsApi.create,
      when: ({ status }) => status === 'open',
      forRecord: ({ walletId, period }) => ({ given: { walletId, period }, members: [] }),
      submit: 'Bring up to date',
    },
  ],
  note: (statement, request) => html`<p class="record">${downloads(statement, request)}</p>`,
})

export const statementsOf = (walletId: string, request: PageRequest): Promise<Html> =>
  statements.related(
    {
      title: 'Statements',
      query: { walletId },
      limit: 6,
      empty: 'None yet.',
      create: {
        operation: statementsApi.create,
        given: { walletId },
        members: ['period'],
        labels,
        submit: 'Draw up a statement',
      },
    },
    request,
  )
