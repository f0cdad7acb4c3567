import { disputesApi } from '../../../../commerce/disputes/index.ts'
import { type Html, html } from '../../../../web/html.ts'
import type { ItemOf, PageRequest } from '../../page.ts'
import { operationForm } from '../../parts/form.ts'
import { recordLink, runLink } from '../../parts/links.ts'
import { listPage } from '../../parts/list.ts'
import { recordPage } from '../../parts/record-page.ts'
import { box, type Columns, knownFacts, table } from '../../parts/table.ts'
import { euros, text, time, words } from '../../parts/text.ts'

const events = ['dispute.*']

type Dispute = ItemOf<typeof disputesApi.list>

const columns: Columns<Dispute> = {
  Merchant: ({ id, merchant }, request) => recordLink(request, id, text(merchant, 60)),
  Disputed: 'amountEuros',
  State: 'status',
  Because: ({ reason }) => words(reason),
  'Evidence until': 'evidenceDueAt',
  Since: 'createdAt',
}

export const disputesPage = listPage({
  title: 'Disputes',
  lead: 'Payments by card that were not right, and what the card network says.',
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
    data.length > 0 ? table(request, 'Disputes of the payment', data, columns) : html`<p>None.</p>`,
    mayBegin &&
      !isOver &&
      operationForm(request, disputesApi.create, {
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
      }),
  )
}

export const disputePage = recordPage({
  kind: 'Dispute',
  operation: disputesApi.get,
  events,
  name: ({ amountEuros, merchant }) => html`${euros(amountEuros)} of ${text(merchant, 80)}`,
  title: ({ merchant }) => `Dispute: ${merchant}`,
  async body(dispute, request) {
    const { id, resolvedAt, status: state, workflowId } = dispute
    const params = { id }
    const { data } = await request.ask(disputesApi.timeline, { params, query: { limit: 100 } })
    return html`<div class="actions">${state === 'open' && operationForm(request, disputesApi.submit, { params, submit: 'Submit to the card network', confirm: 'Submit the dispute with the evidence as it is? Nothing can be added afterwards.', tone: 'main' })}
${resolvedAt === null && operationForm(request, disputesApi.withdraw, { params, submit: 'Withdraw', confirm: 'Withdraw the dispute? What was given back provisionally is taken back.', tone: 'against' })}
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
