import { type Html, html } from '../../web/html.ts'
import type { DocsPage } from './layout.ts'
import { SEARCH_SECTION } from './layout.ts'
import { renderMethod } from './operation.ts'
import { createSearch, type Found, type FoundPage, type Search, type SearchDocument } from './search.js'

/** Pages that are rendered before their query is known. They are no addresses. */
export const TEMPLATES = ['search', 'missing'] as const

export type DocsTemplate = (typeof TEMPLATES)[number]

/** What the search reads, beside the templates. */
export const DOCUMENTS = 'documents'

/** Stand for the query and its results. */
const SLOTS = { query: '{{query}}', results: '{{results}}' } as const

export const templatePage = (name: DocsTemplate, title: string): DocsPage =>
  name === 'search' ? searchPage(title) : missingPage(title)

const searchPage = (title: string): DocsPage => ({
  part: 'start',
  section: SEARCH_SECTION,
  title: `Search · ${title}`,
  about: 'Pages, operations, settings and error codes by their words.',
  query: SLOTS.query,
  content: html`
<section class="guide found">
  <h1>Search</h1>
  ${SLOTS.results}
</section>`,
})

const missingPage = (title: string): DocsPage => ({
  part: 'start',
  section: 'missing',
  title: `Page not found · ${title}`,
  about: 'There is no page at this address.',
  query: SLOTS.query,
  content: html`
<section class="guide found">
  <h1>Page not found</h1>
  <p class="about">The page has moved, or its name is misspelt. An error code that is not listed comes from another program, or from another version of this one.</p>
  ${SLOTS.results}
  <p>Or begin at the <a href="/docs">start</a>, the <a href="/docs/api">API</a> or the <a href="/docs/errors">error codes</a>.</p>
</section>`,
})

let prepared: { readonly documents: string; readonly search: Search } | undefined

/** Fills in a template for a query. Runs in a thread, which keeps its index. */
export function fillDocsTemplate(
  template: string,
  documents: string,
  query: string,
  within?: string,
): string {
  if (prepared?.documents !== documents)
    prepared = { documents, search: createSearch(JSON.parse(documents) as SearchDocument[]) }
  const found = prepared.search(query, within)
  return template
    .replace(SLOTS.results, () => renderFound(found, query).text)
    .replaceAll(SLOTS.query, () => html`${query}`.text)
}

function renderFound({ groups, count, isNearest }: Found, query: string): Html {
  if (query.trim() === '') return html`<p class="about">Type what you look for into the field above.</p>`
  return html`<p class="about" role="status">${foundWords(count, isNearest)} for “${query}”</p>
  ${groups.map(({ title, pages }) => html`<h2>${title}</h2><ul class="hits">${pages.map(hit)}</ul>`)}`
}

function foundWords(count: number, isNearest: boolean): string {
  if (count === 0) return 'Nothing found'
  if (isNearest) return 'Nothing has all words. The nearest pages'
  return count === 1 ? '1 result' : `${count} results`
}

const hit = ({ address, title, page, method, snippet }: FoundPage): Html => html`
<li><a href="${address}"><b>${title}</b> ${method && renderMethod(method)} <small>${page}</small></a>
<p>${snippet.map((piece, n) => (n % 2 === 1 ? html`<mark>${piece}</mark>` : piece))}</p></li>`
