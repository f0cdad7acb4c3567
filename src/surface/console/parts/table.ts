import { isRecord, kindOf, type Row, tableMembers } from '../../../values/members.ts'
import { type Content, type Html, html } from '../../../web/html.ts'
import type { PageRequest } from '../page.ts'
import { addressOf, recordLink, runLink } from './links.ts'
import type { Members } from './schema.ts'
import { euros, label, none, status, text, time, words } from './text.ts'

export interface MemberInfo {
  readonly members: Members
  readonly labels?: Readonly<Record<string, string>>
  readonly shows?: Readonly<Record<string, (record: never, request: PageRequest) => Content>>
}

const nothingKnown: MemberInfo = { members: {} }

export const nameOfMember = (member: string, { labels }: Pick<MemberInfo, 'labels'>): string =>
  labels?.[member] ?? label(member)

export function display(
  member: string,
  value: unknown,
  request: PageRequest,
  { members }: MemberInfo = nothingKnown,
  most?: number,
): Content {
  switch (kindOf(member, value)) {
    case 'none':
      return none
    case 'amount':
      return euros(value as number)
    case 'number':
      return String(value)
    case 'flag':
      return value === true ? 'yes' : 'no'
    case 'instant':
      return time(value as string)
    case 'id':
      return member === 'workflowId'
        ? runLink(request, value as string)
        : addressOf(value as string) !== undefined
          ? recordLink(request, value as string)
          : text(value as string, most)
    case 'list':
      return listed(value as readonly unknown[], request, members[member]?.items?.enum !== undefined, most)
    case 'text':
      if (member === 'status') return status(value as string)
      return text(members[member]?.enum ? words(value as string) : (value as string), most)
    default:
      return inner(value, request, most)
  }
}

const listed = (
  items: readonly unknown[],
  request: PageRequest,
  areChoices: boolean,
  most?: number,
): Content => {
  if (items.length === 0) return none
  const isLink = (item: unknown): item is string => typeof item === 'string' && addressOf(item) !== undefined
  if (items.every(isLink)) return html`${items.map(item => html`${recordLink(request, item)} `)}`
  return text(items.map(item => (areChoices ? words(String(item)) : String(item))).join(', '), most)
}

/** Shows a record within a record by its text, by the record that it names, or by its address. */
function inner(value: unknown, request: PageRequest, most?: number): Content {
  if (!isRecord(value)) return html`<code>${JSON.stringify(value)}</code>`
  const { message, code, type, id, name } = value
  if (typeof message === 'string')
    return html`${text(message, most)}${typeof code === 'string' && html` <code>${code}</code>`}`
  if (typeof name === 'string') return text(name, most)
  if (typeof type === 'string')
    return html`${words(type)}${typeof id === 'string' && html` ${recordLink(request, id)}`}`
  return html`<code>${JSON.stringify(value)}</code>`
}

const IN_A_LINE = ['message', 'code', 'type', 'id', 'name']

export const fitsInLine = (value: Row): boolean => Object.keys(value).every(name => IN_A_LINE.includes(name))

type Shows<T> = (keyof T & string) | ((item: T, request: PageRequest) => Content)

interface Figure<T> {
  readonly figure: Shows<T>
}

export type Columns<T> = Readonly<Record<string, Shows<T> | Figure<T>>>

/** Columns in order: members, whose names give the headings, or columns with their own heading. */
export type ColumnList<T> = readonly ((keyof T & string) | Columns<T>)[]

/** On a narrow screen, the table becomes a list of cards, and each cell repeats its heading. */
export function table<T>(
  request: PageRequest,
  caption: string,
  items: readonly T[],
  columns: Columns<NoInfer<T>> | ColumnList<NoInfer<T>>,
  known: MemberInfo = nothingKnown,
): Html {
  const cells = (Array.isArray(columns) ? (columns as ColumnList<T>) : [columns as Columns<T>]).flatMap(
    column =>
      typeof column === 'string'
        ? [cellOf<T>(nameOfMember(column, known), column, known)]
        : Object.entries(column).map(([name, one]) => cellOf<T>(name, one, known)),
  )
  return html`<table>
<caption class="unseen">${caption}</caption>
<thead><tr>${cells.map(({ name, style }) => html`<th scope="col"${style}>${name}</th>`)}</tr></thead>
<tbody>
${items.map(
  item => html`<tr>${cells.map(({ name, style, of }) => html`<td data-name="${name}"${style}><div>${of(item, request)}</div></td>`)}</tr>
`,
)}</tbody>
</table>`
}

const MOST = 100

function cellOf<T>(name: string, column: Columns<T>[string], known: MemberInfo) {
  const stated = typeof column === 'object' ? column.figure : column
  const shows =
    typeof stated === 'string' ? ((known.shows?.[stated] as Shows<T> | undefined) ?? stated) : stated
  const isFigure =
    typeof column === 'object' ||
    (typeof column === 'string' && (column.endsWith('Euros') || isNumber(known.members[column])))
  const of = (item: T, request: PageRequest): Content =>
    typeof shows === 'string' ? display(shows, item[shows], request, known, MOST) : shows(item, request)
  return { name, of, style: isFigure && html` class="figure"` }
}

const isNumber = (schema: Members[string] | undefined): boolean =>
  schema?.type === 'number' || schema?.type === 'integer'

const FEW = 6

export const informativeMembers = (rows: readonly Row[]): string[] =>
  tableMembers(rows)
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

export const facts = (entries: readonly (readonly [name: Content, value: Content])[]): Html =>
  html`<dl>${entries.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>`

export const presentFacts = (entries: readonly (readonly [name: string, value: Content])[]): Html =>
  facts(entries.filter(([, value]) => value !== none))

export const box = (heading: string, ...contents: readonly Content[]): Html =>
  html`<section class="box"><h2>${heading}</h2>${contents}</section>`
