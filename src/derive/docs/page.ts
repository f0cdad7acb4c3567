import { type Html, html } from '../../web/html.ts'
import { groupCards, guidesByOperation } from '../guides/guide-pages.ts'
import type { Guides } from '../guides/guides.ts'
import { referencedName, schemaExample } from '../openapi/example.ts'
import type { StateMachines } from '../openapi/types.ts'
import {
  type DocsBook,
  type DocsChapter,
  type DocsPlace,
  docsSectionAddress,
  EVENTS_SECTION,
  jsonMediaType,
  type OperationEntry,
  OVERVIEW_SECTION,
  operationSection,
} from './book.ts'
import { renderEventsChapter } from './events.ts'
import { descriptionLead, renderDescriptionSection } from './guide.ts'
import type { DocsPage, DocsReference } from './layout.ts'
import { renderMarkdown } from './markdown.ts'
import { renderMembers } from './members.ts'
import { QUICKSTART_ADDRESS } from './navigation.ts'
import { renderMethod, renderOperation } from './operation.ts'
import { renderCodePanel } from './panel.ts'
import { DOCS_PARTS, MOST_USED } from './parts.ts'
import { printJson } from './print.ts'
import { quickstartSection } from './quickstart.ts'

export function overviewPage({ book, address }: DocsReference, manual: Guides): DocsPage {
  const { info } = book.document
  const content = html`
${hero(book)}
${quickstartSection(address.url)}
<section class="guide">${manual.groups.filter(({ part }) => part === 'start').map(groupCards)}</section>`
  return {
    part: 'start',
    section: OVERVIEW_SECTION,
    title: `${info.title} documentation`,
    about: info.summary,
    content,
  }
}

const PART_CARDS = [
  { address: QUICKSTART_ADDRESS, ...DOCS_PARTS.start },
  ...(['guides', 'api', 'operate'] as const).map(name => ({
    address: docsSectionAddress(DOCS_PARTS[name].section),
    ...DOCS_PARTS[name],
  })),
]

const hero = (book: DocsBook): Html => html`
<section class="hero guide">
  <h1>${book.document.info.title}</h1>
  <p class="lead">${book.document.info.summary}</p>
  ${descriptionLead(book)}
  <ul class="cards">${PART_CARDS.map(
    ({ address, title, about }) => html`<li><a href="${address}">${title}</a><p>${about}</p></li>`,
  )}</ul>
</section>`

export function apiPage({ book, guides, address }: DocsReference): DocsPage {
  const used = MOST_USED.flatMap(key => book.entries.find(entry => entry.key === key) ?? [])
  const content = html`
<section class="guide">
  <h1>API</h1>
  <p class="about">${DOCS_PARTS.api.about}</p>
  <dl class="facts">
    <div><dt>Address</dt><dd><code>${address.url}</code></dd></div>
    <div><dt>Credential</dt><dd><code>Authorization: Bearer …</code></dd></div>
    <div><dt>Bodies</dt><dd>JSON, in both directions</dd></div>
    <div><dt>Data</dt><dd>kept in the EU</dd></div>
    <div><dt>For programs</dt><dd><a href="/openapi.json">OpenAPI 3.1</a> <a href="/llms.txt">llms.txt</a></dd></div>
  </dl>
  <h2 id="most-used"><a href="#most-used">Used most</a></h2>
  ${operationTable(book, used)}
</section>
<section class="guide" id="sections">
  <h2><a href="#sections">All operations</a></h2>
  ${book.places.map(place => placeCards(place))}
</section>
${guides.map(renderDescriptionSection)}`
  return {
    part: 'api',
    section: DOCS_PARTS.api.section,
    title: titleOf(book, 'How the API works'),
    about: DOCS_PARTS.api.about,
    content,
  }
}

const placeCards = ({ id, title, about, chapters }: DocsPlace): Html => html`
<h3 id="place-${id}">${title} <small>${about}</small></h3>
<ul class="cards">${chapters.map(
  chapter =>
    html`<li><a href="${docsSectionAddress(chapter.id)}">${chapter.name}</a> <span class="count">${chapter.entries.length}</span><p>${chapter.about}</p></li>`,
)}</ul>`

/** The anchors are those of the time when a chapter showed its operations in full. */
const operationTable = (book: DocsBook, entries: readonly OperationEntry[], hasAnchors = false): Html => html`
<ul class="operations">${entries.map(
  ({ key, method, path, operation }) =>
    html`<li${hasAnchors && html` id="${key}"`}><a href="${book.href(key)}">${operation.summary}</a> <span>${renderMethod(method)} <code>${path}</code></span></li>`,
)}</ul>`

const ABOUT_EVENTS = 'Changes of your records, which are sent to the addresses that subscribe to them.'

export function chapterPage(
  book: DocsBook,
  { id, name, about, states, records, entries, place }: DocsChapter,
): DocsPage {
  const content = html`
<section class="chapter" aria-labelledby="${id}">
<p class="trail"><a href="${docsSectionAddress(DOCS_PARTS.api.section)}">API</a> / ${place.title}</p>
<h1 id="${id}">${name}</h1>
<p class="about">${about}</p>
${operationTable(book, entries, true)}
${statesSection(states)}
${records.map(record => recordSection(book, record))}
</section>`
  return { part: 'api', section: id, title: titleOf(book, name), about, content }
}

/** A page for each operation, with the guides that name it. */
export function operationPages(book: DocsBook, manual: Guides): DocsPage[] {
  const guides = guidesByOperation(book, manual)
  return book.chapters.flatMap(chapter =>
    chapter.entries.map(entry => ({
      part: 'api' as const,
      section: operationSection(entry.key),
      title: titleOf(book, entry.operation.summary),
      about: `${entry.method} ${entry.path}`,
      content: renderOperation(book, entry, chapter, guides.get(entry) ?? []),
    })),
  )
}

export const eventsPage = (book: DocsBook): DocsPage => ({
  part: 'api',
  section: EVENTS_SECTION.id,
  title: titleOf(book, EVENTS_SECTION.title),
  about: ABOUT_EVENTS,
  content: renderEventsChapter(book, ABOUT_EVENTS),
})

const titleOf = ({ document: { info } }: DocsBook, name: string): string => `${name} · ${info.title} API`

function recordSection(book: DocsBook, name: string): Html {
  const schema = book.document.components.schemas[name] ?? {}
  return html`
<section class="split record" id="record.${name}" aria-labelledby="record.${name}-title">
  <div class="text">
    <h2 id="record.${name}-title"><a href="#record.${name}">${name}</a> <small>record</small></h2>
    ${schema.description && renderMarkdown(schema.description)}
    ${renderMembers(book, schema, 'returned')}
  </div>
  <div class="code">${renderCodePanel(name, printJson(exampleFor(book, name)), 'json')}</div>
</section>`
}

function exampleFor(book: DocsBook, name: string): unknown {
  const returned = book.entries.flatMap(entry => returnedBy(entry, name))
  const { schemas } = book.document.components
  return returned[0] ?? schemaExample(schemas[name] ?? {}, schemas)
}

function returnedBy({ success: [, response] }: OperationEntry, name: string): unknown[] {
  const { schema, example } = jsonMediaType(response) ?? {}
  if (schema?.$ref && referencedName(schema.$ref) === name) return [example]
  const items = schema?.properties?.data?.items
  return items?.$ref && referencedName(items.$ref) === name ? (example as { data: unknown[] }).data : []
}

const statesSection = (states: StateMachines): Html =>
  html`${Object.entries(states).map(
    ([noun, table]) => html`
<figure class="states">
  <figcaption>The states of ${article(noun)} ${noun}</figcaption>
  <ol>${Object.entries(table).map(step)}</ol>
</figure>`,
  )}`

const step = ([from, next]: [string, readonly string[]], index: number): Html => html`
<li><b class="state">${from}</b>${index === 0 && html` <small>at first</small>`}
${next.length > 0 ? html`<span class="becomes">becomes</span> ${next.map(one => html`<span class="state">${one}</span> `)}` : html`<small>for good</small>`}</li>`

const article = (noun: string): string => (/^[aeiou]/.test(noun) ? 'an' : 'a')
