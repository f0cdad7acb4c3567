import { collectApi } from '../../../../commerce/collect/index.ts'
import { requestRefundsApi } from '../../../../commerce/refunds/index.ts'
import { html } from '../../../../web/html.ts'
import { copyableText, renderRecordLink } from '../../parts/links.ts'
import { readPaymentsInRows } from '../../parts/names.ts'
import { consoleSection } from '../../parts/section.ts'
import { sumEuros, valueText } from '../../parts/text.ts'

const events = ['claim.request.*']

interface Request {
  readonly status: string
}

const isOpen = ({ status }: Request): boolean => status === 'open'

interface Received extends Request {
  readonly paidEuros: number
  readonly surplusEuros: number
  readonly refundedEuros: number
  readonly refundingEuros: number
}

const isRefundable = (request: Received): boolean => {
  const { paidEuros, surplusEuros, refundedEuros, refundingEuros } = request
  return !isOpen(request) && sumEuros([paidEuros, surplusEuros, -refundedEuros, -refundingEuros]) > 0
}

export const requestPaymentsSection = consoleSection({
  kind: 'Payment',
  title: 'Payments of a request',
  list: collectApi.payments,
  columns: [
    { Method: ({ way }) => valueText(way) },
    'amountEuros',
    'countedEuros',
    'status',
    { From: ({ transactionId, sourceId }, request) => renderRecordLink(request, transactionId ?? sourceId) },
    'receivedAt',
  ],
  reads: readPaymentsInRows,
  labels: { countedEuros: 'Credited' },
  events,
})

const requestRefunds = consoleSection({
  kind: 'Refund',
  list: requestRefundsApi.refunds,
  columns: ['amountEuros', 'status', 'reason', 'failure', 'transferId', 'createdAt'],
})

export const paymentRequestsSection = consoleSection({
  kind: 'Payment request',
  lead: 'Payments that you or your agents request from others.',
  list: collectApi.list,
  get: collectApi.get,
  name: ({ description }) => description,
  columns: ['amountEuros', 'paidEuros', 'status', 'walletId', 'payerName', 'expiresAt'],
  labels: {
    walletId: 'To wallet',
    payerName: 'Payer',
    payerEmail: 'Payer’s email',
    payUrl: 'Payment page',
    mppUrl: 'Machine payment URL',
    refundedEuros: 'Refunded',
    refundingEuros: 'Refund pending',
    comment: 'Note',
  },
  shows: {
    reference: ({ reference }) => copyableText(reference),
    payUrl: ({ payUrl }) => html`<a href="${payUrl}">${payUrl}</a>`,
    mppUrl: ({ mppUrl }) => copyableText(mppUrl),
  },
  hidden: ['description'],
  events,
  create: {
    operation: collectApi.create,
    members: ['walletId', 'amountEuros', 'description', 'expiresInHours', 'payerName', 'payerEmail'],
    labels: { expiresInHours: 'Expires after (hours)', payerName: 'Payer (only visible to you)' },
    values: { expiresInHours: 72 },
    submit: 'Request payment',
  },
  actions: [
    {
      operation: collectApi.settle,
      when: isOpen,
      labels: {
        creditId: 'Incoming credit (test mode default: the sandbox bank pays)',
      },
      submit: 'Match an incoming credit',
    },
    {
      operation: collectApi.cancel,
      when: isOpen,
      tone: 'against',
      confirm: 'Cancel the request? It can no longer be paid.',
    },
    {
      operation: requestRefundsApi.refund,
      when: isRefundable,
      members: ['amountEuros', 'reason'],
      labels: { amountEuros: 'Amount in euros (default: all)' },
      tone: 'against',
      confirm: 'Refund the payments of this request?',
    },
  ],
  async below({ id }, request) {
    const params = { id }
    const [came, gone] = await Promise.all([
      requestPaymentsSection.related(
        { title: 'Payments', params, limit: 20, empty: 'No payments yet.' },
        request,
      ),
      requestRefunds.related({ title: 'Refunds', params, limit: 20 }, request),
    ])
    return html`${came}<p><a href="${request.to(`console/request-payments?id=${id}`)}">All payments</a></p>${gone}`
  },
})
