import { auditApi } from '../../../compliance/audit/index.ts'
import { idPrefix } from '../../../values/ids.ts'
import { type Html, type HtmlContent, html } from '../../../web/html.ts'
import type { PageRequest } from '../page.ts'
import { recordAddress, renderRecordLink } from './links.ts'
import { readNamesInRows } from './names.ts'
import { renderBox, renderFacts, renderValue } from './table.ts'
import { capitalized, humanize, memberLabelText, noneText, renderText, renderTime } from './text.ts'

export const unbrokenText = (name: string): Html => html`<span class="whole">${renderText(name, 60)}</span>`

export const renderRequestLink = ({ to }: Pick<PageRequest, 'to'>, requestId: string): Html =>
  html`<a href="${to(`console/causes/${encodeURIComponent(requestId)}`)}" class="whole">${renderText(requestId, 14)}</a>`

export const filteredListLink = (
  { to }: Pick<PageRequest, 'to'>,
  section: string,
  filters: Readonly<Record<string, string>>,
): string => `${to(`console/${section}`)}?${new URLSearchParams(filters)}`

const isId = (value: unknown): value is string =>
  typeof value === 'string' && recordAddress(value) !== undefined

export const renderEventMembers = (data: Readonly<Record<string, unknown>>, request: PageRequest): Html =>
  renderFacts(
    Object.entries(data).map(
      ([name, value]) => [memberLabelText(name), renderValue(name, value, request, undefined, 500)] as const,
    ),
  )

export const renderNamedRecords = (data: Readonly<Record<string, unknown>>, request: PageRequest): Html => {
  const ids = [...new Set(Object.values(data).filter(isId))].slice(0, 3)
  return ids.length > 0 ? html`${ids.map(id => html`${renderRecordLink(request, id)} `)}` : noneText
}

interface Actor {
  readonly actorType: string
  readonly actorId: string | null
  readonly personId: string | null
}

const actorTypes: Readonly<Record<string, string>> = { dash: 'operator', console: '' }

/** The caller: a key, a token or a person. Without one, the person whom the entry is about. */
export const renderActorLink = ({ personId, actorId, actorType }: Actor, request: PageRequest): Html =>
  html`${actorTypes[actorType] ?? humanize(actorType)} ${actorId || personId ? renderRecordLink(request, actorId ?? personId) : ''}`

interface ListedEntry extends Actor {
  readonly at: string
  readonly what: HtmlContent
  readonly note?: HtmlContent
  readonly requestId: string
}

/** What happened to a record: what, by whom, when, and by which request. */
const renderEntries = (entries: readonly ListedEntry[], request: PageRequest): Html =>
  html`<ol class="timeline">${entries.map(
    ({ at, what, note, requestId, ...actor }) =>
      html`<li><span class="what">${what}</span> <span class="by">by ${renderActorLink(actor, request)}</span> <span class="when">${renderTime(at)} <a href="${request.to(`console/causes/${encodeURIComponent(requestId)}`)}" aria-label="Request ${requestId}">Request</a></span>${note !== undefined && html`<p>${note}</p>`}</li>
`,
  )}</ol>`

/** `agent.frozen` on the page of an agent is *Frozen*; elsewhere, the noun stays. */
function eventInWords(event: string, ofPrefix: string): string {
  const name = event.startsWith(`${ofPrefix}.`) ? event.slice(ofPrefix.length + 1) : event
  return capitalized(humanize(name.replaceAll('.', ' ')))
}

interface TimelineEntry extends Actor {
  readonly at: string
  readonly event: string
  readonly resourceId: string
  readonly reason: string | null
  readonly requestId: string
}

/** What happened to a record and to those that followed from it, such as the payment of an intent. */
export async function renderTimelineBox(
  entries: readonly TimelineEntry[],
  request: PageRequest,
): Promise<Html> {
  await readNamesInRows(entries, request)
  const listed = entries.map(({ event, resourceId, reason, ...entry }) => {
    const words = eventInWords(event, idPrefix(request.id))
    const what = resourceId === request.id ? words : renderRecordLink(request, resourceId, words)
    return { ...entry, what, ...(reason !== null && { note: renderText(reason, 200) }) }
  })
  return renderBox('Timeline', renderEntries(listed, request))
}

export async function renderRecordHistory(id: string, request: PageRequest): Promise<Html> {
  const { ask, may } = request
  if (!may(auditApi.list)) return html``
  const { data, hasMore } = await ask(auditApi.list, { query: { resource: id, limit: 15 } })
  if (data.length === 0) return html``
  await readNamesInRows(data, request)
  const entries = data.map(({ event, ...entry }) => ({ ...entry, what: eventInWords(event, idPrefix(id)) }))
  return renderBox(
    'History',
    renderEntries(entries, request),
    hasMore && html`<p><a href="${filteredListLink(request, 'audit', { resource: id })}">View all</a></p>`,
  )
}
