import { cardRequestsApi } from '../../../../cards/card-requests/index.ts'
import { html } from '../../../../web/html.ts'
import type { AnswerOf, Page, PageRequest } from '../../page.ts'
import { operationForm } from '../../parts/form.ts'
import { recordLink } from '../../parts/links.ts'
import { listPage } from '../../parts/list.ts'
import { choicesOf, readNames, withNames } from '../../parts/names.ts'
import { backTo, recordHead } from '../../parts/record.ts'
import { runLink } from '../../parts/run-link.ts'
import { box, facts } from '../../parts/table.ts'
import { none, status, text, time, words } from '../../parts/text.ts'
import { answerCardRequest, limitFacts } from './ask-others.ts'
import { known } from './known.ts'

type CardRequest = AnswerOf<typeof cardRequestsApi.get>

export const cardRequestsPage = listPage({
  title: 'Card requests',
  lead: 'Cards, and other limits of cards, that agents have asked for. Each waits 72 hours for an answer.',
  section: 'card-requests',
  operation: cardRequestsApi.list,
  filters: ['status', 'type', 'agentId', 'cardId', 'from', 'to'],
  labels: { agentId: 'Agent', cardId: 'Card' },
  choices: async request => ({ agentId: await choicesOf('agents', request) }),
  prepare: withNames('agents'),
  events: ['card_limit_request.updated'],
  empty: {
    words: 'No agent has asked for a card.',
    command:
      'agentpay card-requests create --type new_card --agent-id agent_… --usage multi --reason "Papers for the review"',
  },
  columns: [
    { name: 'Asked for', of: ({ id, type }, request) => recordLink(request, id, words(type)) },
    { name: 'State', of: asked => status(asked.status) },
    { name: 'Agent', of: ({ agentId }, request) => recordLink(request, agentId) },
    { name: 'Card', of: ({ cardId }, request) => recordLink(request, cardId) },
    { name: 'Why', of: ({ reason }) => text(reason, 80) },
    {
      name: 'Answered by',
      of: ({ answeredBy }) => (answeredBy ? text(answeredBy.name ?? answeredBy.type, 60) : none),
    },
    { name: 'Asked', of: ({ createdAt }) => time(createdAt) },
  ],
})

export const cardRequestPage: Page = async request => {
  const { ask, id } = request
  const [asked] = await Promise.all([
    ask(cardRequestsApi.get, { params: { id } }),
    readNames(request, 'agents'),
  ])
  const content = await request.part({
    id: 'request',
    events: ['card_limit_request.updated', 'card.created'],
    about: id,
    make: () => shown(asked, request),
  })
  return {
    title: 'Card request',
    content: html`${backTo(request, 'card-requests', 'Card requests')}${content}`,
  }
}

function shown(asked: CardRequest, request: PageRequest) {
  const { id, answeredBy, answeredAt, approvedLimits } = asked
  const isOpen = asked.status === 'pending'
  return html`${recordHead({ name: asked.type === 'new_card' ? 'A new card' : 'Other limits of a card', kind: 'Card request', state: asked.status, operation: cardRequestsApi.get, command: 'card-requests get' }, request)}
<p class="why">${text(asked.reason, 1_000)}</p>
${isOpen && html`<div class="actions">${answerCardRequest(asked, request, 'reload')}${operationForm(cardRequestsApi.cancel, { params: { id }, members: ['comment'], submit: 'Cancel', tone: 'against', fold: true }, request)}</div>`}
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
