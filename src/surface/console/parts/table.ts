import { type Content, type Html, html } from '../../../web/html.ts'
import type { PageRequest } from '../page.ts'
import { recordLink } from './links.ts'
import { euros, none, status, text, time } from './text.ts'

/** A member of a record, as its name says: an amount, a state, an instant, another record; all else is a text. */
function shown(member: string, value: unknown, request: PageRequest, most?: number): Content {
  if (value === null || value === undefined) return none
  if (typeof value === 'number') return member.endsWith('Euros') ? euros(value) : value
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  const said = String(value)
  if (member === 'status') return status(said)
  if (member === 'at' || member.endsWith('At')) return time(said)
  return member.endsWith('Id') ? recordLink(request, said) : text(said, most)
}

/** What a cell shows: a member of the item by its name, or what is made of the item. */
type Shows<T> = (keyof T & string) | ((item: T, request: PageRequest) => Content)

/** A column of figures: they are aligned at their right end, as those of members that are called `…Euros` are. */
interface Figure<T> {
  readonly figure: Shows<T>
}

/** The columns of a table, by what stands above each. */
export type Columns<T> = Readonly<Record<string, Shows<T> | Figure<T>>>

/** A table that becomes a list of cards on a narrow screen: each cell knows what its column is called. */
export function table<T>(
  request: PageRequest,
  caption: string,
  items: readonly T[],
  columns: Columns<NoInfer<T>>,
): Html {
  const cells = Object.entries(columns).map(([name, column]) => cellOf(name, column))
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

/** A member of a cell is cut sooner than one that has a page to itself. */
const MOST = 100

function cellOf<T>(name: string, column: Columns<T>[string]) {
  const shows = typeof column === 'object' ? column.figure : column
  const isFigure = typeof column === 'object' || (typeof column === 'string' && column.endsWith('Euros'))
  const of = (item: T, request: PageRequest): Content =>
    typeof shows === 'string' ? shown(shows, item[shows], request, MOST) : shows(item, request)
  return { name, of, style: isFigure && html` class="figure"` }
}

/** What is known of a record: names and values. */
export const facts = (entries: readonly (readonly [name: Content, value: Content])[]): Html =>
  html`<dl>${entries.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>`

/** Of what is known of a record only what there is: nobody reads ten lines of `none`. */
export const knownFacts = (entries: readonly (readonly [name: string, value: Content])[]): Html =>
  facts(entries.filter(([, value]) => value !== none))

/** A part of a page under a heading. */
export const box = (heading: string, ...contents: readonly Content[]): Html =>
  html`<section class="box"><h2>${heading}</h2>${contents}</section>`
