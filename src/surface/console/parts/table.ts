import { mccDescription } from '../../../control/merchants/index.ts'
import { commonTableMembers, isRecord, memberKind, type Row } from '../../../values/members.ts'
import { type Html, type HtmlContent, html } from '../../../web/html.ts'
import type { PageRequest } from '../page.ts'
import { recordAddress, renderRecordLink, renderRunLink } from './links.ts'
import type { MemberSchemas } from './schema.ts'
import {
  memberLabelText,
  noneText,
  renderEuros,
  renderStatus,
  renderText,
  renderTime,
  valueText,
} from './text.ts'

export interface MemberInfo {
  readonly members: MemberSchemas
  readonly labels?: Readonly<Record<string, string>>
  readonly shows?: Readonly<Record<string, (record: never, request: PageRequest) => HtmlContent>>
  /** The words of the trade for states: `completed` of a payment is `paid`. */
  readonly states?: StateWords
  /** Each row leads to a record: on a phone it is two lines, and the record has the rest. */
  readonly leadsToRecords?: boolean
}

export type StateWords = Readonly<Record<string, string>>

/** What a missing time means. */
const absences: Readonly<Record<string, Html>> = Object.fromEntries(
  [
    ['expiresAt', 'Never'],
    ['lastUsedAt', 'Never'],
    ['lastSpendAt', 'Not yet'],
    ['joinedAt', 'Not yet'],
  ].map(([member, text]) => [member, html`<span class="none">${text}</span>`]),
)

const nothingKnown: MemberInfo = { members: {} }

export const memberLabel = (member: string, { labels }: Pick<MemberInfo, 'labels'>): string =>
  labels?.[member] ?? memberLabelText(member)

export function renderValue(
  member: string,
  value: unknown,
  request: PageRequest,
  { members, states }: MemberInfo = nothingKnown,
  most?: number,
): HtmlContent {
  switch (memberKind(member, value)) {
    case 'none':
      return absences[member] ?? noneText
    case 'amount':
      return renderEuros(value as number)
    case 'number':
      return String(value)
    case 'flag':
      return value === true ? 'Yes' : 'No'
    case 'instant':
      return renderTime(value as string)
    case 'id':
      return member === 'workflowId'
        ? renderRunLink(request, value as string)
        : recordAddress(value as string) !== undefined
          ? renderRecordLink(request, value as string)
          : renderText(value as string, most)
    case 'list':
      return listed(value as readonly unknown[], request, members[member]?.items?.enum !== undefined, most)
    case 'text':
      if (member === 'status') return renderStatus(value as string, states)
      if (member === 'mcc') return categoryText(value as string)
      return renderText(members[member]?.enum ? valueText(value as string) : (value as string), most)
    default:
      return inner(value, request, most)
  }
}

/** `Hotels, motels and resorts (7011)` */
const categoryText = (mcc: string): string => {
  const description = mccDescription(mcc)
  return description === null ? mcc : `${description} (${mcc})`
}

const listed = (
  items: readonly unknown[],
  request: PageRequest,
  areChoices: boolean,
  most?: number,
): HtmlContent => {
  if (items.length === 0) return noneText
  const isLink = (item: unknown): item is string =>
    typeof item === 'string' && recordAddress(item) !== undefined
  if (items.every(isLink)) return html`${items.map(item => html`${renderRecordLink(request, item)} `)}`
  return renderText(items.map(item => (areChoices ? valueText(String(item)) : String(item))).join(', '), most)
}

/** Shows a record within a record by its text, by the record that it names, or by its address. */
function inner(value: unknown, request: PageRequest, most?: number): HtmlContent {
  if (!isRecord(value)) return html`<code>${JSON.stringify(value)}</code>`
  const { message, code, type, id, name } = value
  if (typeof message === 'string')
    return html`${renderText(message, most)}${typeof code === 'string' && html` <code>${code}</code>`}`
  if (typeof name === 'string') return renderText(name, most)
  if (typeof type === 'string')
    return html`${valueText(type)}${typeof id === 'string' && html` ${renderRecordLink(request, id)}`}`
  return html`<code>${JSON.stringify(value)}</code>`
}

const IN_A_LINE = ['message', 'code', 'type', 'id', 'name']

export const fitsInOneLine = (value: Row): boolean =>
  Object.keys(value).every(name => IN_A_LINE.includes(name))

type Shows<T> = (keyof T & string) | ((item: T, request: PageRequest) => HtmlContent)

interface Figure<T> {
  readonly figure: Shows<T>
}

export type TableColumns<T> = Readonly<Record<string, Shows<T> | Figure<T>>>

/** Columns in order: members, whose names give the headings, or columns with their own heading. */
export type TableColumnList<T> = readonly ((keyof T & string) | TableColumns<T>)[]

/**
 * On a narrow screen, a table whose rows lead to records has two lines a row. Any other becomes a list of cards
 * that repeat the headings.
 */
export function renderTable<T>(
  request: PageRequest,
  caption: string,
  items: readonly T[],
  columns: TableColumns<NoInfer<T>> | TableColumnList<NoInfer<T>>,
  known: MemberInfo = nothingKnown,
): Html {
  const listed = (
    Array.isArray(columns) ? (columns as TableColumnList<T>) : [columns as TableColumns<T>]
  ).flatMap(column =>
    typeof column === 'string'
      ? [cellOf<T>(memberLabel(column, known), column, known)]
      : Object.entries(column).map(([name, one]) => cellOf<T>(name, one, known)),
  )
  const cells = (known.leadsToRecords ? withPlaces(listed) : listed).map(cell => ({
    ...cell,
    style: classOf(cell),
  }))
  return html`<table${known.leadsToRecords === true && html` class="list"`}>
<caption class="unseen">${caption}</caption>
<thead><tr>${cells.map(({ name, style }) => html`<th scope="col"${style}>${name}</th>`)}</tr></thead>
<tbody>
${items.map(
  item => html`<tr>${cells.map(({ name, style, of }) => html`<td data-name="${name}"${style}><div>${of(item, request)}</div></td>`)}</tr>
`,
)}</tbody>
</table>`
}

interface Cell<T> {
  readonly name: string
  readonly of: (item: T, request: PageRequest) => HtmlContent
  readonly isFigure: boolean
  readonly member: string | undefined
  /** Where the cell is in the two lines of a row on a phone; the first of each kind has a place there. */
  readonly place?: string
}

const classOf = <T>({ isFigure, place }: Cell<T>): HtmlContent => {
  const classes = [isFigure && 'figure', place].filter(Boolean).join(' ')
  return classes !== '' && html` class="${classes}"`
}

function withPlaces<T>(cells: readonly Cell<T>[]): Cell<T>[] {
  const taken = new Set<string>()
  return cells.map((cell, index) => {
    const place = placeOf(cell, index)
    if (taken.has(place)) return { ...cell, place: 'wide-only' }
    taken.add(place)
    return { ...cell, place }
  })
}

function placeOf<T>({ name, isFigure, member }: Cell<T>, index: number): string {
  if (index === 0) return 'who'
  if (name === 'Action' || name === 'Download') return 'does'
  if (isFigure) return 'sum'
  if (member === 'status' || name === 'Status') return 'state'
  return member?.endsWith('At') ? 'when' : 'by'
}

const MOST = 100

function cellOf<T>(name: string, column: TableColumns<T>[string], known: MemberInfo): Cell<T> {
  const stated = typeof column === 'object' ? column.figure : column
  const shows =
    typeof stated === 'string' ? ((known.shows?.[stated] as Shows<T> | undefined) ?? stated) : stated
  const isFigure =
    typeof column === 'object' ||
    (typeof column === 'string' && (column.endsWith('Euros') || isNumber(known.members[column])))
  const of = (item: T, request: PageRequest): HtmlContent =>
    typeof shows === 'string' ? renderValue(shows, item[shows], request, known, MOST) : shows(item, request)
  return { name, of, isFigure, member: typeof stated === 'string' ? stated : undefined }
}

const isNumber = (schema: MemberSchemas[string] | undefined): boolean =>
  schema?.type === 'number' || schema?.type === 'integer'

const FEW = 6

export const informativeMembers = (rows: readonly Row[]): string[] =>
  commonTableMembers(rows)
    .filter(name => !OMITTED_MEMBERS.has(name))
    .slice(0, FEW)

/** Pages omit these members: the head shows the id, and the others are equal in all records of an account. */
export const OMITTED_MEMBERS: ReadonlySet<string> = new Set([
  'id',
  'ownerId',
  'mode',
  'currency',
  'updatedAt',
])

export const renderFacts = (entries: readonly (readonly [name: HtmlContent, value: HtmlContent])[]): Html =>
  html`<dl>${entries.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>`

export const renderPresentFacts = (entries: readonly (readonly [name: string, value: HtmlContent])[]): Html =>
  renderFacts(entries.filter(([, value]) => value !== noneText))

export const renderBox = (heading: string, ...contents: readonly HtmlContent[]): Html =>
  html`<section class="box"><h2>${heading}</h2>${contents}</section>`
