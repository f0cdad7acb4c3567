import { authorizationsApi } from '../../../../cards/authorizations/index.ts'
import { type Content, type Html, html } from '../../../../web/html.ts'
import type { ItemOf, PageRequest } from '../../page.ts'
import { recordLink } from '../../parts/links.ts'
import { section } from '../../parts/section.ts'
import { box, presentFacts } from '../../parts/table.ts'
import { euros, status, text, time } from '../../parts/text.ts'
import { rulesTable } from '../decide/checks.ts'

type Authorization = ItemOf<typeof authorizationsApi.list>

/** Authorizations have no page of their own: the page of their card shows them. */
const authorizationLink = ({ id, cardId }: Authorization, { to }: PageRequest, shown: Content): Html =>
  cardId ? html`<a href="${to(`console/cards/${cardId}?authorization=${id}`)}">${shown}</a>` : html`${shown}`

export const authorizations = section({
  kind: 'Authorization',
  lead: 'Card authorization requests, including declined ones.',
  list: authorizationsApi.list,
  columns: [
    { Merchant: (one, request) => authorizationLink(one, request, text(one.merchant, 60)) },
    'amountEuros',
    'heldEuros',
    'clearedEuros',
    'status',
    'declineReason',
    'createdAt',
  ],
  labels: { clearedEuros: 'Cleared', declineReason: 'Reason' },
  shows: { declineReason: ({ declineReason }) => text(declineReason, 160) },
  events: ['transaction.*', 'agent_credential.*'],
})

export const newestAuthorizations = async (cardId: string, request: PageRequest): Promise<Html> =>
  html`${await authorizations.related({ title: 'Authorizations', params: { id: cardId }, empty: 'No authorizations yet.' }, request)}
<p><a href="${request.to(`console/authorizations?id=${cardId}`)}">All authorizations</a></p>`

export async function authorizationDetails(cardId: string, request: PageRequest): Promise<Content> {
  const { authorization: authorizationId } = request.query
  if (authorizationId === undefined) return false
  const params = { id: cardId, authorizationId }
  const [one, explanation] = await Promise.all([
    request.ask(authorizationsApi.get, { params }),
    request.ask(authorizationsApi.explanation, { params }),
  ])
  const json = request.to(`cards/${cardId}/authorizations/${authorizationId}`)
  return box(
    `Authorization: ${one.merchant}`,
    html`<p>${status(one.status)} ${text(explanation.summary, 400)} ${explanation.paidFrom}</p>`,
    presentFacts([
      ['Requested', euros(one.amountEuros)],
      ['Approved', euros(one.approvedEuros)],
      ['Descriptor', text(one.descriptor)],
      ['Intent', recordLink(request, explanation.intentId)],
      ['Payment', recordLink(request, one.transactionId)],
      ['Held until', time(one.expiresAt)],
      ['Date', time(one.createdAt)],
    ]),
    explanation.rules.length > 0 && rulesTable(explanation.rules, request),
    html`<p class="record"><code>${authorizationId}</code> <a href="${json}">JSON</a> <a href="${json}/explanation">Explanation as JSON</a></p>`,
  )
}
