import type { AnyOperation } from '../../../kernel/contract/operation.ts'
import { type Refusal, RefusedError } from '../../../kernel/contract/problem.ts'
import { idPrefix } from '../../../values/ids.ts'
import type { Row } from '../../../values/members.ts'
import { type Html, type HtmlContent, html } from '../../../web/html.ts'
import type { ConsolePage, PageRequest } from '../page.ts'
import {
  type ActionFormSpec,
  agentpayCommandText,
  type CreationFormSpec,
  renderActionButton,
  renderCreationForm,
} from './actions.ts'
import { renderField } from './form.ts'
import { copyableText, renderRecordLink, sectionOfIdPrefix } from './links.ts'
import { fieldChoicesFor, readNamesInRows } from './names.ts'
import type { MembersSpec } from './record-page.ts'
import { answerMemberSchemas, pathParametersOf, queryMemberSchemas } from './schema.ts'
import { informativeMembers, renderTable, type TableColumnList, type TableColumns } from './table.ts'
import { renderText } from './text.ts'

type Address = Readonly<Record<string, string | number | undefined>>

export function listQueryFromAddress(operation: AnyOperation, address: Address) {
  const query: Record<string, string | number | undefined> = { ...address }
  const params: Record<string, string> = {}
  for (const name of pathParametersOf(operation)) {
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
  readonly columns?: TableColumnList<T>
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
  readonly create?: CreationFormSpec
  readonly above?: (request: PageRequest) => Promise<HtmlContent> | HtmlContent
  readonly actions?: readonly ActionFormSpec<R>[]
  readonly state?: (record: R, request: PageRequest) => string | undefined
  readonly section?: PageRequest['section']
  /** Shown first on the page of a record: the reason of its state. */
  readonly note?: (record: R, request: PageRequest) => Promise<HtmlContent> | HtmlContent
  readonly boxes?: (record: R, request: PageRequest) => Promise<HtmlContent> | HtmlContent
  readonly hasTimeline?: true
  readonly below?: (record: R, request: PageRequest) => Promise<HtmlContent> | HtmlContent
}

export const operationNoun = ({ path }: AnyOperation): string => path.split('/')[1] ?? ''

export const sectionTitle = ({ kind, title = `${kind}s` }: Pick<SectionSpec, 'kind' | 'title'>): string =>
  title

const prefixIn = ({ list }: Pick<SectionSpec, 'list'>): string =>
  idPrefix(String(answerMemberSchemas(list).id?.examples?.[0] ?? ''))

/** `refund.*`, since event types begin with the prefix of the ids. */
export const sectionEvents = (spec: Pick<SectionSpec, 'list' | 'events'>): readonly string[] =>
  spec.events ?? [`${prefixIn(spec)}.*`]

export async function renderListPage(spec: SectionSpec, request: PageRequest): ReturnType<ConsolePage> {
  const { lead, above, create } = spec
  const title = sectionTitle(spec)
  let refusal: Refusal | undefined
  const make = () =>
    listed(spec, request).catch(error => {
      refusal = refusalOf(error)
      return html`<p class="refusal" role="alert">${refusal.message}</p>`
    })
  const [rows, creation, more, filters] = await Promise.all([
    request.part({ id: 'list', events: sectionEvents(spec), make }),
    create && renderSectionCreation(spec, create, request),
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

export async function renderSectionCreation(
  spec: SectionSpec,
  create: CreationFormSpec,
  request: PageRequest,
): Promise<HtmlContent> {
  const { kind, labels = {} } = spec
  const section = sectionOfIdPrefix(prefixIn(spec))
  const done = section === undefined ? 'reload' : `go:console/${section}/{id}`
  return renderCreationForm(create, { submit: `New ${kind.toLowerCase()}`, labels, done }, request)
}

/** A refusal of a filter appears above the list. Any other refusal is thrown again. */
function refusalOf(error: unknown): Refusal {
  if (error instanceof RefusedError && error.refusal.status === 400) return error.refusal
  throw error
}

async function listed(spec: SectionSpec, request: PageRequest): Promise<Html> {
  const { data, nextCursor } = await readListPage(
    spec,
    listQueryFromAddress(spec.list, filtersOf(spec, request)),
    request,
  )
  if (data.length === 0) return emptyState(spec, request)
  return html`${renderListRows(spec, sectionTitle(spec), data, request)}${footOf(spec, nextCursor, request)}`
}

export async function readListPage(
  { list, unnamed }: SectionSpec,
  question: ReturnType<typeof listQueryFromAddress>,
  request: PageRequest,
): Promise<ListAnswer<Row>> {
  const answer = (await request.ask(list, question)) as ListAnswer<Row>
  await readNamesInRows(answer.data, request, unnamed)
  return answer
}

export function renderListRows(
  spec: SectionSpec,
  caption: string,
  items: readonly Row[],
  request: PageRequest,
): Html {
  const { list, labels = {}, shows = {}, actions = [], get } = spec
  const columns: TableColumnList<Row> =
    spec.columns ?? informativeMembers(items).filter(name => name !== 'name')
  const inRow = actions.filter(action => (!get || action.inRow) && request.may(action.operation))
  const action = { Action: (item: Row) => inRow.map(one => renderActionButton(one, item, labels, request)) }
  const all = [...nameColumn(spec), ...columns, ...(inRow.length > 0 ? [action] : [])]
  return renderTable(request, caption, items, all, { members: answerMemberSchemas(list), labels, shows })
}

function nameColumn({ kind, name, get }: SectionSpec): TableColumns<Row>[] {
  if (!get && !name) return []
  const shows = (item: Row, request: PageRequest): HtmlContent => {
    const called = name ? name(item) : item.name
    const shown = called ? renderText(String(called), 80) : undefined
    return renderRecordLink(request, String(item.id), shown)
  }
  return [{ [kind]: shows }]
}

const filtersOf = (
  { ignored = [] }: Pick<SectionSpec, 'ignored'>,
  { query }: PageRequest,
): Record<string, string> =>
  Object.fromEntries(Object.entries(query).filter(([name]) => !ignored.includes(name)))

const parametersOf = (operation: AnyOperation, { query }: PageRequest): [name: string, value: string][] =>
  pathParametersOf(operation).map(name => [name, query[name] ?? ''])

const unfiltered = (operation: AnyOperation, request: PageRequest): string =>
  `?${new URLSearchParams(parametersOf(operation, request))}`

function emptyState(spec: SectionSpec, request: PageRequest): Html {
  const { list, create, noun = operationNoun(list) } = spec
  const isFiltered = Object.keys(filtersOf(spec, request)).length > pathParametersOf(list).length
  if (isFiltered)
    return html`<p class="empty">Nothing matches. <a href="${unfiltered(list, request)}">Show all</a></p>`
  const { empty = `No ${sectionTitle(spec).toLowerCase()} yet.` } = spec
  const call = spec.call ?? (create && agentpayCommandText(noun, create.operation))
  return html`<div class="empty"><p>${empty}</p>${call !== undefined && html`<p>${copyableText(call)}</p>`}</div>`
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

async function filterForm(spec: SectionSpec, request: PageRequest): Promise<HtmlContent> {
  const { labels = {}, list } = spec
  const members = queryMemberSchemas(list)
  const filters = spec.filters ?? Object.keys(members).filter(name => !NO_FILTERS.includes(name))
  if (filters.length === 0) return html``
  const choices = await fieldChoicesFor(filters, request)
  const isOpen = filters.some(name => request.query[name] !== undefined)
  return html`<details class="filters"${isOpen && html` open`}><summary>Filter</summary>
<form method="get">
${parametersOf(list, request).map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`)}
${filters.map(name => renderField(`filter-${name}`, name, { ...members[name], default: undefined }, { values: request.query, labels, choices }))}
<button type="submit">Show</button> <a href="${unfiltered(list, request)}">Show all</a>
</form></details>`
}
