import { authorizationsApi } from '../../../../cards/authorizations/index.ts'
import { type Html, type HtmlContent, html } from '../../../../web/html.ts'
import type { ListItemOf, PageRequest } from '../../page.ts'
import { renderRecordLink } from '../../parts/links.ts'
import { consoleSection } from '../../parts/section.ts'
import { renderBox, renderPresentFacts } from '../../parts/table.ts'
import { renderAmount, renderEuros, renderStatus, renderText, renderTime } from '../../parts/text.ts'
import { renderRulesTable } from '../decide/checks.ts'

type Authorization = ListItemOf<typeof authorizationsApi.list>

/** Authorizations have no page of their own: the page of their card shows them. */
const authorizationLink = ({ id, cardId }: Authorization, { to }: PageRequest, shown: HtmlContent): Html =>
  cardId ? html`<a href="${to(`console/cards/${cardId}?authorization=${id}`)}">${shown}</a>` : html`${shown}`

export const authorizationsSection = consoleSection({
  kind: 'Authorization',
  lead: 'Card authorization requests, including declined ones.',
  list: authorizationsApi.list,
  columns: [
    { Merchant: (one, request) => authorizationLink(one, request, renderText(one.merchant, 60)) },
    'amountEuros',
    'heldEuros',
    'clearedEuros',
    'status',
    'declineReason',
    'createdAt',
  ],
  labels: { clearedEuros: 'Cleared', declineReason: 'Reason' },
  shows: {
    declineReason: ({ declineReason }) => renderText(declineReason, 160),
    amountEuros: ({ amountEuros, original }) => renderAmount(amountEuros, original),
  },
  events: ['transaction.*', 'agent_credential.*'],
})

export const renderNewestAuthorizations = async (cardId: string, request: PageRequest): Promise<Html> =>
  html`${await authorizationsSection.related({ title: 'Authorizations', params: { id: cardId }, empty: 'No authorizations yet.' }, request)}
<p><a href="${request.to(`console/authorizations?id=${cardId}`)}">All authorizations</a></p>`

export async function renderAuthorizationDetails(cardId: string, request: PageRequest): Promise<HtmlContent> {
  const { authorization: authorizationId } = request.query
  if (authorizationId === undefined) return false
  const params = { id: cardId, authorizationId }
  const [one, explanation] = await Promise.all([
    request.ask(authorizationsApi.get, { params }),
    request.ask(authorizationsApi.explanation, { params }),
  ])
  const json = request.to(`cards/${cardId}/authorizations/${authorizationId}`)
  return renderBox(
    `Authorization: ${one.merchant}`,
    html`<p>${renderStatus(one.status)} ${renderText(explanation.summary, 400)} ${explanation.paidFrom}</p>`,
    renderPresentFacts([
      ['Requested', renderAmount(one.amountEuros, one.original)],
      ['Approved', renderEuros(one.approvedEuros)],
      ['Descriptor', renderText(one.descriptor)],
      ['Intent', renderRecordLink(request, explanation.intentId)],
      ['Payment', renderRecordLink(request, one.transactionId)],
      ['Held until', renderTime(one.expiresAt)],
      ['Date', renderTime(one.createdAt)],
    ]),
    explanation.rules.length > 0 && renderRulesTable(explanation.rules, request),
    html`<p class="record"><code>${authorizationId}</code> <a href="${json}">JSON</a> <a href="${json}/explanation">Explanation as JSON</a></p>`,
  )
}
