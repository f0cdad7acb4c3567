import { auditApi } from '../../../compliance/audit/index.ts'
import { type Html, html } from '../../../web/html.ts'
import type { PageRequest } from '../page.ts'
import { addressOf, recordLink } from './links.ts'
import { box, type Columns, display, facts, table } from './table.ts'
import { label, none, text, words } from './text.ts'

export const unbroken = (name: string): Html => html`<span class="whole">${text(name, 60)}</span>`

export const requestLink = ({ to }: Pick<PageRequest, 'to'>, requestId: string): Html =>
  html`<a href="${to(`console/causes/${encodeURIComponent(requestId)}`)}" class="whole">${text(requestId, 14)}</a>`

export const filtered = (
  { to }: Pick<PageRequest, 'to'>,
  section: string,
  filters: Readonly<Record<string, string>>,
): string => `${to(`console/${section}`)}?${new URLSearchParams(filters)}`

const isId = (value: unknown): value is string => typeof value === 'string' && addressOf(value) !== undefined

export const membersOf = (data: Readonly<Record<string, unknown>>, request: PageRequest): Html =>
  facts(
    Object.entries(data).map(
      ([name, value]) => [label(name), display(name, value, request, undefined, 500)] as const,
    ),
  )

export const namedIn = (data: Readonly<Record<string, unknown>>, request: PageRequest): Html => {
  const ids = [...new Set(Object.values(data).filter(isId))].slice(0, 3)
  return ids.length > 0 ? html`${ids.map(id => html`${recordLink(request, id)} `)}` : none
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
export const actorLink = ({ personId, actorId, actorType }: Entry, request: PageRequest): Html =>
  html`${words(actorType === 'dash' ? 'operator' : actorType)} ${actorId || personId ? recordLink(request, actorId ?? personId) : ''}`

const historyColumns: Columns<Entry> = {
  Date: 'at',
  Event: ({ event }) => words(event),
  By: actorLink,
  Request: ({ requestId }, request) => requestLink(request, requestId),
}

export async function history(id: string, request: PageRequest): Promise<Html> {
  const { ask, may } = request
  if (!may(auditApi.list)) return html``
  const { data, hasMore } = await ask(auditApi.list, { query: { resource: id, limit: 15 } })
  if (data.length === 0) return html``
  return box(
    'History',
    table(request, 'History, newest first', data, historyColumns),
    hasMore && html`<p><a href="${filtered(request, 'audit', { resource: id })}">View all</a></p>`,
  )
}
