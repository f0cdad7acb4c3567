import { auditApi } from '../../../../compliance/audit/index.ts'
import { agentsApi } from '../../../../control/agents/index.ts'
import { intentsApi } from '../../../../control/intents/index.ts'
import { merchantsApi } from '../../../../control/merchants/index.ts'
import { type Html, html } from '../../../../web/html.ts'
import type { ConsolePage, PageRequest, RenderedPage } from '../../page.ts'
import { recordAddress, renderRecordLink } from '../../parts/links.ts'
import { readRecordNames } from '../../parts/names.ts'
import { renderBox, renderFacts, renderTable } from '../../parts/table.ts'
import { humanize, renderStatus, renderText } from '../../parts/text.ts'
import type { IntentItem } from './waiting.ts'

const ID = /^[\w.:@/-]{6,128}$/
const MOST = 100
const SHOWN = 20

/** An id leads to its page, a request id to its changes. Any other text searches agents, intents and merchants. */
export const searchPage: ConsolePage = async request => {
  const wanted = (request.query.q ?? '').trim().slice(0, 200)
  if (wanted === '')
    return { title: 'Search', content: html`<h1>Search</h1><p class="lead">Enter a name or an ID.</p>` }
  const address = ID.test(wanted) ? recordAddress(wanted) : undefined
  if (address !== undefined) return redirectTo(wanted, address, request)
  const caused = ID.test(wanted) ? await historyOf(wanted, request) : undefined
  if (caused) return caused
  const found = await Promise.all([
    agentsNamed(wanted, request),
    intentsAbout(wanted, request),
    merchant(wanted, request),
  ])
  const isEmpty = found.every(part => part === undefined)
  return {
    title: `Search: ${wanted}`,
    content: html`<h1>Search</h1>
<p class="lead">Results for ${renderText(wanted, 80)}</p>
${isEmpty ? html`<p class="empty">No results. IDs must match exactly.</p>` : found.map(part => part ?? '')}`,
  }
}

const redirectTo = (id: string, address: string, request: PageRequest): RenderedPage => ({
  title: id,
  onward: address,
  content: html`<h1>Search</h1><p class="lead">Opening ${renderRecordLink(request, id)} …</p>`,
})

async function historyOf(id: string, { ask, to }: PageRequest): Promise<RenderedPage | undefined> {
  const [ofRequest, ofRecord] = await Promise.all([
    ask(auditApi.list, { query: { requestId: id, limit: 1 } }),
    ask(auditApi.list, { query: { resource: id, limit: 1 } }),
  ])
  const filter = ofRequest.data.length > 0 ? 'requestId' : ofRecord.data.length > 0 ? 'resource' : undefined
  if (filter === undefined) return undefined
  const onward =
    filter === 'requestId'
      ? `console/causes/${encodeURIComponent(id)}`
      : `console/audit?${new URLSearchParams({ resource: id })}`
  return {
    title: id,
    onward,
    content: html`<h1>Search</h1><p class="lead"><a href="${to(onward)}">${filter === 'requestId' ? 'View the request' : 'View the history'}</a></p>`,
  }
}

async function agentsNamed(wanted: string, request: PageRequest): Promise<Html | undefined> {
  const [byName, byOwnId] = await Promise.all([
    request.ask(agentsApi.list, { query: { name: wanted, limit: SHOWN } }),
    request.ask(agentsApi.list, { query: { externalId: wanted, limit: 1 } }),
  ])
  const agents = new Map([...byOwnId.data, ...byName.data].map(agent => [agent.id, agent]))
  if (agents.size === 0) return undefined
  return renderBox(
    'Agents',
    html`<ul class="lines">${[...agents.values()].map(agent => html`<li>${renderRecordLink(request, agent.id, renderText(agent.name, 80))} ${renderStatus(agent.status)}</li>`)}</ul>`,
  )
}

async function intentsAbout(wanted: string, request: PageRequest): Promise<Html | undefined> {
  const [toMerchant, ofOwnId, newest] = await Promise.all([
    request.ask(intentsApi.list, { query: { merchant: wanted, limit: SHOWN } }),
    request.ask(intentsApi.list, { query: { clientIntentId: wanted, limit: SHOWN } }),
    request.ask(intentsApi.list, { query: { limit: MOST } }),
    readRecordNames(request, 'agents'),
  ])
  const word = wanted.toLowerCase()
  const mention = ({ merchant: name, purpose }: IntentItem) =>
    `${name} ${purpose}`.toLowerCase().includes(word)
  const intents = new Map(
    [...ofOwnId.data, ...toMerchant.data, ...newest.data.filter(mention)].map(intent => [intent.id, intent]),
  )
  if (intents.size === 0) return undefined
  const all = `console/intents?${new URLSearchParams({ merchant: wanted })}`
  return renderBox(
    'Intents',
    renderTable(request, 'Intents found', [...intents.values()].slice(0, SHOWN), {
      To: ({ id, merchant: name }) => renderRecordLink(request, id, renderText(name, 60)),
      Amount: 'amountEuros',
      Status: 'status',
      Agent: ({ agentId }) => renderRecordLink(request, agentId),
      Purpose: 'purpose',
      Created: 'createdAt',
    }),
    toMerchant.data.length > 0 && html`<p><a href="${request.to(all)}">All intents to this merchant</a></p>`,
  )
}

async function merchant(wanted: string, { ask, to }: PageRequest): Promise<Html | undefined> {
  const { name, category, mcc, processor, confidence } = await ask(merchantsApi.resolve, {
    query: { q: wanted },
  })
  if (confidence < 0.5) return undefined
  return renderBox(
    'Merchant',
    renderFacts([
      ['Name', renderText(name, 80)],
      ['Category', category === null ? humanize('unknown') : html`${category} (${mcc ?? ''})`],
      ['Paid through', renderText(processor, 60)],
    ]),
    html`<p><a href="${to(`console/transactions?${new URLSearchParams({ merchant: name })}`)}">Payments to this merchant</a></p>`,
  )
}
