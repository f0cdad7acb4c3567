import { receiptsApi } from '../../../../commerce/receipts/index.ts'
import { type Html, html } from '../../../../web/html.ts'
import type { PageRequest } from '../../page.ts'
import { recordLink } from '../../parts/links.ts'
import { listPage } from '../../parts/list.ts'
import { box, type Column, table } from '../../parts/table.ts'
import { status, text, time } from '../../parts/text.ts'

interface Receipt {
  readonly id: string
  readonly status: string
  readonly fileName: string | null
  readonly mediaType: string
  readonly transactionId: string | null
  readonly createdAt: string
}

const columns: readonly Column<Receipt>[] = [
  {
    name: 'File',
    of: ({ id, fileName, mediaType }, { to }) =>
      html`<a href="${to(`receipts/${id}/file`)}" download>${text(fileName ?? mediaType, 80)}</a>`,
  },
  { name: 'State', of: receipt => status(receipt.status) },
  { name: 'Payment', of: ({ transactionId }, request) => recordLink(request, transactionId) },
  { name: 'Came', of: ({ createdAt }) => time(createdAt) },
  { name: 'JSON', of: ({ id }, { to }) => html`<a href="${to(`receipts/${id}`)}">JSON</a>` },
]

export const receiptsPage = listPage({
  title: 'Receipts',
  lead: 'What merchants have given for payments, as it came.',
  section: 'receipts',
  operation: receiptsApi.list,
  filters: ['status', 'matched', 'transactionId', 'intentId', 'agentId', 'from', 'to'],
  events: ['receipt.*'],
  empty: { words: 'No receipt yet. Agents bring them, or you.', command: 'agentpay receipts create --help' },
  columns,
})

/** The receipts of a payment. */
export async function receiptsOf(id: string, request: PageRequest): Promise<Html> {
  const { ask, may } = request
  if (!may(receiptsApi.list)) return html``
  const { data } = await ask(receiptsApi.list, { query: { transactionId: id, limit: 10 } })
  if (data.length === 0) return html``
  return box('Receipts', table(columns, data, request, 'Receipts of the payment'))
}
