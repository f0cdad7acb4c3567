import { refundsApi } from '../../../../commerce/refunds/index.ts'
import { type Html, html } from '../../../../web/html.ts'
import type { ItemOf, PageRequest } from '../../page.ts'
import { operationForm } from '../../parts/form.ts'
import { recordLink } from '../../parts/links.ts'
import { listPage } from '../../parts/list.ts'
import { recordPage } from '../../parts/record-page.ts'
import { box, type Columns, knownFacts, table } from '../../parts/table.ts'
import { euros, text, time, words } from '../../parts/text.ts'

const events = ['refund.*']

type Refund = ItemOf<typeof refundsApi.list>

const columns: Columns<Refund> = {
  Refund: ({ id, amountEuros }, request) => recordLink(request, id, euros(amountEuros)),
  State: 'status',
  By: ({ origin }) => words(origin),
  Payment: 'transactionId',
  Since: 'createdAt',
}

export const refundsPage = listPage({
  title: 'Refunds',
  lead: 'What comes back of payments: asked for, or sent by others.',
  operation: refundsApi.list,
  filters: ['status', 'origin', 'agentId', 'transactionId', 'from', 'to'],
  events,
  empty: {
    words: 'Nothing has come back. Ask for it on the page of a completed payment, or by a call.',
    command: 'agentpay refunds create --help',
  },
  columns,
})

/** What has come back of a payment, and the form that asks for it where something may come back. */
export async function refundsOf(id: string, mayAsk: boolean, request: PageRequest): Promise<Html> {
  const { ask, may } = request
  if (!may(refundsApi.list)) return html``
  const { data } = await ask(refundsApi.list, { query: { transactionId: id, limit: 10 } })
  if (data.length === 0 && !mayAsk) return html``
  return box(
    'Refunds',
    data.length > 0 ? table(request, 'Refunds of the payment', data, columns) : html`<p>None.</p>`,
    mayAsk &&
      operationForm(request, refundsApi.create, {
        given: { transactionId: id },
        members: ['amountEuros', 'reason', 'note'],
        labels: { amountEuros: 'Amount in euros (all that is left, if left out)', note: 'Note, for you' },
        submit: 'Refund',
        done: 'go:console/refunds/{id}',
        fold: true,
      }),
  )
}

export const refundPage = recordPage({
  kind: 'Refund',
  operation: refundsApi.get,
  events,
  about: ({ transactionId }) => [transactionId],
  name: ({ amountEuros }) => euros(amountEuros),
  title: () => 'Refund',
  body: (refund, request) => html`${
    refund.status === 'pending' &&
    operationForm(request, refundsApi.cancel, {
      params: { id: refund.id },
      submit: 'Stop waiting',
      confirm: 'Stop waiting for this money? What comes after all is booked.',
      tone: 'against',
    })
  }
${box(
  'Refund',
  knownFacts([
    ['Payment', recordLink(request, refund.transactionId)],
    ['Agent', recordLink(request, refund.agentId)],
    ['Into', recordLink(request, refund.walletId)],
    ['By', words(refund.origin)],
    ['Way', words(refund.way)],
    ['Because', text(refund.reason && words(refund.reason))],
    ['Arrived so far', euros(refund.arrivedEuros)],
    ['Note', text(refund.note, 1_000)],
    ['Why nothing has come', text(refund.failure?.message, 400)],
    ['Merchant asked', time(refund.merchantAskedAt)],
    ['Waited for until', time(refund.dueAt)],
  ]),
)}`,
})
