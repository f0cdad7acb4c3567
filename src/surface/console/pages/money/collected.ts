import { collectApi, collectRefundsApi } from '../../../../commerce/collect/index.ts'
import { type Html, html } from '../../../../web/html.ts'
import type { PageRequest } from '../../page.ts'
import { recordLink } from '../../parts/links.ts'
import { listPage } from '../../parts/list.ts'
import { box, type Column, table } from '../../parts/table.ts'
import { euros, status, text, time, words } from '../../parts/text.ts'

const MOST = 20

interface Payment {
  readonly way: string
  readonly status: string
  readonly amountEuros: number
  readonly countedEuros: number
  readonly transactionId: string | null
  readonly sourceId: string
  readonly receivedAt: string | null
}

const columns: readonly Column<Payment>[] = [
  { name: 'By', of: ({ way }) => words(way) },
  { name: 'Amount', isFigure: true, of: ({ amountEuros }) => euros(amountEuros) },
  { name: 'Counts', isFigure: true, of: ({ countedEuros }) => euros(countedEuros) },
  { name: 'State', of: payment => status(payment.status) },
  {
    name: 'From',
    of: ({ transactionId, sourceId }, request) => recordLink(request, transactionId ?? sourceId),
  },
  { name: 'Came', of: ({ receivedAt }) => time(receivedAt) },
]

/** All that has come for the request that the address names. */
export const requestPaymentsPage = listPage({
  title: 'What has come for a request',
  section: 'request-payments',
  operation: collectApi.payments,
  events: ['claim.request.*'],
  empty: { words: 'Nothing has come yet.' },
  columns,
})

/** The payments that have come for a request. */
export async function paymentsOf(id: string, request: PageRequest): Promise<Html> {
  const { data } = await request.ask(collectApi.payments, { params: { id }, query: { limit: MOST } })
  if (data.length === 0) return box('Payments', html`<p>Nothing has come yet.</p>`)
  return box(
    'Payments',
    table(columns, data, request, 'What has come for the request'),
    html`<p><a href="${request.to(`console/request-payments?id=${id}`)}">All payments</a></p>`,
  )
}

/** What has gone back to those who paid. */
export async function refundsOf(id: string, request: PageRequest): Promise<Html> {
  const { data } = await request.ask(collectRefundsApi.refunds, { params: { id }, query: { limit: MOST } })
  if (data.length === 0) return html``
  const list = table(
    [
      { name: 'Amount', isFigure: true, of: ({ amountEuros }) => euros(amountEuros) },
      { name: 'State', of: refund => status(refund.status) },
      { name: 'Why', of: ({ reason, failure }) => text(failure?.message ?? reason, 200) },
      { name: 'Transfer', of: ({ transferId }) => recordLink(request, transferId) },
      { name: 'Asked', of: ({ createdAt }) => time(createdAt) },
    ],
    data,
    request,
    'What has gone back',
  )
  return box('Given back', list)
}
