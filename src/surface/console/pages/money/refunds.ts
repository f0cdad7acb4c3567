import { refundsApi } from '../../../../commerce/refunds/index.ts'
import type { Html } from '../../../../web/html.ts'
import type { PageRequest } from '../../page.ts'
import { section } from '../../parts/section.ts'
import { plainEuros } from '../../parts/text.ts'

export const refunds = section({
  kind: 'Refund',
  lead: 'Money returned from payments, requested or sent by others.',
  list: refundsApi.list,
  get: refundsApi.get,
  name: ({ amountEuros }) => plainEuros(amountEuros),
  columns: ['status', 'origin', 'transactionId', 'createdAt'],
  labels: {
    transactionId: 'Payment',
    arrivedEuros: 'Arrived so far',
    dueAt: 'Awaited until',
  },
  empty: 'No refunds yet. Request one on the page of a completed payment.',
  call: 'agentpay refunds create --help',
  actions: [
    {
      operation: refundsApi.cancel,
      when: ({ status }) => status === 'pending',
      submit: 'Stop waiting',
      confirm: 'Stop waiting for this money? What comes after all is booked.',
      tone: 'against',
    },
  ],
})

export const refundsOf = (id: string, mayAsk: boolean, request: PageRequest): Promise<Html> =>
  refunds.related(
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
  labels: { amountEuros: 'Amount in euros (all that is left, if left out)', note: 'Note, for you' },
  submit: 'Refund',
})
