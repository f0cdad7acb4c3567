import { collectApi, collectRefundsApi } from '../../../../commerce/collect/index.ts'
import { type Html, html } from '../../../../web/html.ts'
import type { ItemOf, PageRequest } from '../../page.ts'
import { operationForm } from '../../parts/form.ts'
import { copyable, recordLink, runLink } from '../../parts/links.ts'
import { listPage } from '../../parts/list.ts'
import { choicesOf, readNames } from '../../parts/names.ts'
import { recordPage } from '../../parts/record-page.ts'
import { box, type Columns, knownFacts, table } from '../../parts/table.ts'
import { euros, spaced, text, time, words } from '../../parts/text.ts'

const events = ['claim.request.*']

export const requestsPage = listPage({
  title: 'Payment requests',
  lead: 'Money that you or your agents have asked others for.',
  operation: collectApi.list,
  filters: ['status', 'paidBy', 'reference', 'walletId', 'agentId', 'from', 'to'],
  events,
  empty: {
    words: 'Nobody has been asked for money yet.',
    command:
      'agentpay collect create --wallet-id wallet_… --amount-euros 12.50 --description "Report 17" --expires-in-hours 72',
  },
  above: async request =>
    operationForm(request, collectApi.create, {
      members: ['walletId', 'amountEuros', 'description', 'expiresInHours', 'payerName', 'payerEmail'],
      labels: {
        expiresInHours: 'Open for how many hours',
        payerEmail: 'Payer’s e-mail (for you)',
        payerName: 'Payer (for you)',
      },
      values: { expiresInHours: 72 },
      choices: { walletId: await choicesOf('wallets', request) },
      submit: 'Ask for money',
      done: 'go:console/requests/{id}',
      fold: true,
    }),
  names: ['wallets'],
  columns: {
    For: ({ id, description }, request) => recordLink(request, id, text(description, 80)),
    Amount: 'amountEuros',
    Paid: 'paidEuros',
    State: 'status',
    Into: 'walletId',
    Payer: 'payerName',
    Until: 'expiresAt',
  },
})

export const requestPage = recordPage({
  kind: 'Payment request',
  operation: collectApi.get,
  events,
  name: ({ amountEuros, description }) => html`${euros(amountEuros)} for ${text(description, 120)}`,
  title: ({ description }) => description,
  async body(record, request) {
    const { id, status: state, surplusEuros, refundedEuros, refundingEuros, workflowId } = record
    const params = { id }
    const [came, gone] = await Promise.all([
      paymentsOf(id, request),
      refundsOf(id, request),
      readNames(request, 'wallets', 'agents'),
    ])
    const isOpen = state === 'open'
    return html`<div class="actions">${isOpen && operationForm(request, collectApi.settle, { params, members: ['creditId'], labels: { creditId: 'The incoming credit that pays it (in test mode: left out, the sandbox’s bank pays)' }, submit: 'Say which credit pays it', fold: true })}
${isOpen && operationForm(request, collectApi.cancel, { params, members: ['comment'], submit: 'Cancel', tone: 'against', confirm: 'Cancel the request? It cannot be paid any more.', fold: true })}
${!isOpen && operationForm(request, collectRefundsApi.refund, { params, members: ['amountEuros', 'reason'], labels: { amountEuros: 'Amount in euros (all, if left out)' }, submit: 'Give back', tone: 'against', confirm: 'Give back what came for the request?', fold: true })}</div>
<div class="boxes">${box(
      'What has come',
      knownFacts([
        ['Asked', euros(record.amountEuros)],
        ['Paid', spaced(euros(record.paidEuros), record.paidBy && words(record.paidBy))],
        ['Surplus', euros(surplusEuros)],
        [
          'Given back',
          spaced(euros(refundedEuros), refundingEuros > 0 && html`and ${euros(refundingEuros)} on its way`),
        ],
        ['Into', recordLink(request, record.walletId)],
        ['Agent', recordLink(request, record.agentId)],
        ['Payer', text(record.payerName)],
        ['Payer’s e-mail', text(record.payerEmail)],
        ['Open until', time(record.expiresAt)],
        ['Paid at', time(record.paidAt)],
        ['Note', text(record.comment, 300)],
      ]),
    )}${box(
      'How it is paid',
      knownFacts([
        ['Reference', copyable(record.reference)],
        ['For people', html`<a href="${record.payUrl}">${record.payUrl}</a>`],
        ['For programs', copyable(record.mppUrl)],
        ['Run in Temporal', runLink(request, workflowId)],
      ]),
    )}</div>
${came}${gone}`
  },
})

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
async function paymentsOf(id: string, request: PageRequest): Promise<Html> {
  const { data } = await request.ask(collectApi.payments, { params: { id }, query: { limit: MOST } })
  if (data.length === 0) return box('Payments', html`<p>Nothing has come yet.</p>`)
  return box(
    'Payments',
    table(request, 'What has come for the request', data, columns),
    html`<p><a href="${request.to(`console/request-payments?id=${id}`)}">All payments</a></p>`,
  )
}

/** What has gone back to those who paid. */
async function refundsOf(id: string, request: PageRequest): Promise<Html> {
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
