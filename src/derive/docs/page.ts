import { type Html, html } from '../../web/html.ts'
import { referencedName, schemaExample } from '../openapi/example.ts'
import type { StateMachines } from '../openapi/types.ts'
import {
  type DocsBook,
  type DocsChapter,
  docsSectionAddress,
  EVENTS_SECTION,
  jsonMediaType,
  type OperationEntry,
  OVERVIEW_SECTION,
} from './book.ts'
import { eventsOfGroups } from './event-groups.ts'
import { renderEventsChapter } from './events.ts'
import { descriptionLead, renderDescriptionSection } from './guide.ts'
import type { DocsPage, DocsReference } from './layout.ts'
import { renderMarkdown } from './markdown.ts'
import { renderMembers } from './members.ts'
import { renderOperationSection } from './operation.ts'
import { renderCodePanel } from './panel.ts'
import { printJson } from './print.ts'
import { quickstartSection } from './quickstart.ts'

export function overviewPage({ book, guides, address }: DocsReference): DocsPage {
  const { info } = book.document
  const content = html`
${hero(book, address.url)}
${quickstartSection(address.url)}
${sections(book)}
${guides.map(renderDescriptionSection)}`
  return {
    section: OVERVIEW_SECTION,
    title: `${info.title} API ${info.version}`,
    about: info.summary,
    content,
  }
}

const hero = (book: DocsBook, url: string): Html => html`
<section class="hero">
  <div>
    <h1>${book.document.info.title} API</h1>
    <p class="lead">${book.document.info.summary}</p>
    ${descriptionLead(book)}
  </div>
  <dl class="facts">
    <div><dt>Address</dt><dd><code>${url}</code></dd></div>
    <div><dt>Credential</dt><dd><code>Authorization: Bearer …</code></dd></div>
    <div><dt>Bodies</dt><dd>JSON, in both directions</dd></div>
    <div><dt>Data</dt><dd>kept in the EU</dd></div>
    <div><dt>Compared</dt><dd><a href="/docs/guides/compared">with what you use today</a></dd></div>
    <div><dt>For programs</dt><dd><a href="/openapi.json">OpenAPI 3.1</a></dd></div>
  </dl>
</section>`

const ABOUT_EVENTS = 'Changes of your records, which are sent to the addresses that subscribe to them.'

function sections({ chapters, eventGroups }: DocsBook): Html {
  const cards = [
    ...chapters.map(({ id, name, about, entries }) => ({ id, name, about, count: entries.length })),
    {
      id: EVENTS_SECTION.id,
      name: EVENTS_SECTION.title,
      about: ABOUT_EVENTS,
      count: eventsOfGroups(eventGroups).length,
    },
  ]
  return html`
<section class="guide" id="sections" aria-labelledby="sections-title">
  <h2 id="sections-title"><a href="#sections">Sections</a></h2>
  <ul class="cards">${cards.map(
    ({ id, name, about, count }) =>
      html`<li><a href="${docsSectionAddress(id)}">${name}</a> <span class="count">${count}</span><p>${about}</p></li>`,
  )}</ul>
</section>`
}

export function chapterPage(
  book: DocsBook,
  { id, name, about, states, records, entries }: DocsChapter,
): DocsPage {
  const content = html`
<section class="chapter" aria-labelledby="${id}">
<h1 id="${id}">${name}</h1>
<p class="about">${about}</p>
${statesSection(states)}
${entries.map(entry => renderOperationSection(book, entry))}
${records.map(record => recordSection(book, record))}
</section>`
  return { section: id, title: titleOf(book, name), about, content }
}

export const eventsPage = (book: DocsBook): DocsPage => ({
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
