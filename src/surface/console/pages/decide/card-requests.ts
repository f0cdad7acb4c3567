import { cardRequestsApi } from '../../../../cards/card-requests/index.ts'
import { html } from '../../../../web/html.ts'
import type { AnswerOf, PageRequest } from '../../page.ts'
import { operationForm } from '../../parts/form.ts'
import { recordLink, runLink } from '../../parts/links.ts'
import { listPage } from '../../parts/list.ts'
import { recordPage } from '../../parts/record-page.ts'
import { box, facts } from '../../parts/table.ts'
import { none, text, time, words } from '../../parts/text.ts'
import { answerCardRequest, known, limitFacts } from './decision-forms.ts'

type CardRequest = AnswerOf<typeof cardRequestsApi.get>

export const cardRequestsPage = listPage({
  title: 'Card requests',
  lead: 'Cards, and other limits of cards, that agents have asked for. Each waits 72 hours for an answer.',
  operation: cardRequestsApi.list,
  filters: ['status', 'type', 'agentId', 'cardId', 'from', 'to'],
  labels: { cardId: 'Card' },
  names: ['agents'],
  events: ['card_limit_request.updated'],
  empty: {
    words: 'No agent has asked for a card.',
    command:
      'agentpay card-requests create --type new_card --agent-id agent_… --usage multi --reason "Papers for the review"',
  },
  columns: {
    'Asked for': ({ id, type }, request) => recordLink(request, id, words(type)),
    State: 'status',
    Agent: 'agentId',
    Card: 'cardId',
    Why: 'reason',
    'Answered by': ({ answeredBy }) => (answeredBy ? text(answeredBy.name ?? answeredBy.type, 60) : none),
    Asked: 'createdAt',
  },
})

export const cardRequestPage = recordPage({
  kind: 'Card request',
  operation: cardRequestsApi.get,
  events: ['card_limit_request.updated', 'card.created'],
  name: ({ type }) => (type === 'new_card' ? 'A new card' : 'Other limits of a card'),
  title: () => 'Card request',
  body: shown,
})

function shown(asked: CardRequest, request: PageRequest) {
  const { id, answeredBy, answeredAt, approvedLimits } = asked
  const isOpen = asked.status === 'pending'
  return html`<p class="why">${text(asked.reason, 1_000)}</p>
${isOpen && html`<div class="actions">${answerCardRequest(asked, request, 'reload')}${operationForm(request, cardRequestsApi.cancel, { params: { id }, members: ['comment'], submit: 'Cancel', tone: 'against', fold: true })}</div>`}
<div class="boxes">
${box('Asked for', facts(limitFacts(asked.limits)))}
${approvedLimits !== null && box('Approved', facts(limitFacts(approvedLimits)))}
${box(
  'The request',
  facts([
    ['Agent', recordLink(request, asked.agentId)],
    ...known('Card', asked.cardId, () => recordLink(request, asked.cardId)),
    ...known('Called', asked.displayName, () => text(asked.displayName, 80)),
    ...known('Use', asked.usage, () => html`${words(asked.usage ?? '')}`),
    ['Asked', time(asked.createdAt)],
    ['Waits until', time(asked.expiresAt)],
    ...known(
      'Answered',
      answeredAt,
      () => html`${time(answeredAt)} by ${text(answeredBy?.name ?? answeredBy?.type, 60)}`,
    ),
    ...known('Said', asked.comment, () => text(asked.comment, 500)),
    ...known('Failed because', asked.failureReason, () => text(asked.failureReason, 300)),
    ['Process', runLink(request, asked.workflowId)],
  ]),
)}
</div>`
}
