import type { DocsQuery } from '../../kernel/contract/ports.ts'
import { type Html, html } from '../../web/html.ts'
import { SEARCH_SECTION, type ShownPage } from './layout.ts'
import { renderMethod } from './navigation.ts'
import { createSearch, type Found, type FoundPage, type Search, type SearchDocument } from './search.ts'

/** What the search reads. */
export interface SearchSource {
  readonly templates: Readonly<Record<DocsQuery['template'], string>>
  /** As JSON, which a thread gets in one piece. */
  readonly documents: string
}

/** Stand for the query and its results. */
const SLOTS = { query: '{{query}}', results: '{{results}}' } as const

/** Rendered before its query is known. */
export const searchPage = (title: string): ShownPage => ({
  part: 'start',
  section: SEARCH_SECTION,
  title: `Search · ${title}`,
  about: 'Pages, operations, settings and error codes by their words.',
  query: SLOTS.query,
  content: html`
<h1>Search</h1>
<div class="found">${SLOTS.results}</div>`,
})

/** Rendered before the address that is missed is known. */
export const missingPage = (title: string): ShownPage => ({
  part: 'start',
  section: 'missing',
  title: `Page not found · ${title}`,
  about: 'There is no page at this address.',
  query: SLOTS.query,
  content: html`
<h1>Page not found</h1>
<p>The page has moved, or its name is misspelt. An error code that is not listed comes from another program, or from another version of this one.</p>
<div class="found">${SLOTS.results}</div>
<p>Or begin at the <a href="/docs">start</a>, the <a href="/docs/api">API</a> or the <a href="/docs/errors">error codes</a>.</p>`,
})

let prepared: { readonly search: Search; readonly templates: SearchSource['templates'] } | undefined

/**
 * Renders the page of results. Runs in a thread, which keeps the index of the one documentation that its process
 * serves: undefined if the thread is new, and needs the source with the query.
 */
export function searchDocs(
  { template, words, within }: DocsQuery,
  source: SearchSource | null,
): string | undefined {
  if (source)
    prepared ??= {
      search: createSearch(JSON.parse(source.documents) as SearchDocument[]),
      templates: source.templates,
    }
  if (!prepared) return undefined
  const found = prepared.search(words, within)
  return prepared.templates[template]
    .replace(SLOTS.results, () => renderFound(found, words).text)
    .replaceAll(SLOTS.query, () => html`${words}`.text)
}

function renderFound({ groups, count, isNearest }: Found, query: string): Html {
  if (query.trim() === '') return html`<p>Type what you look for into the field above.</p>`
  return html`<p role="status">${foundWords(count, isNearest)} for “${query}”</p>
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
