import { refundsApi } from '../../../../commerce/refunds/index.ts'
import { formatOriginal } from '../../../../values/original-amount.ts'
import type { Html } from '../../../../web/html.ts'
import type { PageRequest } from '../../page.ts'
import { readPaymentsInRows } from '../../parts/names.ts'
import { consoleSection } from '../../parts/section.ts'
import { formatPlainEuros } from '../../parts/text.ts'

export const refundsSection = consoleSection({
  kind: 'Refund',
  lead: 'Refunds of payments, requested by you or initiated by merchants.',
  list: refundsApi.list,
  summary: 'newest',
  guide: 'refunds',
  get: refundsApi.get,
  name: ({ amountEuros }) => formatPlainEuros(amountEuros),
  columns: ['status', 'origin', 'transactionId', 'createdAt'],
  reads: readPaymentsInRows,
  labels: {
    transactionId: 'Payment',
    arrivedEuros: 'Received',
    original: 'Original amount',
    dueAt: 'Due',
  },
  shows: { original: ({ original }) => original && formatOriginal(original) },
  empty: 'No refunds yet. Request one on the page of a completed payment.',
  call: 'agentpay refunds create --help',
  actions: [
    {
      operation: refundsApi.cancel,
      when: ({ status }) => status === 'pending',
      submit: 'Stop waiting',
      confirm: 'Stop waiting for this refund? If it arrives later, it is still booked.',
      tone: 'against',
    },
  ],
})

export const renderRefundsOfTransaction = (
  id: string,
  mayAsk: boolean,
  request: PageRequest,
): Promise<Html> =>
  refundsSection.related(
    {
      title: 'Refunds',
      query: { transactionId: id },
      ...(mayAsk && { empty: 'None.', create: ask(id) }),
    },
    request,
  )

const ask = (transactionId: string) => ({
  operation: refundsApi.create,
  given: { transactionId },
  members: ['amountEuros', 'reason', 'note'],
  labels: { amountEuros: 'Amount in euros (default: all that is left)', note: 'Note (only visible to you)' },
  submit: 'Refund',
})
