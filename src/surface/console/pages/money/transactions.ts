import { authorizationsApi } from '../../../../cards/authorizations/index.ts'
import { transactionsApi } from '../../../../money/transactions/index.ts'
import { type Content, html } from '../../../../web/html.ts'
import type { AnswerOf, PageRequest } from '../../page.ts'
import { operationForm } from '../../parts/form.ts'
import { recordLink } from '../../parts/links.ts'
import { listPage } from '../../parts/list.ts'
import { readNames } from '../../parts/names.ts'
import { recordPage } from '../../parts/record-page.ts'
import { box, knownFacts } from '../../parts/table.ts'
import { euros, status, text, words } from '../../parts/text.ts'
import { bookedFor, type Step, steps } from './booked.ts'
import { disputesOf } from './disputes.ts'
import { receiptsOf } from './receipts.ts'
import { refundsOf } from './refunds.ts'

const events = ['transaction.*']

export const transactionsPage = listPage({
  title: 'Payments',
  lead: 'What has been paid to others, by whatever means, and what came to nothing.',
  operation: transactionsApi.list,
  filters: ['merchant', 'status', 'type', 'agentId', 'cardId', 'walletId', 'intentId', 'from', 'to'],
  events,
  empty: {
    words: 'Nothing has been paid yet. An agent pays on an approved intent; you pay by a transfer.',
    command: 'agentpay transfers create --help',
  },
  names: ['agents'],
  columns: {
    'To, or for': ({ id, merchant }, request) => recordLink(request, id, text(merchant, 60)),
    Amount: 'amountEuros',
    State: 'status',
    By: ({ type }) => words(type),
    Agent: ({ agentId }, request) => (agentId ? recordLink(request, agentId) : 'You'),
    When: 'createdAt',
  },
})

type Transaction = AnswerOf<typeof transactionsApi.get>

const ends: Readonly<Record<string, Content>> = {
  authorization: 'Booking',
  settlement: 'Settlement between the banks',
  settled: 'Booked',
  completed: 'Done: the payee has the money',
  declined: 'Came to nothing; the money is free again',
  refunded: 'Came back',
}

/** Money that somebody has paid to the owner, on a request. */
const comesIn = ({ type }: Pick<Transaction, 'type'>): boolean => type === 'collect'

function stepsOf(transaction: Transaction, request: PageRequest): readonly Step[] {
  const { witnesses, createdAt, updatedAt, declineReason, refundedEuros } = transaction
  const isWaiting = transaction.status === 'authorization' || transaction.status === 'settlement'
  const seen = witnesses.map(({ type, id, at }) => ({
    what: `Witness: ${words(type)}`,
    at,
    note: recordLink(request, id),
  }))
  return [
    { what: 'Begun', at: createdAt },
    ...seen,
    {
      what:
        comesIn(transaction) && transaction.status === 'completed'
          ? 'Done: the money is in the wallet'
          : (ends[transaction.status] ?? words(transaction.status)),
      at: isWaiting ? null : updatedAt,
      ...(declineReason && { note: text(declineReason, 400) }),
      ...(refundedEuros > 0 && { note: html`${euros(refundedEuros)} came back` }),
    },
  ]
}

/** The authorization of a payment by card, where the network has asked for it. */
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

export const transactionPage = recordPage({
  kind: 'Payment',
  operation: transactionsApi.get,
  events,
  about: ({ intentId, transferId }) => [intentId, transferId],
  name: ({ amountEuros, merchant, type }) =>
    html`${euros(amountEuros)} ${comesIn({ type }) ? 'for' : 'to'} ${text(merchant, 80)}`,
  title: ({ merchant }) => `Payment: ${merchant}`,
  async body(transaction, request) {
    const { id, agentId, walletId, cardId, intentId, transferId, runId, mcc, country, memo } = transaction
    const [authorization] = await Promise.all([
      authorizationOf(transaction, request),
      readNames(request, 'agents', 'wallets'),
    ])
    const isIncome = comesIn(transaction)
    const witnesses = isIncome ? transaction.witnesses.map(witness => witness.id) : []
    const causes = [id, intentId, transferId, authorization?.id ?? null, ...witnesses]
    const mayDispute = ['card', 'mpp'].includes(transaction.type) && transaction.status === 'completed'
    const mayRefund =
      transaction.status === 'completed' && transaction.refundedEuros < transaction.amountEuros
    const [booked, refunds, disputes, receipts] = await Promise.all([
      bookedFor(causes, request),
      refundsOf(id, mayRefund, request),
      disputesOf(id, mayDispute, request),
      receiptsOf(id, request),
    ])
    const { to } = request
    return html`<div class="boxes">${box(
      'Payment',
      knownFacts([
        ['Agent', agentId ? recordLink(request, agentId) : 'None: it is yours'],
        [isIncome ? 'Into' : 'From', recordLink(request, walletId)],
        ['Intent', recordLink(request, intentId)],
        ['Transfer', recordLink(request, transferId)],
        ['Card', recordLink(request, cardId)],
        [
          'Authorization',
          authorization && cardId
            ? html`<a href="${to(`console/cards/${cardId}?authorization=${authorization.id}`)}">${status(authorization.status)} and why</a>`
            : recordLink(request, null),
        ],
        ['Run', recordLink(request, runId)],
        ['Came back', euros(transaction.refundedEuros)],
        ['Category', text(mcc)],
        ['Country', text(country)],
        ['Note', text(memo, 400)],
      ]),
      operationForm(request, transactionsApi.update, {
        params: { id },
        members: ['memo'],
        labels: { memo: 'Note' },
        values: { memo },
        submit: 'Write a note',
        fold: true,
      }),
    )}${box('Steps', steps(stepsOf(transaction, request)))}</div>
${receipts}${refunds}${disputes}${booked}`
  },
})
