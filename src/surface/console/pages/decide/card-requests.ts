import { cardRequestsApi } from '../../../../cards/card-requests/index.ts'
import { html } from '../../../../web/html.ts'
import { readNamesInRows } from '../../parts/names.ts'
import { consoleSection } from '../../parts/section.ts'
import { noneText, renderText, renderTime } from '../../parts/text.ts'
import { peopleOfApproval, renderApprovalSteps } from './approval-steps.ts'
import { renderCardRequestForm } from './decision-forms.ts'

export const cardRequestsSection = consoleSection({
  kind: 'Card request',
  lead: 'New cards and limit changes that agents have requested. Each request expires after 72 hours.',
  list: cardRequestsApi.list,
  get: cardRequestsApi.get,
  name: ({ type }) => (type === 'new_card' ? 'New card' : 'Limit change'),
  columns: [
    'status',
    'agentId',
    'cardId',
    'reason',
    {
      'Answered by': ({ answeredBy }) =>
        answeredBy ? renderText(answeredBy.name ?? answeredBy.type, 60) : noneText,
    },
    'createdAt',
  ],
  labels: { limits: 'Requested', approvedLimits: 'Approved', expiresAt: 'Expires' },
  shows: {
    answeredAt: ({ answeredAt, answeredBy }) =>
      answeredAt !== null &&
      html`${renderTime(answeredAt)} by ${renderText(answeredBy?.name ?? answeredBy?.type, 60)}`,
  },
  hidden: ['type', 'reason', 'answeredBy', 'approval'],
  events: ['card_limit_request.*', 'card.created'],
  call: 'agentpay card-requests create --type new_card --agent-id agent_… --usage multi --reason "Papers for the review"',
  async note(asked, request) {
    await readNamesInRows(peopleOfApproval(asked), request)
    return html`<p class="why">${renderText(asked.reason, 1_000)}</p>${renderApprovalSteps(asked, request)}${asked.status === 'pending' && renderCardRequestForm(asked, request, 'reload')}`
  },
  actions: [
    {
      operation: cardRequestsApi.cancel,
      when: ({ status }) => status === 'pending',
      members: ['comment'],
      tone: 'against',
    },
  ],
})
