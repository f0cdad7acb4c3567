import { collectApi, collectRefundsApi } from '../../../../commerce/collect/index.ts'
import { html } from '../../../../web/html.ts'
import { copyable, recordLink } from '../../parts/links.ts'
import { section } from '../../parts/section.ts'
import { words } from '../../parts/text.ts'

const events = ['claim.request.*']

interface Request {
  readonly status: string
}

const isOpen = ({ status }: Request): boolean => status === 'open'

export const requestPayments = section({
  kind: 'Payment',
  title: 'Payments of a request',
  list: collectApi.payments,
  columns: [
    { Method: ({ way }) => words(way) },
    'amountEuros',
    'countedEuros',
    'status',
    { From: ({ transactionId, sourceId }, request) => recordLink(request, transactionId ?? sourceId) },
    'receivedAt',
  ],
  labels: { countedEuros: 'Counts' },
  events,
})

const givenBack = section({
  kind: 'Refund',
  list: collectRefundsApi.refunds,
  columns: ['amountEuros', 'status', 'reason', 'failure', 'transferId', 'createdAt'],
})

export const requests = section({
  kind: 'Payment request',
  lead: 'Money that you or your agents have asked others for.',
  list: collectApi.list,
  get: collectApi.get,
  name: ({ description }) => description,
  columns: ['amountEuros', 'paidEuros', 'status', 'walletId', 'payerName', 'expiresAt'],
  labels: {
    walletId: 'Into',
    payerName: 'Payer',
    payerEmail: 'Payer’s e-mail',
    payUrl: 'For people',
    mppUrl: 'For programs',
    refundedEuros: 'Refunded',
    refundingEuros: 'Refund on its way',
    comment: 'Note',
  },
  shows: {
    reference: ({ reference }) => copyable(reference),
    payUrl: ({ payUrl }) => html`<a href="${payUrl}">${payUrl}</a>`,
    mppUrl: ({ mppUrl }) => copyable(mppUrl),
  },
  hidden: ['description'],
  events,
  create: {
    operation: collectApi.create,
    members: ['walletId', 'amountEuros', 'description', 'expiresInHours', 'payerName', 'payerEmail'],
    labels: { expiresInHours: 'Open for how many hours', payerName: 'Payer (for you)' },
    values: { expiresInHours: 72 },
    submit: 'Ask for money',
  },
  actions: [
    {
      operation: collectApi.settle,
      when: isOpen,
      labels: {
        creditId: 'The incoming credit that pays it (in test mode: left out, the sandbox’s bank pays)',
      },
      submit: 'Say which credit pays it',
    },
    {
      operation: collectApi.cancel,
      when: isOpen,
      tone: 'against',
      confirm: 'Cancel the request? It cannot be paid any more.',
    },
    {
      operation: collectRefundsApi.refund,
      when: request => !isOpen(request),
      members: ['amountEuros', 'reason'],
      labels: { amountEuros: 'Amount in euros (all, if left out)' },
      tone: 'against',
      confirm: 'Give back what came for the request?',
    },
  ],
  async below({ id }, request) {
    const params = { id }
    const [came, gone] = await Promise.all([
      requestPayments.related({ title: 'Payments', params, limit: 20, empty: 'None yet.' }, request),
      givenBack.related({ title: 'Refunds', params, limit: 20 }, request),
    ])
    return html`${came}<p><a href="${request.to(`console/request-payments?id=${id}`)}">All payments</a></p>${gone}`
  },
})
