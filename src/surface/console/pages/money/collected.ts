import { collectApi, collectRefundsApi } from '../../../../commerce/collect/index.ts'
import { type Html, html } from '../../../../web/html.ts'
import type { ItemOf, PageRequest } from '../../page.ts'
import { recordLink } from '../../parts/links.ts'
import { listPage } from '../../parts/list.ts'
import { box, type Columns, table } from '../../parts/table.ts'
import { text, words } from '../../parts/text.ts'

const MOST = 20

type Payment = ItemOf<typeof collectApi.payments>

const columns: Columns<Payment> = {
  By: ({ way }) => words(way),
  Amount: 'amountEuros',
  Counts: 'countedEuros',
  State: 'status',
  From: ({ transactionId, sourceId }, request) => recordLink(request, transactionId ?? sourceId),
  Came: 'receivedAt',
}

/** All that has come for the request that the address names. */
export const requestPaymentsPage = listPage({
  title: 'What has come for a request',
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
    table(request, 'What has come for the request', data, columns),
    html`<p><a href="${request.to(`console/request-payments?id=${id}`)}">All payments</a></p>`,
  )
}

/** What has gone back to those who paid. */
export async function refundsOf(id: string, request: PageRequest): Promise<Html> {
  const { data } = await request.ask(collectRefundsApi.refunds, { params: { id }, query: { limit: MOST } })
  if (data.length === 0) return html``
  const list = table(request, 'What has gone back', data, {
    Amount: 'amountEuros',
    State: 'status',
    Why: ({ reason, failure }) => text(failure?.message ?? reason, 200),
    Transfer: ({ transferId }) => recordLink(request, transferId),
    Asked: 'createdAt',
  })
  return box('Given back', list)
}
