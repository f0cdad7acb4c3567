import { collectApi, collectRefundsApi } from '../../../../commerce/collect/index.ts'
import { type Html, html } from '../../../../web/html.ts'
import type { PageRequest } from '../../page.ts'
import { recordLink } from '../../parts/links.ts'
import { box, table } from '../../parts/table.ts'
import { euros, status, text, time, words } from '../../parts/text.ts'

const MOST = 20

/** The payments that have come for a request. */
export async function paymentsOf(id: string, request: PageRequest): Promise<Html> {
  const { data } = await request.ask(collectApi.payments, { params: { id }, query: { limit: MOST } })
  if (data.length === 0) return box('Payments', html`<p>Nothing has come yet.</p>`)
  const list = table(
    [
      { name: 'By', of: ({ way }) => words(way) },
      { name: 'Amount', isFigure: true, of: ({ amountEuros }) => euros(amountEuros) },
      { name: 'Counts', isFigure: true, of: ({ countedEuros }) => euros(countedEuros) },
      { name: 'State', of: payment => status(payment.status) },
      { name: 'From', of: ({ transactionId, sourceId }) => recordLink(request, transactionId ?? sourceId) },
      { name: 'Came', of: ({ receivedAt }) => time(receivedAt) },
    ],
    data,
    request,
    'What has come for the request',
  )
  return box('Payments', list)
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
