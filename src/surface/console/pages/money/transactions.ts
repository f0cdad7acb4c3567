import { authorizationsApi } from '../../../../cards/authorizations/index.ts'
import { transactionsApi } from '../../../../money/transactions/index.ts'
import { formatOriginal } from '../../../../values/original-amount.ts'
import { type Html, type HtmlContent, html } from '../../../../web/html.ts'
import type { OperationAnswer, PageRequest } from '../../page.ts'
import type { Filters } from '../../parts/filters.ts'
import { recordAddress, renderRecordLink, renderSpender } from '../../parts/links.ts'
import { listQueryFromAddress } from '../../parts/list.ts'
import { consoleSection } from '../../parts/section.ts'
import { renderBox } from '../../parts/table.ts'
import type { ListSummary } from '../../parts/tabs.ts'
import {
  humanize,
  renderAmount,
  renderEuros,
  renderStatus,
  renderText,
  sumEuros,
  valueText,
} from '../../parts/text.ts'
import { renderDisputesOfTransaction } from './disputes.ts'
import { renderReceiptsOfTransaction } from './receipts.ts'
import { renderRefundsOfTransaction } from './refunds.ts'
import { type HistoryStep, renderHistorySteps, renderPostingsFor } from './steps.ts'

type Transaction = OperationAnswer<typeof transactionsApi.get>

const ends: Readonly<Record<string, HtmlContent>> = {
  authorization: 'Booking',
  settlement: 'Settlement between banks',
  settled: 'Booked',
  completed: 'Paid',
  declined: 'Declined. No money was held.',
  refunded: 'Refunded',
}

/** What each source reports, in the words of card networks and banks. */
const reports: Readonly<Record<string, string>> = {
  card_authorization: 'Authorized by card',
  card_clearing: 'Cleared by the card network',
  mpp: 'Merchant response',
}

const methods: Readonly<Record<string, string>> = {
  card: 'Card',
  mpp: 'Machine (402)',
  transfer: 'Transfer',
  collect: 'Payment request',
  refund: 'Refund',
  fee: 'Fee',
}

const renderOriginal = (original: NonNullable<Transaction['original']>): Html =>
  html`${formatOriginal(original)}${original.refundedAmount !== null && `, ${formatOriginal({ ...original, amount: original.refundedAmount })} refunded`}`

/** What the network charged, beside what was held for it. */
function renderDifference({ original, amountEuros, status }: Transaction): HtmlContent {
  if (!original || original.heldEuros === null || !['completed', 'refunded'].includes(status)) return false
  const difference = sumEuros([original.heldEuros, -amountEuros])
  if (difference === 0) return 'none'
  return html`${renderEuros(Math.abs(difference))} ${difference > 0 ? 'released' : 'more than held'}`
}

const isIncoming = ({ type }: Pick<Transaction, 'type'>): boolean => type === 'collect'

function stepsOf(transaction: Transaction, request: PageRequest): readonly HistoryStep[] {
  const { witnesses, createdAt, updatedAt, declineReason, refundedEuros } = transaction
  const isWaiting = transaction.status === 'authorization' || transaction.status === 'settlement'
  const seen = witnesses.map(({ type, id, at }) => ({
    what: reports[type] ?? humanize(type),
    at,
    ...(recordAddress(id) !== undefined && { note: renderRecordLink(request, id) }),
  }))
  return [
    { what: 'Created', at: createdAt },
    ...seen,
    {
      what:
        isIncoming(transaction) && transaction.status === 'completed'
          ? 'The money is in the wallet'
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
    { Agent: ({ agentId }, request) => renderSpender(request, agentId) },
    { Method: ({ type }) => methods[type] ?? valueText(type) },
    'createdAt',
  ],
  states: {
    authorization: 'authorized',
    settlement: 'in transit',
    settled: 'booked',
    completed: 'paid',
  },
  summary: summarize,
  earlier: [
    ['Needs approval', 'console/intents?status=created'],
    ['Denied', 'console/intents?status=denied'],
  ],
  guide: 'receipts',
  filters: [
    'merchantContains',
    'minAmountEuros',
    'maxAmountEuros',
    'from',
    'to',
    'agentId',
    'type',
    'walletId',
    'merchant',
    'cardId',
    'intentId',
    'transferId',
    'runId',
  ],
  labels: {
    type: 'Method',
    memo: 'Note',
    refundedEuros: 'Refunded',
    original: 'Original amount',
    merchantContains: 'Merchant contains',
    merchant: 'Merchant is',
  },
  shows: {
    type: ({ type }) => methods[type] ?? valueText(type),
    amountEuros: ({ amountEuros, original }) => renderAmount(amountEuros, original),
    original: ({ original }) => original && renderOriginal(original),
    'Held before the charge': ({ original }) => original !== null && renderEuros(original.heldEuros),
    Difference: transaction => renderDifference(transaction),
  },
  hidden: ['merchant', 'witnesses', 'declineReason', 'createdAt'],
  events: ['transaction.*', 'transfer.*'],
  empty: 'No payments yet. Agents pay on approved intents; you pay by transfer.',
  call: 'agentpay transfers create --help',
  actions: [{ operation: transactionsApi.update, submit: 'Edit note' }],
  boxes: (transaction, request) => renderBox('Steps', renderHistorySteps(stepsOf(transaction, request))),
  below: recordsOf,
})

async function summarize({ status, ...filters }: Filters, { ask }: PageRequest): Promise<ListSummary> {
  const { query } = listQueryFromAddress(transactionsApi.list, filters)
  const all = await ask(transactionsApi.summary, { query })
  // A minimum of all payments may have counted none of the status.
  const listed =
    status === undefined
      ? all
      : all.hasMore
        ? await ask(transactionsApi.summary, { query: { ...query, status } })
        : all.data.find(one => one.status === status)
  const counts = Object.fromEntries(all.data.map(one => [one.status, one.count]))
  return {
    counts: status === undefined ? counts : { ...counts, [status]: listed?.count ?? 0 },
    count: all.count,
    isMinimum: all.hasMore,
    amountEuros: listed?.amountEuros ?? 0,
  }
}

async function recordsOf(transaction: Transaction, request: PageRequest): Promise<Html> {
  const { id, intentId, transferId, cardId, type, status: state } = transaction
  const mayDispute = ['card', 'mpp'].includes(type) && state === 'completed'
  const isLeft = state === 'completed' && transaction.refundedEuros < transaction.amountEuros
  const mayRefund = isLeft && type !== 'refund' && type !== 'fee'
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
  return html`${authorization && html`<p><a href="${address}">Authorization on the card</a> ${renderStatus(authorization.status)}</p>`}${papers}`
}
