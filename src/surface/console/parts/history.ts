import { auditApi } from '../../../compliance/audit/index.ts'
import { type Html, html } from '../../../web/html.ts'
import type { PageRequest } from '../page.ts'
import { recordAddress, renderRecordLink } from './links.ts'
import { renderBox, renderFacts, renderTable, renderValue, type TableColumns } from './table.ts'
import { humanize, memberLabelText, noneText, renderText } from './text.ts'

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

interface Entry {
  readonly at: string
  readonly event: string
  readonly action: string
  readonly outcome?: string
  readonly actorType: string
  readonly actorId: string | null
  readonly personId: string | null
  readonly requestId: string
}

/** The caller: a key, a token or a person. Without one, the person whom the entry is about. */
export const renderActorLink = ({ personId, actorId, actorType }: Entry, request: PageRequest): Html =>
  html`${humanize(actorType === 'dash' ? 'operator' : actorType)} ${actorId || personId ? renderRecordLink(request, actorId ?? personId) : ''}`

const historyColumns: TableColumns<Entry> = {
  Date: 'at',
  Event: ({ event }) => humanize(event),
  By: renderActorLink,
  Request: ({ requestId }, request) => renderRequestLink(request, requestId),
}

export async function renderRecordHistory(id: string, request: PageRequest): Promise<Html> {
  const { ask, may } = request
  if (!may(auditApi.list)) return html``
  const { data, hasMore } = await ask(auditApi.list, { query: { resource: id, limit: 15 } })
  if (data.length === 0) return html``
  return renderBox(
    'History',
    renderTable(request, 'History, newest first', data, historyColumns),
    hasMore && html`<p><a href="${filteredListLink(request, 'audit', { resource: id })}">View all</a></p>`,
  )
}
