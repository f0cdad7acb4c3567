import type { AnyOperation } from '../../../kernel/contract/operation.ts'
import { Refusal, RefusedError } from '../../../kernel/contract/problem.ts'
import { memberKind, type Row } from '../../../values/members.ts'
import { type Html, html } from '../../../web/html.ts'
import type { ConsolePage, ConsoleSection, ListItemOf, OperationAnswer, PageRequest } from '../page.ts'
import { type CreationFormSpec, renderRecordActions } from './actions.ts'
import { filteredListLink, renderRecordHistory } from './history.ts'
import { recordAddress } from './links.ts'
import {
  operationNoun,
  type RecordTab,
  readListPage,
  renderListPage,
  renderListRows,
  renderSectionCreation,
  type SectionSpec,
  sectionEvents,
  sectionTitle,
} from './list.ts'
import { readNamesInRows, readPaymentNames } from './names.ts'
import { renderBackLink, renderRecordHead, renderRecordMembers } from './record-page.ts'
import { renderBox } from './table.ts'
import { formatPlainEuros, renderText } from './text.ts'

interface Related {
  readonly title: string
  readonly params?: Readonly<Record<string, string>>
  readonly query?: Readonly<Record<string, string>>
  readonly limit?: number
  /** Shown without records. Without this text, an empty box is left out. */
  readonly empty?: string
  readonly create?: CreationFormSpec
  /** The list that has the records beyond the limit. */
  readonly section?: string
}

interface RecordSection extends ConsoleSection {
  related(related: Related, request: PageRequest): Promise<Html>
}

/** The record of the page. Without a page, it is an item of the list. */
type RecordOf<L extends AnyOperation, G extends AnyOperation> = [G] extends [never]
  ? ListItemOf<L>
  : OperationAnswer<G>

export function consoleSection<L extends AnyOperation, G extends AnyOperation = never>(
  typed: SectionSpec<ListItemOf<L>, RecordOf<L, G>> & { readonly list: L; readonly get?: G },
): RecordSection {
  const spec = typed as unknown as SectionSpec
  const { list, get } = spec
  return {
    title: sectionTitle(spec),
    needs: list,
    table: list,
    list: request => renderListPage(spec, request),
    ...(get && { record: request => recordPageOf(spec, get, request) }),
    related: (related, request) => relatedTo(spec, related, request),
  }
}

const RELATED = 10

async function relatedTo(
  spec: SectionSpec,
  { title, params = {}, query = {}, limit = RELATED, empty, create, section }: Related,
  request: PageRequest,
): Promise<Html> {
  if (!request.may(spec.list)) return html``
  const { data, hasMore } = await readListPage(spec, { params, query: { ...query, limit } }, request)
  if (data.length === 0 && empty === undefined) return html``
  const made = create && (await renderSectionCreation(spec, create, request))
  return renderBox(
    title,
    data.length > 0 ? renderListRows(spec, title, data, request, Object.keys(query)) : html`<p>${empty}</p>`,
    made,
    hasMore &&
      section !== undefined &&
      html`<p><a href="${filteredListLink(request, section, query)}">View all</a></p>`,
  )
}

/** The page of a record. It is rendered again after each event of the record. */
async function recordPageOf(
  spec: SectionSpec,
  get: AnyOperation,
  request: PageRequest,
): ReturnType<ConsolePage> {
  const { kind, command = `${spec.noun ?? operationNoun(get)} get`, section = request.section } = spec
  const record = (await request.ask(get, { params: { id: request.id } })) as Row
  const called = String((spec.name ? spec.name(record) : record.name) || kind)
  const name = withAmount(called, record.amountEuros)
  const tab = tabOf(spec, request)
  const content = await request.part({
    id: 'record',
    events: [...sectionEvents(spec), ...(tab?.events ?? [])],
    about: idsIn(record).join(' '),
    async make() {
      const state = spec.state ? spec.state(record, request) : record.status
      const [actions] = await Promise.all([
        renderRecordActions(spec.actions ?? [], record, spec.labels ?? {}, request),
        readNamesInRows([record], request),
        readPaymentNames(record, request),
      ])
      return html`${renderRecordHead({ name: renderText(name, 140), kind, operation: get, command, state: state as string | undefined, states: spec.states, workflowId: record.workflowId as string | null, actions }, request)}
${spec.tabs && renderRecordTabs(kind, spec.tabs, tab, request)}
${tab ? await tab.content(record, request) : await bodyOf(spec, get, record, request)}`
    },
  })
  const title = name === kind ? kind : `${kind}: ${name}`
  return {
    title: tab ? `${title}, ${tab.label}` : title,
    content: html`${renderBackLink(request, section.name, section.title)}
${content}`,
  }
}

/** Undefined for the overview. */
function tabOf({ tabs }: SectionSpec, { query }: PageRequest): RecordTab | undefined {
  if (!tabs || !query.tab) return undefined
  const tab = tabs.find(({ name }) => name === query.tab)
  if (tab) return tab
  const names = tabs.map(({ name }) => name).join(', ')
  throw new RefusedError(new Refusal(400, 'invalid_filter', `tab: must be one of ${names}.`))
}

function renderRecordTabs(
  kind: string,
  tabs: readonly RecordTab[],
  current: RecordTab | undefined,
  { id, to }: PageRequest,
): Html {
  const overview = to(recordAddress(id) ?? '')
  const line = (address: string, label: string, isCurrent: boolean): Html =>
    html`<li><a href="${address}"${isCurrent && html` aria-current="page"`}>${label}</a></li>`
  return html`<nav class="tabs within" aria-label="${kind}"><ul>${line(overview, 'Overview', current === undefined)}${tabs.map(
    tab => line(`${overview}?tab=${tab.name}`, tab.label, tab === current),
  )}</ul></nav>`
}

/** Adds the amount to the name: the page has no column for it, as the list does. */
function withAmount(name: string, amountEuros: unknown): string {
  const amount = typeof amountEuros === 'number' ? formatPlainEuros(amountEuros) : ''
  return name.includes(amount) ? name : `${amount} · ${name}`
}

/** Finds the ids to which a record refers. Events of these records render its page again, too. */
const idsIn = (record: Row): string[] =>
  Object.entries(record).flatMap(([name, value]) => (memberKind(name, value) === 'id' ? [String(value)] : []))

async function bodyOf(
  spec: SectionSpec,
  get: AnyOperation,
  record: Row,
  request: PageRequest,
): Promise<Html> {
  const { kind, note, boxes, below } = spec
  const [first, beside, after, past] = await Promise.all([
    note?.(record, request),
    boxes?.(record, request),
    below?.(record, request),
    spec.hasTimeline ? undefined : renderRecordHistory(request.id, request),
  ])
  const members = renderRecordMembers(kind, get, record, spec, request)
  return html`${first}
<div class="boxes">${members.boxes}${beside}</div>
${members.tables}${after}${past}`
}
