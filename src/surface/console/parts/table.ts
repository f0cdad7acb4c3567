import { type Content, type Html, html } from '../../../web/html.ts'
import type { PageRequest } from '../page.ts'
import { none } from './text.ts'

export interface Column<T> {
  readonly name: string
  readonly of: (item: T, request: PageRequest) => Content
  /** Figures are aligned at their right end. */
  readonly isFigure?: boolean
}

/** A table that becomes a list of cards on a narrow screen: each cell knows what its column is called. */
export const table = <T>(
  columns: readonly Column<T>[],
  items: readonly T[],
  request: PageRequest,
  caption: string,
): Html => html`<table>
<caption class="unseen">${caption}</caption>
<thead><tr>${columns.map(({ name, isFigure }) => html`<th scope="col"${isFigure === true && html` class="figure"`}>${name}</th>`)}</tr></thead>
<tbody>
${items.map(
  item => html`<tr>${columns.map(column => cell(column, item, request))}</tr>
`,
)}</tbody>
</table>`

const cell = <T>({ name, of, isFigure }: Column<T>, item: T, request: PageRequest): Html =>
  html`<td data-name="${name}"${isFigure === true && html` class="figure"`}><div>${of(item, request)}</div></td>`

/** What is known of a record: names and values. */
export const facts = (entries: readonly (readonly [name: Content, value: Content])[]): Html =>
  html`<dl>${entries.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>`

/** Of what is known of a record only what there is: nobody reads ten lines of `none`. */
export const knownFacts = (entries: readonly (readonly [name: string, value: Content])[]): Html =>
  facts(entries.filter(([, value]) => value !== none))

/** A part of a page under a heading. */
export const box = (heading: string, ...contents: readonly Content[]): Html =>
  html`<section class="box"><h2>${heading}</h2>${contents}</section>`
