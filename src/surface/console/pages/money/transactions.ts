import { authorizationsApi } from '../../../../cards/authorizations/index.ts'
import { transactionsApi } from '../../../../money/transactions/index.ts'
import { type Html, type HtmlContent, html } from '../../../../web/html.ts'
import type { OperationAnswer, PageRequest } from '../../page.ts'
import { renderRecordLink } from '../../parts/links.ts'
import { consoleSection } from '../../parts/section.ts'
import { renderBox } from '../../parts/table.ts'
import { humanize, renderEuros, renderStatus, renderText } from '../../parts/text.ts'
import { renderDisputesOfTransaction } from './disputes.ts'
import { renderReceiptsOfTransaction } from './receipts.ts'
import { renderRefundsOfTransaction } from './refunds.ts'
import { type HistoryStep, renderHistorySteps, renderPostingsFor } from './steps.ts'

type Transaction = OperationAnswer<typeof transactionsApi.get>

const ends: Readonly<Record<string, HtmlContent>> = {
  authorization: 'Booking',
  settlement: 'Settlement between banks',
  settled: 'Booked',
  completed: 'Completed: the payee has the money',
  declined: 'Declined. No money was held.',
  refunded: 'Refunded',
}

const isIncoming = ({ type }: Pick<Transaction, 'type'>): boolean => type === 'collect'

function stepsOf(transaction: Transaction, request: PageRequest): readonly HistoryStep[] {
  const { witnesses, createdAt, updatedAt, declineReason, refundedEuros } = transaction
  const isWaiting = transaction.status === 'authorization' || transaction.status === 'settlement'
  const seen = witnesses.map(({ type, id, at }) => ({
    what: `Source: ${humanize(type)}`,
    at,
    note: renderRecordLink(request, id),
  }))
  return [
    { what: 'Created', at: createdAt },
    ...seen,
    {
      what:
        isIncoming(transaction) && transaction.status === 'completed'
          ? 'Completed: the money is in the wallet'
          : (ends[transaction.status] ?? humanize(transaction.status)),
      at: isWaiting ? null : updatedAt,
      ...(declineReason && { note: renderText(declineReason, 400) }),
      ...(refundedEuros > 0 && { note: html`${renderEuros(refundedEuros)} refunded` }),
    },
  ]
}

async function authorizationOf(transaction: Transaction, { ask }: PageRequest) {
  const { id, cardId, intentId, merchant } = transaction
  if (!cardId) return undefined
  const query = intentId ? { intentId } : { merchant }
  const { data } = await ask(authorizationsApi.list, {
    params: { id: cardId },
    query: { ...query, limit: 20 },
  })
  return data.find(({ transactionId }) => transactionId === id)
}

export const transactionsSection = consoleSection({
  kind: 'Payment',
  lead: 'All outgoing payments, including failed ones.',
  list: transactionsApi.list,
  get: transactionsApi.get,
  name: ({ merchant }) => merchant,
  columns: [
    'amountEuros',
    'status',
    'type',
    { Agent: ({ agentId }, request) => (agentId ? renderRecordLink(request, agentId) : 'You') },
    'createdAt',
  ],
  labels: { type: 'Method', memo: 'Note', refundedEuros: 'Refunded' },
  hidden: ['merchant', 'witnesses', 'declineReason', 'createdAt'],
  events: ['transaction.*', 'transfer.*'],
  empty: 'No payments yet. Agents pay on approved intents; you pay by transfer.',
  call: 'agentpay transfers create --help',
  actions: [{ operation: transactionsApi.update, submit: 'Edit note' }],
  boxes: (transaction, request) => renderBox('Steps', renderHistorySteps(stepsOf(transaction, request))),
  below: recordsOf,
})

async function recordsOf(transaction: Transaction, request: PageRequest): Promise<Html> {
  const { id, intentId, transferId, cardId, type, status: state } = transaction
  const mayDispute = ['card', 'mpp'].includes(type) && state === 'completed'
  const mayRefund = state === 'completed' && transaction.refundedEuros < transaction.amountEuros
  const authorization = await authorizationOf(transaction, request)
  const witnesses = isIncoming(transaction) ? transaction.witnesses.map(witness => witness.id) : []
  const causes = [id, intentId, transferId, authorization?.id ?? null, ...witnesses]
  const papers = await Promise.all([
    renderReceiptsOfTransaction(id, request),
    renderRefundsOfTransaction(id, mayRefund, request),
    renderDisputesOfTransaction(id, mayDispute, request),
    renderPostingsFor(causes, request),
  ])
  const address = authorization && request.to(`console/cards/${cardId}?authorization=${authorization.id}`)
  return html`${authorization && html`<p>Authorization: <a href="${address}">${renderStatus(authorization.status)} Details</a></p>`}${papers}`
}
