import type { AnyOperation } from '../../../kernel/contract/operation.ts'
import { type Refusal, RefusedError } from '../../../kernel/contract/problem.ts'
import { idPrefix } from '../../../values/ids.ts'
import type { Row } from '../../../values/members.ts'
import { type Html, type HtmlContent, html } from '../../../web/html.ts'
import { pageScriptTag } from '../browser/browser.ts'
import { busyAsUndefined } from '../health.ts'
import type { ConsolePage, PageRequest } from '../page.ts'
import {
  type ActionFormSpec,
  agentpayCommandText,
  type CreationFormSpec,
  renderActionButton,
  renderCreationForm,
} from './actions.ts'
import {
  addressWith,
  type Filters,
  filtersOf,
  hasFilters,
  instantOfDay,
  renderFilters,
  unfilteredAddress,
  withoutFilters,
} from './filters.ts'
import { formDialogId } from './form.ts'
import { unbrokenText } from './history.ts'
import { renderIcon } from './icons.ts'
import { copyableText, recordAddress, sectionOfIdPrefix } from './links.ts'
import { readNamesInRows } from './names.ts'
import type { MembersSpec } from './record-page.ts'
import { answerMemberSchemas, pathParametersOf, queryMemberSchemas, requiredMembers } from './schema.ts'
import {
  informativeMembers,
  memberLabel,
  renderTable,
  type StateWords,
  type TableColumnList,
  type TableColumns,
} from './table.ts'
import {
  countText,
  type ListSummary,
  renderStatusTabs,
  type SummaryOf,
  statesOf,
  summarizeNewest,
} from './tabs.ts'
import { formatPlainEuros, renderText } from './text.ts'

type Address = Readonly<Record<string, string | number | undefined>>

export function listQueryFromAddress(operation: AnyOperation, address: Address) {
  const members = queryMemberSchemas(operation)
  const query = Object.fromEntries(
    Object.entries(address).map(([name, value]) => [
      name,
      typeof value === 'string' && members[name]?.format === 'date-time' ? instantOfDay(name, value) : value,
    ]),
  )
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
  /** Filters of this list that its address need not set. */
  readonly only?: Readonly<Record<string, string>>
  /** Read for the rows of a page, before they are shown. */
  readonly reads?: (rows: readonly T[], request: PageRequest) => Promise<unknown>
  /** States of records of another list, first of all: where a payment begins. */
  readonly earlier?: readonly (readonly [label: string, address: string])[]
  readonly states?: StateWords
  /** How many match, by status, and their amount. `newest` counts the newest hundred. Default: no numbers. */
  readonly summary?: SummaryOf | 'newest'
  /** The text of an empty list, and the call that creates its first record. Default: the creation. */
  readonly empty?: string
  readonly call?: string
  /** The guide about these records: `refunds` of `/docs/guides/refunds`. */
  readonly guide?: string
  /** Events after which list and page are rendered again. Default: those with the prefix of the ids. */
  readonly events?: readonly string[]
  readonly create?: CreationFormSpec
  /** Beside the title of the list, after the creation: two at most. */
  readonly buttons?: (request: PageRequest) => Promise<HtmlContent> | HtmlContent
  /** Further lines of the list's menu. */
  readonly menu?: (request: PageRequest) => readonly Html[]
  readonly above?: (request: PageRequest) => Promise<HtmlContent> | HtmlContent
  readonly actions?: readonly ActionFormSpec<R>[]
  readonly state?: (record: R, request: PageRequest) => string | undefined
  readonly section?: PageRequest['section']
  /** Shown first on the page of a record: the reason of its state. */
  readonly note?: (record: R, request: PageRequest) => Promise<HtmlContent> | HtmlContent
  readonly boxes?: (record: R, request: PageRequest) => Promise<HtmlContent> | HtmlContent
  readonly hasTimeline?: true
  readonly below?: (record: R, request: PageRequest) => Promise<HtmlContent> | HtmlContent
  /** Further pages of a record, each with its own address. The first page is the overview. */
  readonly tabs?: readonly RecordTab<R>[]
}

export interface RecordTab<R = Row> {
  /** `cards` in `?tab=cards` */
  readonly name: string
  readonly label: string
  /** Events after which the tab is rendered again, besides those of the record. */
  readonly events?: readonly string[]
  readonly content: (record: R, request: PageRequest) => Promise<Html>
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
  const { lead, above, create, list } = spec
  const title = sectionTitle(spec)
  const events = sectionEvents(spec)
  let refusal: Refusal | undefined
  const make = () =>
    listed(spec, request).catch(error => {
      refusal = refusalOf(error)
      return html`<p class="refusal" role="alert">${refusal.message}</p>`
    })
  const states = statesOf(list)
  const [tabs, rows, creation, buttons, content, filters] = await Promise.all([
    states.length > 0 && request.part({ id: 'tabs', events, make: () => tabsOf(spec, states, request) }),
    request.part({ id: 'list', events, make }),
    create && renderSectionCreation(spec, { tone: 'main', ...create }, request),
    spec.buttons?.(request),
    above?.(request),
    renderFilters(spec, request),
  ])
  return {
    title,
    content: html`<div class="head"><h1>${title}</h1>
<div class="actions">${buttons}${creation}${listMenu(spec, request)}</div></div>
${lead !== undefined && html`<p class="lead">${lead}</p>`}
${content}
<div class="toolbar">${tabs}${filters.controls}</div>
${filters.chips}
${rows}
${pageScriptTag(request, 'lists')}`,
    ...(refusal && { refusal }),
  }
}

function listMenu(spec: SectionSpec, request: PageRequest): Html {
  const filters = withoutFilters({ ...spec.only, ...filtersOf(spec, request) }, ['cursor'])
  return html`<button type="button" class="plain dots" popovertarget="list-menu" aria-label="More about this list">${renderIcon('more')}</button>
<ul id="list-menu" class="menu" popover>${spec.menu?.(request).map(line => html`<li>${line}</li>`)}
<li><a href="${request.to(`console/csv/${request.section.name}`)}${addressWith(filters)}" download>Export as CSV</a></li></ul>`
}

async function tabsOf(spec: SectionSpec, states: readonly string[], request: PageRequest): Promise<Html> {
  const summary = await summaryOf(spec, request)
  const earlier = (spec.earlier ?? []).map(
    ([label, address]) => html`<a href="${request.to(address)}">${label}</a>`,
  )
  return renderStatusTabs(states, spec.states ?? {}, filtersOf(spec, request), { summary, earlier })
}

const summaries = new WeakMap<PageRequest, Promise<ListSummary | undefined>>()

/** Read once for tabs and totals. */
function summaryOf(spec: SectionSpec, request: PageRequest): Promise<ListSummary | undefined> | undefined {
  if (!spec.summary) return undefined
  const { list, summary } = spec
  const filters = withoutFilters(filtersOf(spec, request), ['cursor', 'limit'])
  const read = (): Promise<ListSummary> => {
    if (summary !== 'newest') return (summary as SummaryOf)(filters, request)
    const others = withoutFilters(filters, ['status'])
    const ask = (limit: number) =>
      request.ask(list, listQueryFromAddress(list, { ...others, limit })) as Promise<ListAnswer<Row>>
    return summarizeNewest(ask, list, filters.status)
  }
  const known = summaries.get(request) ?? read().catch(noSummary)
  summaries.set(request, known)
  return known
}

/** The list shows the refusal of a filter. A busy service still lists, without numbers. */
const noSummary = (error: unknown): undefined =>
  error instanceof RefusedError ? undefined : busyAsUndefined(error)

export async function renderSectionCreation(
  spec: SectionSpec,
  create: CreationFormSpec,
  request: PageRequest,
): Promise<HtmlContent> {
  const { labels = {} } = spec
  const section = sectionOfIdPrefix(prefixIn(spec))
  const done = section === undefined ? 'reload' : `go:console/${section}/{id}`
  return renderCreationForm(create, { submit: creationLabel(spec), labels, done }, request)
}

/** A refusal of a filter appears above the list. Any other refusal is thrown again. */
function refusalOf(error: unknown): Refusal {
  if (error instanceof RefusedError && error.refusal.status === 400) return error.refusal
  throw error
}

async function listed(spec: SectionSpec, request: PageRequest): Promise<Html> {
  const filters = filtersOf(spec, request)
  const [{ data, nextCursor }, summary] = await Promise.all([
    readListPage(spec, listQueryFromAddress(spec.list, { ...spec.only, ...filters }), request),
    summaryOf(spec, request),
  ])
  if (data.length === 0) return emptyState(spec, request)
  return html`${renderListRows(spec, sectionTitle(spec), data, request)}${footOf(filters, nextCursor, summary)}`
}

export async function readListPage(
  { list, unnamed, reads }: SectionSpec,
  question: ReturnType<typeof listQueryFromAddress>,
  request: PageRequest,
): Promise<ListAnswer<Row>> {
  const answer = (await request.ask(list, question)) as ListAnswer<Row>
  await Promise.all([readNamesInRows(answer.data, request, unnamed), reads?.(answer.data, request)])
  return answer
}

/** `same` has the members of which each row has the same value: they get no column. */
export function renderListRows(
  spec: SectionSpec,
  caption: string,
  items: readonly Row[],
  request: PageRequest,
  same: readonly string[] = [],
): Html {
  const { list, labels = {}, shows = {}, actions = [], get } = spec
  const columns: TableColumnList<Row> =
    spec.columns ?? informativeMembers(items).filter(name => name !== 'name')
  const headings = same.map(member => memberLabel(member, { labels }))
  const differs = (column: TableColumnList<Row>[number]): boolean =>
    typeof column === 'string'
      ? !same.includes(column)
      : !Object.keys(column).every(heading => headings.includes(heading))
  const inRow = actions
    .filter(action => (!get || action.inRow) && request.may(action.operation))
    .map(action => (get ? withoutOptionalFields(action) : action))
  const action = { Action: (item: Row) => inRow.map(one => renderActionButton(one, item, labels, request)) }
  const all = [...nameColumn(spec), ...columns.filter(differs), ...(inRow.length > 0 ? [action] : [])]
  return renderTable(request, caption, items, all, {
    members: answerMemberSchemas(list),
    labels,
    shows,
    leadsToRecords:
      get !== undefined ||
      (actions.length === 0 && items.some(({ id }) => recordAddress(String(id)) !== undefined)),
    ...(spec.states && { states: spec.states }),
  })
}

/** The page of the record asks for them. A hundred rows would have a hundred dialogs. */
const withoutOptionalFields = (action: ActionFormSpec<Row>): ActionFormSpec<Row> =>
  requiredMembers(action.operation).length === 0 ? { ...action, members: [], inDialog: false } : action

function nameColumn({ kind, name, get }: SectionSpec): TableColumns<Row>[] {
  if (!get && !name) return []
  const shows = (item: Row, { to }: PageRequest): HtmlContent => {
    const called = name ? name(item) : item.name
    const shown = called ? nameText(String(called)) : html`<code>${String(item.id)}</code>`
    const address = recordAddress(String(item.id))
    if (address === undefined) return shown
    return html`<a href="${to(address)}"${get !== undefined && html` data-panel`}>${shown}</a>`
  }
  return [{ [kind]: shows }]
}

/** A short name without a space, such as `transaction.completed`, is not broken. */
const nameText = (name: string): Html => (/^\S{1,32}$/.test(name) ? unbrokenText(name) : renderText(name, 80))

function emptyState(spec: SectionSpec, request: PageRequest): Html {
  const { list, create, guide, noun = operationNoun(list) } = spec
  if (hasFilters(spec, request))
    return html`<div class="empty"><p>No matches.</p><p><a class="button" href="${unfilteredAddress(list, request)}">Clear filters</a></p></div>`
  const { empty = `No ${sectionTitle(spec).toLowerCase()} yet.` } = spec
  const call = spec.call ?? (create && agentpayCommandText(noun, create.operation))
  const begin =
    create && request.may(create.operation) ? creationButton(spec, create) : call && copyableText(call)
  return html`<div class="empty"><p>${empty}</p>${begin && html`<p>${begin}</p>`}${guide !== undefined && html`<p><a href="${request.to(`docs/guides/${guide}`)}">Read the guide</a></p>`}</div>`
}

/** Opens the form beside the title of the list. */
const creationButton = (spec: SectionSpec, create: CreationFormSpec): Html =>
  html`<button type="button" command="show-modal" commandfor="${formDialogId(create.operation, create)}">${create.submit ?? creationLabel(spec)}</button>`

const creationLabel = ({ kind }: Pick<SectionSpec, 'kind'>): string => `New ${kind.toLowerCase()}`

function footOf(address: Filters, nextCursor: string | null, summary: ListSummary | undefined): Html {
  const { cursor, ...filters } = address
  return html`<nav class="pages" aria-label="Pages of the list">
${summary && html`<span>${totalText(filters, summary)}</span>`}
${cursor !== undefined && html`<a href="${addressWith(filters)}">First page</a>`}
${nextCursor !== null && html`<a class="aside" rel="next" href="${addressWith({ ...filters, cursor: nextCursor })}">Next page</a>`}
</nav>`
}

function totalText({ status }: Filters, { count, counts, isMinimum, amountEuros }: ListSummary): string {
  const listed = status === undefined ? count : (counts[status] ?? 0)
  const total = amountEuros === undefined ? '' : ` · ${formatPlainEuros(amountEuros)}${isMinimum ? '+' : ''}`
  return `Total: ${countText(listed, isMinimum)}${total}`
}
