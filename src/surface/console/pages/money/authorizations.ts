import { authorizationsApi } from '../../../../cards/authorizations/index.ts'
import { type Content, type Html, html } from '../../../../web/html.ts'
import type { AnswerOf, ItemOf, PageRequest } from '../../page.ts'
import { recordLink } from '../../parts/links.ts'
import { listPage } from '../../parts/list.ts'
import { box, type Columns, knownFacts, table } from '../../parts/table.ts'
import { euros, label, status, text, time } from '../../parts/text.ts'

type Authorization = ItemOf<typeof authorizationsApi.list>

/** An authorization is shown on the page of its card. */
const why = ({ id, cardId }: Authorization, { to }: PageRequest, shown: Content): Html =>
  cardId ? html`<a href="${to(`console/cards/${cardId}?authorization=${id}`)}">${shown}</a>` : html`${shown}`

const columns: Columns<Authorization> = {
  Merchant: (one, request) => why(one, request, text(one.merchant, 60)),
  Asked: 'amountEuros',
  Held: 'heldEuros',
  Collected: 'clearedEuros',
  State: 'status',
  Why: ({ declineReason }) => text(declineReason, 160),
  When: 'createdAt',
}

/** What the network has asked of a card: the address names the card. */
export const authorizationsPage = listPage({
  title: 'Authorizations',
  lead: 'Every payment of a card that the network has asked for or told of, declined ones too.',
  operation: authorizationsApi.list,
  filters: ['status', 'merchant', 'intentId', 'from', 'to'],
  events: ['transaction.*', 'agent_credential.*'],
  empty: { words: 'Nobody has asked this card for money yet.' },
  columns,
})

export async function newestAuthorizations(cardId: string, request: PageRequest): Promise<Html> {
  const { data } = await request.ask(authorizationsApi.list, { params: { id: cardId }, query: { limit: 10 } })
  if (data.length === 0) return box('Authorizations', html`<p>Nobody has asked this card for money yet.</p>`)
  return box(
    'Authorizations',
    table(request, 'The newest authorizations', data, columns),
    html`<p><a href="${request.to(`console/authorizations?id=${cardId}`)}">All authorizations</a></p>`,
  )
}

type Rule = AnswerOf<typeof authorizationsApi.explanation>['rules'][number]

const outcomes: Readonly<Record<string, string>> = {
  pass: 'yes',
  fail: 'no',
  review: 'asks a person',
  skip: 'not asked',
}

/** The authorization that the address names, rule by rule. */
export async function explained(cardId: string, request: PageRequest): Promise<Content> {
  const { authorization: authorizationId } = request.query
  if (authorizationId === undefined) return false
  const params = { id: cardId, authorizationId }
  const [one, explanation] = await Promise.all([
    request.ask(authorizationsApi.get, { params }),
    request.ask(authorizationsApi.explanation, { params }),
  ])
  const json = request.to(`cards/${cardId}/authorizations/${authorizationId}`)
  return box(
    `Authorization of ${one.merchant}`,
    html`<p>${status(one.status)} ${text(explanation.summary, 400)} ${explanation.paidFrom}</p>`,
    knownFacts([
      ['Asked', euros(one.amountEuros)],
      ['Approved', euros(one.approvedEuros)],
      ['As the network writes it', text(one.descriptor)],
      ['Intent', recordLink(request, explanation.intentId)],
      ['Payment', recordLink(request, one.transactionId)],
      ['Held until', time(one.expiresAt)],
      ['When', time(one.createdAt)],
    ]),
    explanation.rules.length > 0 && rulesOf(explanation.rules, request),
    html`<p class="record"><code>${authorizationId}</code> <a href="${json}">JSON</a> <a href="${json}/explanation">Explanation as JSON</a></p>`,
  )
}

/** What the rules say: first those that are against it, or ask a person; those that have nothing to say are folded. */
function rulesOf(rules: readonly Rule[], request: PageRequest): Html {
  const isSilent = ({ outcome }: Rule): boolean => outcome === 'skip'
  const order = ['fail', 'review', 'pass']
  const said = rules
    .filter(rule => !isSilent(rule))
    .toSorted((one, other) => order.indexOf(one.outcome) - order.indexOf(other.outcome))
  const silent = rules.filter(isSilent)
  return html`${rulesTable(said, request)}${
    silent.length > 0 &&
    html`<details class="fold"><summary>${silent.length} rules that do not apply</summary>${rulesTable(silent, request)}</details>`
  }`
}

const rulesTable = (rules: readonly Rule[], request: PageRequest): Html =>
  table(request, 'What each rule says', rules, {
    Rule: ({ rule }) => label(rule),
    Says: ({ outcome }) =>
      html`<span class="status ${tones[outcome] ?? 'plain'}">${outcomes[outcome] ?? outcome}</span>`,
    Why: ({ message }) => text(message, 400),
    'What would help': ({ remedy }) => text(remedy, 400),
  })

const tones: Readonly<Record<string, string>> = { pass: 'good', fail: 'bad', review: 'waiting' }
