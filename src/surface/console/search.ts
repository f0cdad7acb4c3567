import { auditApi } from '../../compliance/audit/index.ts'
import { agentsApi } from '../../control/agents/index.ts'
import { intentsApi } from '../../control/intents/index.ts'
import { merchantsApi } from '../../insight/merchants/index.ts'
import { transactionsApi } from '../../money/transactions/index.ts'
import { type Html, type HtmlContent, html } from '../../web/html.ts'
import { canvasApi } from '../canvas/index.ts'
import { pagesFor } from './navigation.ts'
import type { ConsolePage, ConsoleSection, ListItemOf, PageRequest } from './page.ts'
import { recordAddress } from './parts/links.ts'
import { preloadRecordNames } from './parts/names.ts'
import { humanize, renderEuros, renderStatus, renderText, renderTime } from './parts/text.ts'
import { actionsMatching, formAddress } from './search-actions.ts'

const ID = /^[\w.:@/-]{6,128}$/
const MOST = 100
const SHOWN = 8

/**
 * Finds records, pages and actions. An id leads to its page, a request id to its changes. The palette shows
 * the part `found` of this page.
 */
const searchPage: ConsolePage = async request => {
  const wanted = (request.query.q ?? '').trim().slice(0, 200).toWellFormed()
  const onward = ID.test(wanted) ? await addressOfId(wanted, request) : undefined
  const found = await request.part({
    id: 'found',
    events: [],
    make: () => (onward === undefined ? everythingOn(wanted, request) : opened(wanted, onward, request)),
  })
  return {
    title: wanted === '' ? 'Search' : `Search: ${wanted}`,
    ...(onward !== undefined && { onward }),
    content: html`<h1>Search</h1>
<form class="search" role="search"><label class="unseen" for="search">Search</label><input id="search" type="search" name="q" value="${wanted}" maxlength="200" placeholder="A name, an ID, a page, an action"> <button type="submit" class="main">Search</button></form>
${found}`,
  }
}

const opened = (id: string, address: string, { to }: PageRequest): Html =>
  group('Open', [item(to(address), renderText(id, 80))])

async function addressOfId(id: string, { ask }: PageRequest): Promise<string | undefined> {
  const address = recordAddress(id)
  if (address !== undefined) return address
  const [ofRequest, ofRecord] = await Promise.all([
    ask(auditApi.list, { query: { requestId: id, limit: 1 } }),
    ask(auditApi.list, { query: { resource: id, limit: 1 } }),
  ])
  if (ofRequest.data.length > 0) return `console/causes/${encodeURIComponent(id)}`
  return ofRecord.data.length > 0 ? `console/audit?${new URLSearchParams({ resource: id })}` : undefined
}

const item = (to: string, label: HtmlContent, note?: HtmlContent): Html =>
  html`<li><a href="${to}"><span>${label}</span>${note !== undefined && html` <small>${note}</small>`}</a></li>`

const group = (title: string, items: readonly Html[]): Html =>
  html`<section><h2>${title}</h2><ul class="found">${items}</ul></section>`

/** True for a text that has a word beginning with each word of the question. */
const matcherOf = (wanted: string) => {
  const words = wanted.toLowerCase().split(/\s+/)
  return (text: string): boolean => {
    const among = text.toLowerCase().split(/\W+/)
    return words.every(word => among.some(one => one.startsWith(word)))
  }
}

async function everythingOn(wanted: string, request: PageRequest): Promise<Html> {
  const matches = matcherOf(wanted)
  const pages = pagesFor(request).filter(({ label, place }) => matches(`${label} ${place}`))
  const records = wanted === '' ? [] : await recordsOn(wanted, request)
  const actions = actionsMatching(matches, request).map(({ label, section, operation }) =>
    item(`${request.to(`console/${section}`)}${formAddress(operation)}`, label),
  )
  const groups = [
    ...records,
    actions.length > 0 && group('Actions', actions),
    pages.length > 0 &&
      group(
        'Pages',
        pages.map(({ to, label, place }) => item(to, label, place)),
      ),
  ].filter(one => one !== false)
  const isEmpty = groups.length === 0
  return html`${isEmpty && html`<p class="empty">No results. IDs must match exactly.</p>`}${groups}${wanted !== '' && askItem(wanted, request)}`
}

const askItem = (wanted: string, { may, to }: PageRequest): HtmlContent =>
  may(canvasApi.list) &&
  group('Ask', [
    html`<li><a href="${to('console/ask')}?message=${encodeURIComponent(wanted)}" data-ask-about="${wanted}"><span>Ask: ${renderText(wanted, 80)}</span></a></li>`,
  ])

const recordsOn = async (wanted: string, request: PageRequest): Promise<readonly Html[]> => {
  const found = await Promise.all([
    agentsNamed(wanted, request),
    paymentsAbout(wanted, request),
    intentsAbout(wanted, request),
    merchantNamed(wanted, request),
  ])
  return found.flat()
}

const VERBS = /^(freeze|unfreeze)\s+/i

async function agentsNamed(wanted: string, request: PageRequest): Promise<readonly Html[]> {
  const verb = VERBS.exec(wanted)?.[1]?.toLowerCase()
  const name = wanted.replace(VERBS, '')
  const [byName, byOwnId] = await Promise.all([
    request.ask(agentsApi.list, { query: { name, limit: SHOWN } }),
    request.ask(agentsApi.list, { query: { externalId: name, limit: 1 } }),
  ])
  const agents = [...new Map([...byOwnId.data, ...byName.data].map(agent => [agent.id, agent])).values()]
  if (agents.length === 0) return []
  const changes = agents.flatMap(agent => freezingOf(agent, request))
  const lists = [
    group(
      'Agents',
      agents.map(({ id, name: called, status }) =>
        item(request.to(`console/agents/${id}`), renderText(called, 80), renderStatus(status)),
      ),
    ),
    ...(changes.length > 0 ? [group('Change agents', changes)] : []),
  ]
  return verb === undefined ? lists : lists.toReversed()
}

function freezingOf(
  { id, name, status, frozenByAlertId }: ListItemOf<typeof agentsApi.list>,
  request: PageRequest,
): Html[] {
  const operation = status === 'frozen' ? agentsApi.unfreeze : agentsApi.freeze
  if (!request.may(operation) || !['active', 'frozen'].includes(status)) return []
  if (frozenByAlertId !== null) return []
  const verb = status === 'frozen' ? 'Unfreeze' : 'Freeze'
  return [
    item(
      `${request.to(`console/agents/${id}`)}${formAddress(operation)}`,
      html`${verb} ${renderText(name, 80)}`,
    ),
  ]
}

const AMOUNT = /^€?\s*(\d{1,9})(?:[.,](\d{1,2}))?\s*€?$/

/** Payments of exactly this amount, or whose merchant's name contains the text. */
async function paymentsAbout(wanted: string, { ask, to }: PageRequest): Promise<readonly Html[]> {
  const [, euros, cents = ''] = AMOUNT.exec(wanted) ?? []
  const amount = euros && `${euros}.${cents.padEnd(2, '0')}`
  const filter = amount ? { minAmountEuros: amount, maxAmountEuros: amount } : { merchantContains: wanted }
  const { data, hasMore } = await ask(transactionsApi.list, { query: { ...filter, limit: SHOWN } })
  if (data.length === 0) return []
  const items = data.map(({ id, merchant, amountEuros, status, createdAt }) =>
    item(
      to(`console/transactions/${id}`),
      html`${renderEuros(amountEuros)} to ${renderText(merchant, 60)}`,
      html`${renderStatus(status)} ${renderTime(createdAt)}`,
    ),
  )
  const all = `console/transactions?${new URLSearchParams(filter)}`
  return [group('Payments', hasMore ? [...items, item(to(all), 'All of them')] : items)]
}

async function intentsAbout(wanted: string, request: PageRequest): Promise<readonly Html[]> {
  const { ask, to } = request
  const [toMerchant, ofOwnId, newest] = await Promise.all([
    ask(intentsApi.list, { query: { merchant: wanted, limit: SHOWN } }),
    ask(intentsApi.list, { query: { clientIntentId: wanted, limit: SHOWN } }),
    ask(intentsApi.list, { query: { limit: MOST } }),
    preloadRecordNames(request, 'agents'),
  ])
  const word = wanted.toLowerCase()
  const mention = newest.data.filter(({ merchant, purpose, amountEuros }) =>
    `${merchant} ${purpose} ${amountEuros.toFixed(2)}`.toLowerCase().includes(word),
  )
  const intents = new Map([...ofOwnId.data, ...toMerchant.data, ...mention].map(one => [one.id, one]))
  if (intents.size === 0) return []
  const items = [...intents.values()]
    .slice(0, SHOWN)
    .map(({ id, merchant, amountEuros, status, purpose }) =>
      item(
        to(`console/intents/${id}`),
        html`${renderEuros(amountEuros)} to ${renderText(merchant, 60)}`,
        html`${renderStatus(status)} ${renderText(purpose, 60)}`,
      ),
    )
  const all = `console/intents?${new URLSearchParams({ merchant: wanted })}`
  const more = toMerchant.data.length > 0 ? [item(to(all), 'All intents to this merchant')] : []
  return [group('Intents', [...items, ...more])]
}

async function merchantNamed(wanted: string, { ask, to }: PageRequest): Promise<readonly Html[]> {
  const { name, category, confidence } = await ask(merchantsApi.resolve, { query: { q: wanted } })
  if (confidence < 0.5) return []
  const payments = `console/transactions?${new URLSearchParams({ merchant: name })}`
  return [
    group('Merchant', [
      item(
        to(payments),
        html`Payments to ${renderText(name, 80)}`,
        category === null ? undefined : humanize(category),
      ),
    ]),
  ]
}

export const searchSection: ConsoleSection = { title: 'Search', list: searchPage }
