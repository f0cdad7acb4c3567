import { disputesApi } from '../../../../commerce/disputes/index.ts'
import { type Html, html } from '../../../../web/html.ts'
import type { PageRequest } from '../../page.ts'
import { operationForm } from '../../parts/form.ts'
import { recordLink } from '../../parts/links.ts'
import { listPage } from '../../parts/list.ts'
import { recordPage } from '../../parts/record-page.ts'
import { runLink } from '../../parts/run-link.ts'
import { box, type Column, knownFacts, table } from '../../parts/table.ts'
import { euros, status, text, time, words } from '../../parts/text.ts'

const events = ['dispute.*']

interface Dispute {
  readonly id: string
  readonly merchant: string
  readonly reason: string
  readonly status: string
  readonly amountEuros: number
  readonly evidenceDueAt: string | null
  readonly createdAt: string
}

const columns: readonly Column<Dispute>[] = [
  { name: 'Merchant', of: ({ id, merchant }, request) => recordLink(request, id, text(merchant, 60)) },
  { name: 'Disputed', isFigure: true, of: ({ amountEuros }) => euros(amountEuros) },
  { name: 'State', of: dispute => status(dispute.status) },
  { name: 'Because', of: ({ reason }) => words(reason) },
  { name: 'Evidence until', of: ({ evidenceDueAt }) => time(evidenceDueAt) },
  { name: 'Since', of: ({ createdAt }) => time(createdAt) },
]

export const disputesPage = listPage({
  title: 'Disputes',
  lead: 'Payments by card that were not right, and what the card network says.',
  section: 'disputes',
  operation: disputesApi.list,
  filters: ['status', 'agentId', 'transactionId', 'cardId', 'from', 'to'],
  events,
  empty: {
    words: 'No dispute. One begins on the page of a completed payment by card, or by a call.',
    command: 'agentpay disputes create --help',
  },
  columns,
})

/** The disputes about a payment, and the form that begins one where it may be disputed. */
export async function disputesOf(id: string, mayBegin: boolean, request: PageRequest): Promise<Html> {
  const { ask, may } = request
  if (!may(disputesApi.list)) return html``
  const { data } = await ask(disputesApi.list, { query: { transactionId: id, limit: 10 } })
  // What is under way or decided is not disputed again.
  const isOver = data.some(one => !['withdrawn', 'lapsed'].includes(one.status))
  if (data.length === 0 && !mayBegin) return html``
  return box(
    'Disputes',
    data.length > 0 ? table(columns, data, request, 'Disputes of the payment') : html`<p>None.</p>`,
    mayBegin &&
      !isOver &&
      operationForm(
        disputesApi.create,
        {
          given: { transactionId: id },
          members: ['reason', 'amountEuros', 'description'],
          labels: {
            amountEuros: 'Amount in euros (all that is left, if left out)',
            description: 'What has happened',
          },
          submit: 'Dispute the payment',
          tone: 'against',
          done: 'go:console/disputes/{id}',
          fold: true,
        },
        request,
      ),
  )
}

export const disputePage = recordPage({
  section: 'disputes',
  list: 'Disputes',
  kind: 'Dispute',
  operation: disputesApi.get,
  command: 'disputes get',
  events,
  name: ({ amountEuros, merchant }) => html`${euros(amountEuros)} of ${text(merchant, 80)}`,
  title: ({ merchant }) => `Dispute: ${merchant}`,
  state: dispute => dispute.status,
  async body(dispute, request) {
    const { id, resolvedAt, status: state, workflowId } = dispute
    const params = { id }
    const { data } = await request.ask(disputesApi.timeline, { params, query: { limit: 100 } })
    return html`<div class="actions">${state === 'open' && operationForm(disputesApi.submit, { params, submit: 'Submit to the card network', confirm: 'Submit the dispute with the evidence as it is? Nothing can be added afterwards.', tone: 'main' }, request)}
${resolvedAt === null && operationForm(disputesApi.withdraw, { params, submit: 'Withdraw', confirm: 'Withdraw the dispute? What was given back provisionally is taken back.', tone: 'against' }, request)}
<a class="button" href="${request.to(`disputes/${id}/bundle`)}" download>All evidence as PDF</a></div>
${box(
  'Dispute',
  knownFacts([
    ['Payment', recordLink(request, dispute.transactionId)],
    ['Card', recordLink(request, dispute.cardId)],
    ['Agent', recordLink(request, dispute.agentId)],
    ['Because', words(dispute.reason)],
    ['What has happened', text(dispute.description, 2_000)],
    ['Refunded meanwhile', euros(dispute.refundedEuros)],
    ['Given back so far', euros(dispute.creditedEuros)],
    ['Evidence', `${dispute.evidenceIds.length} ${dispute.evidenceIds.length === 1 ? 'piece' : 'pieces'}`],
    ['Evidence until', time(dispute.evidenceDueAt)],
    ['Submitted', time(dispute.submittedAt)],
    ['The processor', text(dispute.processorProblem, 300)],
    ['The operator has found', text(dispute.finding?.reasons, 2_000)],
    ['How it ended', text(dispute.resolution, 400)],
    ['Ended', time(resolvedAt)],
    ['Run in Temporal', runLink(request, workflowId)],
  ]),
)}${box(
  'What has happened',
  html`<ol class="steps">${data.map(({ event, at }) => html`<li><strong>${event}</strong> ${time(at)}</li>`)}</ol>`,
)}`
  },
})
