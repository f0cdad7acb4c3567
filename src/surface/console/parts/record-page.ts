import type { AnyOperation } from '../../../kernel/contract/operation.ts'
import { isRecord, memberKind, type Row } from '../../../values/members.ts'
import { type Html, type HtmlContent, html } from '../../../web/html.ts'
import type { PageRequest } from '../page.ts'
import type { RecordActions } from './actions.ts'
import { renderIcon } from './icons.ts'
import { renderCopyButton } from './links.ts'
import { answerMemberSchemas } from './schema.ts'
import {
  fitsInOneLine,
  informativeMembers,
  type MemberInfo,
  memberLabel,
  OMITTED_MEMBERS,
  renderBox,
  renderFacts,
  renderTable,
  renderValue,
  type StateWords,
} from './table.ts'
import { renderStatus, renderText } from './text.ts'

interface RecordHead {
  readonly name: HtmlContent
  readonly kind: string
  readonly state?: string | undefined
  readonly states?: StateWords | undefined
  readonly operation: AnyOperation
  readonly command: string
  readonly workflowId?: string | null
  readonly actions?: RecordActions
}

/** Title and state, the actions, and a menu of further actions and what developers need: the id, the JSON, the command, the run. */
export function renderRecordHead(head: RecordHead, request: PageRequest): Html {
  const { name, kind, state, states, operation, command, workflowId, actions } = head
  const { id, to } = request
  const json = to(operation.path.replace(/\{\w+\}/, encodeURIComponent(id)).slice(1))
  const further = actions?.inMenu ?? []
  return html`<div class="head"><h1>${name} ${state !== undefined && renderStatus(state, states)}</h1>
<div class="actions">${actions?.beside}<button type="button" class="plain dots" popovertarget="record-menu" aria-label="More about this ${kind.toLowerCase()}">${renderIcon('more')}</button></div>
<div id="record-menu" class="menu" popover>
${further.length > 0 && html`<ul>${further.map(({ button }) => html`<li>${button}</li>`)}</ul>`}
<ul>
<li>${renderCopyButton(id, html`Copy ID <code>${id}</code>`)}</li>
<li><a href="${json}">View JSON</a></li>
<li>${renderCopyButton(`agentpay ${command} ${id}`, 'Copy CLI command')}</li>
${workflowId && html`<li>${runItem(workflowId, request)}</li>`}
</ul></div>
${further.map(({ dialog }) => dialog)}</div>`
}

function runItem(workflowId: string, { service }: PageRequest): Html {
  const address = service.runUrl(workflowId)
  return address === null
    ? renderCopyButton(workflowId, 'Copy workflow ID')
    : html`<a href="${address}" rel="noreferrer" target="_blank">Run in Temporal</a>`
}

export const renderBackLink = ({ to }: PageRequest, section: string, title: string): Html =>
  html`<nav class="crumbs" aria-label="Breadcrumb"><a href="${to(`console/${section}`)}">${title}</a></nav>`

export interface MembersSpec<R> {
  readonly labels?: Readonly<Record<string, string>>
  /** How to show members that need more than their value, and facts that are not members. */
  readonly shows?: Readonly<Record<string, (record: R, request: PageRequest) => HtmlContent>>
  readonly hidden?: readonly string[]
}

const IN_HEAD = ['name', 'status', 'workflowId']

/** In characters. A record's own page has room for a long text. */
const MOST = 3_000

const isThere = (value: unknown): boolean =>
  memberKind('', value) !== 'none' && (typeof value !== 'object' || Object.keys(value ?? {}).length > 0)

type Member = readonly [name: string, value: unknown]

/** Shows all members of a record in the order of the contract: inner records as boxes, lists of records as tables. */
export function renderRecordMembers(
  kind: string,
  operation: AnyOperation,
  record: Row,
  { labels = {}, shows = {}, hidden = [] }: MembersSpec<Row>,
  request: PageRequest,
): { readonly boxes: Html; readonly tables: Html } {
  const known: MemberInfo = { members: answerMemberSchemas(operation), labels }
  const members = Object.entries(record).filter(
    ([name, value]) =>
      (shows[name] !== undefined || isThere(value)) &&
      !OMITTED_MEMBERS.has(name) &&
      !IN_HEAD.includes(name) &&
      !hidden.includes(name),
  )
  const placeOf = ([name, value]: Member): 'lines' | 'boxes' | 'tables' => {
    if (shows[name]) return 'lines'
    if (isRecord(value)) return fitsInOneLine(value) ? 'lines' : 'boxes'
    return memberKind(name, value) === 'records' ? 'tables' : 'lines'
  }
  const { lines = [], boxes = [], tables = [] } = Object.groupBy(members, placeOf)
  const shownOf = (name: string, value?: unknown): HtmlContent =>
    shows[name] ? shows[name](record, request) : renderValue(name, value, request, known, MOST)
  const added = Object.keys(shows).filter(name => !(name in record))
  const entries = [
    ...lines.map(([name, value]) => [memberLabel(name, known), shownOf(name, value)] as const),
    ...added.map(name => [name, shownOf(name)] as const),
  ].filter(([, content]) => content !== false && content !== null)
  return {
    boxes: html`${renderBox(kind, renderFacts(entries))}${boxes.map(member => innerBox(member, known, request))}`,
    tables: html`${tables.map(member => rowsBox(member, known, request))}`,
  }
}

const nestedInfo = (name: string, { members, labels }: MemberInfo): MemberInfo => ({
  members: members[name]?.properties ?? members[name]?.items?.properties ?? {},
  ...(labels && { labels }),
})

function innerBox([name, value]: Member, around: MemberInfo, request: PageRequest): Html {
  const known = nestedInfo(name, around)
  // Without members in the contract, the owner chose the names, so they are shown unchanged.
  const isFree = Object.keys(known.members).length === 0
  const nameIn = (member: string): HtmlContent => (isFree ? renderText(member) : memberLabel(member, known))
  const entries = Object.entries(value as Row).map(
    ([member, one]) => [nameIn(member), renderValue(member, one, request, known, MOST)] as const,
  )
  return renderBox(memberLabel(name, around), renderFacts(entries))
}

function rowsBox([name, value]: Member, around: MemberInfo, request: PageRequest): Html {
  const rows = value as readonly Row[]
  const title = memberLabel(name, around)
  return renderBox(
    title,
    renderTable(request, title, rows, informativeMembers(rows), nestedInfo(name, around)),
  )
}
