import type { AnyOperation } from '../../../kernel/contract/operation.ts'
import { type Refusal, Refused } from '../../../kernel/contract/problem.ts'
import { prefixOf } from '../../../values/ids.ts'
import type { Row } from '../../../values/members.ts'
import { type Content, type Html, html } from '../../../web/html.ts'
import type { Page, PageRequest } from '../page.ts'
import { type Action, actionButton, type Creation, commandOf, creationForm } from './actions.ts'
import { field } from './form.ts'
import { copyable, recordLink, sectionOf } from './links.ts'
import { choicesFor, readNamesIn } from './names.ts'
import type { MembersSpec } from './record-page.ts'
import { answerMembers, parametersIn, queryMembers } from './schema.ts'
import { type ColumnList, type Columns, informativeMembers, table } from './table.ts'
import { text } from './text.ts'

type Address = Readonly<Record<string, string | number | undefined>>

export function listQuery(operation: AnyOperation, address: Address) {
  const query: Record<string, string | number | undefined> = { ...address }
  const params: Record<string, string> = {}
  for (const name of parametersIn(operation)) {
    params[name] = String(query[name] ?? '')
    delete query[name]
  }
  return { params, query }
}

interface ListAnswer<T> {
  readonly data: readonly T[]
  readonly hasMore: boolean
  readonly nextCursor: string | null
}

/**
 * A kind of record: its list, and the page of one record. The contract provides the defaults: filters,
 * columns, displayed members and fields of forms.
 */
export interface SectionSpec<T = Row, R = Row> extends MembersSpec<R> {
  readonly kind: string
  readonly title?: string
  readonly lead?: string
  readonly list: AnyOperation
  readonly get?: AnyOperation
  /** The noun of the CLI, if the path has another one, and the call that shows a record, unless it is `<noun> get`. */
  readonly noun?: string
  readonly command?: string
  readonly name?: (record: T) => string
  readonly columns?: ColumnList<T>
  /** Members with ids of records whose names are not read. */
  readonly unnamed?: readonly (keyof T & string)[]
  /** The filters with a field. Default: all of the contract. Other filters of the address apply as well. */
  readonly filters?: readonly string[]
  readonly ignored?: readonly string[]
  /** The text of an empty list, and the call that creates its first record. Default: the creation. */
  readonly empty?: string
  readonly call?: string
  /** Events after which list and page are rendered again. Default: those with the prefix of the ids. */
  readonly events?: readonly string[]
  readonly create?: Creation
  readonly above?: (request: PageRequest) => Promise<Content> | Content
  readonly actions?: readonly Action<R>[]
  readonly state?: (record: R, request: PageRequest) => string | undefined
  readonly section?: PageRequest['section']
  /** Shown first on the page of a record: the reason of its state. */
  readonly note?: (record: R, request: PageRequest) => Promise<Content> | Content
  readonly boxes?: (record: R, request: PageRequest) => Promise<Content> | Content
  readonly hasTimeline?: true
  readonly below?: (record: R, request: PageRequest) => Promise<Content> | Content
}

export const nounOf = ({ path }: AnyOperation): string => path.split('/')[1] ?? ''

export const titleOf = ({ kind, title = `${kind}s` }: Pick<SectionSpec, 'kind' | 'title'>): string => title

const prefixIn = ({ list }: Pick<SectionSpec, 'list'>): string =>
  prefixOf(String(answerMembers(list).id?.examples?.[0] ?? ''))

/** `refund.*`, since event types begin with the prefix of the ids. */
export const eventsOf = (spec: Pick<SectionSpec, 'list' | 'events'>): readonly string[] =>
  spec.events ?? [`${prefixIn(spec)}.*`]

export async function listPageOf(spec: SectionSpec, request: PageRequest): ReturnType<Page> {
  const { lead, above, create } = spec
  const title = titleOf(spec)
  let refusal: Refusal | undefined
  const make = () =>
    listed(spec, request).catch(error => {
      refusal = refusalOf(error)
      return html`<p class="refusal" role="alert">${refusal.message}</p>`
    })
  const [rows, creation, more, filters] = await Promise.all([
    request.part({ id: 'list', events: eventsOf(spec), make }),
    create && creationOf(spec, create, request),
    above?.(request),
    filterForm(spec, request),
  ])
  return {
    title,
    content: html`<h1>${title}</h1>
${lead !== undefined && html`<p class="lead">${lead}</p>`}
<div class="actions">${creation}${more} ${filters}</div>
${rows}`,
    ...(refusal && { refusal }),
  }
}

export async function creationOf(
  spec: SectionSpec,
  create: Creation,
  request: PageRequest,
): Promise<Content> {
  const { kind, labels = {} } = spec
  const section = sectionOf(prefixIn(spec))
  const done = section === undefined ? 'reload' : `go:console/${section}/{id}`
  return creationForm(create, { submit: `New ${kind.toLowerCase()}`, labels, done }, request)
}

/** A refusal of a filter appears above the list. Any other refusal is thrown again. */
function refusalOf(error: unknown): Refusal {
  if (error instanceof Refused && error.refusal.status === 400) return error.refusal
  throw error
}

async function listed(spec: SectionSpec, request: PageRequest): Promise<Html> {
  const { data, nextCursor } = await readPage(spec, listQuery(spec.list, filtersOf(spec, request)), request)
  if (data.length === 0) return emptyState(spec, request)
  return html`${rowsOf(spec, titleOf(spec), data, request)}${footOf(spec, nextCursor, request)}`
}

export async function readPage(
  { list, unnamed }: SectionSpec,
  question: ReturnType<typeof listQuery>,
  request: PageRequest,
): Promise<ListAnswer<Row>> {
  const answer = (await request.ask(list, question)) as ListAnswer<Row>
  await readNamesIn(answer.data, request, unnamed)
  return answer
}

export function rowsOf(
  spec: SectionSpec,
  caption: string,
  items: readonly Row[],
  request: PageRequest,
): Html {
  const { list, labels = {}, shows = {}, actions = [], get } = spec
  const columns: ColumnList<Row> = spec.columns ?? informativeMembers(items).filter(name => name !== 'name')
  const inRow = actions.filter(action => (!get || action.inRow) && request.may(action.operation))
  const action = { Action: (item: Row) => inRow.map(one => actionButton(one, item, labels, request)) }
  const all = [...nameColumn(spec), ...columns, ...(inRow.length > 0 ? [action] : [])]
  return table(request, caption, items, all, { members: answerMembers(list), labels, shows })
}

function nameColumn({ kind, name, get }: SectionSpec): Columns<Row>[] {
  if (!get && !name) return []
  const shows = (item: Row, request: PageRequest): Content => {
    const called = name ? name(item) : item.name
    const shown = called ? text(String(called), 80) : undefined
    return recordLink(request, String(item.id), shown)
  }
  return [{ [kind]: shows }]
}

const filtersOf = (
  { ignored = [] }: Pick<SectionSpec, 'ignored'>,
  { query }: PageRequest,
): Record<string, string> =>
  Object.fromEntries(Object.entries(query).filter(([name]) => !ignored.includes(name)))

const parametersOf = (operation: AnyOperation, { query }: PageRequest): [name: string, value: string][] =>
  parametersIn(operation).map(name => [name, query[name] ?? ''])

const unfiltered = (operation: AnyOperation, request: PageRequest): string =>
  `?${new URLSearchParams(parametersOf(operation, request))}`

function emptyState(spec: SectionSpec, request: PageRequest): Html {
  const { list, create, noun = nounOf(list) } = spec
  const isFiltered = Object.keys(filtersOf(spec, request)).length > parametersIn(list).length
  if (isFiltered)
    return html`<p class="empty">Nothing matches. <a href="${unfiltered(list, request)}">Show all</a></p>`
  const { empty = `No ${titleOf(spec).toLowerCase()} yet.` } = spec
  const call = spec.call ?? (create && commandOf(noun, create.operation))
  return html`<div class="empty"><p>${empty}</p>${call !== undefined && html`<p>${copyable(call)}</p>`}</div>`
}

function footOf(spec: SectionSpec, nextCursor: string | null, request: PageRequest): Html {
  const { to, section: own } = request
  const { cursor, ...filters } = filtersOf(spec, request)
  const csv = `${to(`console/csv/${own.name}`)}?${new URLSearchParams(filters)}`
  const first = `?${new URLSearchParams(filters)}`
  return html`<nav class="pages" aria-label="Pages of the list">
${cursor !== undefined && html`<a href="${first}">First page</a>`}
${nextCursor !== null && html`<a rel="next" href="?${new URLSearchParams({ ...filters, cursor: nextCursor }).toString()}">Next page</a>`}
<a class="aside" href="${csv}" download>CSV</a>
</nav>`
}

/** Parameters without a field: some belong to the page, and some to operators. */
const NO_FILTERS = ['limit', 'cursor', 'ownerId', 'mode']

async function filterForm(spec: SectionSpec, request: PageRequest): Promise<Content> {
  const { labels = {}, list } = spec
  const members = queryMembers(list)
  const filters = spec.filters ?? Object.keys(members).filter(name => !NO_FILTERS.includes(name))
  if (filters.length === 0) return html``
  const choices = await choicesFor(filters, request)
  const isOpen = filters.some(name => request.query[name] !== undefined)
  return html`<details class="filters"${isOpen && html` open`}><summary>Filter</summary>
<form method="get">
${parametersOf(list, request).map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`)}
${filters.map(name => field(`filter-${name}`, name, { ...members[name], default: undefined }, { values: request.query, labels, choices }))}
<button type="submit">Show</button> <a href="${unfiltered(list, request)}">Show all</a>
</form></details>`
}
