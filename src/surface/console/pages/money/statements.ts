import { statementsApi } from '../../../../money/statements/index.ts'
import { type Html, html } from '../../../../web/html.ts'
import type { PageRequest } from '../../page.ts'
import { consoleSection } from '../../parts/section.ts'

const forms = [
  ['pdf', 'PDF'],
  ['csv', 'CSV'],
  ['camt053', 'camt.053'],
] as const

const downloads = ({ id }: { readonly id: string }, { to }: PageRequest): Html =>
  html`<span class="downloads">${forms.map(([form, name]) => html`<a href="${to(`statements/${id}/${form}`)}" download>${name}</a> `)}</span>`

const labels = { period: 'Month (YYYY-MM, default: this month)' }

export const statementsSection = consoleSection({
  kind: 'Statement',
  lead: 'Monthly statements of each wallet, created on the first day of the next month.',
  list: statementsApi.list,
  get: statementsApi.get,
  name: ({ period }) => period,
  columns: ['walletId', 'status', 'openingEuros', 'closingEuros', { Download: downloads }],
  hidden: ['period'],
  events: ['bill.updated'],
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
