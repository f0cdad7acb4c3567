import type { AnyOperation } from '../../../kernel/contract/operation.ts'
import { type Refusal, Refused } from '../../../kernel/contract/problem.ts'
import { type Content, type Html, html } from '../../../web/html.ts'
import type { ItemOf, Page, PageRequest, Section } from '../page.ts'
import { field } from './form.ts'
import { copyable } from './links.ts'
import { choicesFor, type Kind, readNames } from './names.ts'
import { queryMembers } from './schema.ts'
import { type Columns, table } from './table.ts'

type Address = Readonly<Record<string, string | number | undefined>>

/** The names of the parameters in an operation's path. */
const parametersIn = ({ path }: AnyOperation): string[] =>
  [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name)

/** What a list is asked by: its address holds the parameters of the path beside the filters. */
export function questionOf(operation: AnyOperation, address: Address) {
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

interface ListSpec<O extends AnyOperation> {
  readonly title: string
  readonly lead?: string
  readonly operation: O
  readonly columns: Columns<ItemOf<O>>
  /** The filters that have a field; others in the address hold as well. */
  readonly filters?: readonly string[]
  readonly labels?: Readonly<Record<string, string>>
  /** Filters that hold where the address names none. */
  readonly preset?: Readonly<Record<string, string>>
  /** What stands in the address for other parts of the page. */
  readonly ignored?: readonly string[]
  /** What an empty list says, and the call that makes its first record. */
  readonly empty: { readonly words: string; readonly command?: string }
  /** The events at which the list is made again. */
  readonly events: readonly string[]
  /** What stands above the list: what may be created. */
  readonly above?: (request: PageRequest) => Promise<Content> | Content
  /** Records of these kinds are called by their names in the columns, and chosen by them in the filters. */
  readonly names?: readonly Kind[]
  /** What else is read before the columns are made. */
  readonly prepare?: (items: readonly ItemOf<O>[], request: PageRequest) => Promise<void>
}

/** The section of a list: filters in the address, a page by cursor, what to do where there is nothing, and its CSV. */
export const listPage = <O extends AnyOperation>(spec: ListSpec<O>) =>
  ({
    title: spec.title,
    needs: spec.operation,
    table: spec.operation,
    list: request => pageOf(spec, request),
  }) satisfies Section

async function pageOf<O extends AnyOperation>(spec: ListSpec<O>, request: PageRequest): ReturnType<Page> {
  const { title, lead, above, events } = spec
  let refusal: Refusal | undefined
  const make = () =>
    rowsOf(spec, request).catch(error => {
      refusal = refusalOf(error)
      return html`<p class="refusal" role="alert">${refusal.message}</p>`
    })
  const rows = await request.part({ id: 'list', events, make })
  return {
    title,
    content: html`<h1>${title}</h1>
${lead !== undefined && html`<p class="lead">${lead}</p>`}
<div class="actions">${above && (await above(request))} ${await filterForm(spec, request)}</div>
${rows}`,
    ...(refusal && { refusal }),
  }
}

/** The refusal of a filter, which is told above the list; what else goes wrong is no matter of the list. */
function refusalOf(error: unknown): Refusal {
  if (error instanceof Refused && error.refusal.status === 400) return error.refusal
  throw error
}

async function rowsOf<O extends AnyOperation>(spec: ListSpec<O>, request: PageRequest): Promise<Html> {
  const { operation, columns, title, preset, names = [], prepare } = spec
  const query = { ...preset, ...filtersOf(spec, request) }
  const answer = await request.ask(operation as AnyOperation, questionOf(operation, query))
  const { data, nextCursor } = answer as ListAnswer<ItemOf<O>>
  if (data.length === 0) return emptyState(spec, request)
  await Promise.all([readNames(request, ...names), prepare?.(data, request)])
  return html`${table(request, title, data, columns)}${footOf(spec, nextCursor, request)}`
}

/** What of the address is for the list. */
const filtersOf = <O extends AnyOperation>(
  { ignored = [] }: Pick<ListSpec<O>, 'ignored'>,
  { query }: PageRequest,
): Record<string, string> =>
  Object.fromEntries(Object.entries(query).filter(([name]) => !ignored.includes(name)))

/** The parameters of the path that stand in the address: what they name has a list of its own. */
const parametersOf = (operation: AnyOperation, { query }: PageRequest): [name: string, value: string][] =>
  parametersIn(operation).map(name => [name, query[name] ?? ''])

const unfiltered = (operation: AnyOperation, request: PageRequest): string =>
  `?${new URLSearchParams(parametersOf(operation, request))}`

function emptyState<O extends AnyOperation>(spec: ListSpec<O>, request: PageRequest): Html {
  const { operation, empty } = spec
  const { words, command } = empty
  const isFiltered = Object.keys(filtersOf(spec, request)).length > parametersIn(operation).length
  if (isFiltered)
    return html`<p class="empty">Nothing matches. <a href="${unfiltered(operation, request)}">Show all</a></p>`
  return html`<div class="empty"><p>${words}</p>${command !== undefined && html`<p>${copyable(command)}</p>`}</div>`
}

function footOf<O extends AnyOperation>(
  spec: ListSpec<O>,
  nextCursor: string | null,
  request: PageRequest,
): Html {
  const { to, section } = request
  const { cursor, ...filters } = filtersOf(spec, request)
  const csv = `${to(`console/csv/${section.name}`)}?${new URLSearchParams(filters)}`
  const first = `?${new URLSearchParams(filters)}`
  return html`<nav class="pages" aria-label="Pages of the list">
${cursor !== undefined && html`<a href="${first}">First page</a>`}
${nextCursor !== null && html`<a rel="next" href="?${new URLSearchParams({ ...filters, cursor: nextCursor }).toString()}">Next page</a>`}
<a class="aside" href="${csv}" download>CSV</a>
</nav>`
}

async function filterForm<O extends AnyOperation>(spec: ListSpec<O>, request: PageRequest): Promise<Content> {
  const { filters = [], labels = {}, operation, names = [] } = spec
  if (filters.length === 0) return html``
  const members = queryMembers(operation)
  const choices = await choicesFor(filters, names, request)
  const isOpen = filters.some(name => request.query[name] !== undefined)
  return html`<details class="filters"${isOpen && html` open`}><summary>Filter</summary>
<form method="get">
${parametersOf(operation, request).map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`)}
${filters.map(name => field(`filter-${name}`, name, { ...members[name], default: undefined }, { values: request.query, labels, choices }))}
<button type="submit">Show</button> <a href="${unfiltered(operation, request)}">Show all</a>
</form></details>`
}
