import { type Html, html } from '../../web/html.ts'
import { addressOf, type Book, type Chapter, EVENTS, OVERVIEW } from './book.ts'
import { eventsIn } from './event-groups.ts'
import { eventsChapter } from './events.ts'
import { guideSection, leadOf } from './guide.ts'
import type { Page, Reference } from './layout.ts'
import { operationSection } from './operation.ts'
import { quickstartSection } from './quickstart.ts'
import { recordSection } from './record.ts'
import { statesSection } from './states.ts'

/** How to begin, which sections there are, and what holds for every operation. */
export function overview({ book, guides, address }: Reference): Page {
  const { info } = book.document
  const content = html`
${hero(book, address.url)}
${quickstartSection(address.url)}
${sections(book)}
${guides.map(guideSection)}`
  return { section: OVERVIEW, title: `${info.title} API ${info.version}`, about: info.summary, content }
}

const hero = (book: Book, url: string): Html => html`
<section class="hero">
  <div>
    <h1>${book.document.info.title} API</h1>
    <p class="lead">${book.document.info.summary}</p>
    ${leadOf(book)}
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

const ABOUT_EVENTS = 'What happens to your records, as it is sent to addresses that have subscribed to it.'

function sections({ chapters, eventGroups }: Book): Html {
  const cards = [
    ...chapters.map(({ id, name, about, entries }) => ({ id, name, about, count: entries.length })),
    { id: EVENTS.id, name: EVENTS.title, about: ABOUT_EVENTS, count: eventsIn(eventGroups).length },
  ]
  return html`
<section class="guide" id="sections" aria-labelledby="sections-title">
  <h2 id="sections-title"><a href="#sections">Sections</a></h2>
  <ul class="cards">${cards.map(
    ({ id, name, about, count }) =>
      html`<li><a href="${addressOf(id)}">${name}</a> <span class="count">${count}</span><p>${about}</p></li>`,
  )}</ul>
</section>`
}

/** The operations of a noun, and the records that they return. */
export function chapterPage(book: Book, { id, name, about, states, records, entries }: Chapter): Page {
  const content = html`
<section class="chapter" aria-labelledby="${id}">
<h1 id="${id}">${name}</h1>
<p class="about">${about}</p>
${statesSection(states)}
${entries.map(entry => operationSection(book, entry))}
${records.map(record => recordSection(book, record))}
</section>`
  return { section: id, title: titleOf(book, name), about, content }
}

export const eventsPage = (book: Book): Page => ({
  section: EVENTS.id,
  title: titleOf(book, EVENTS.title),
  about: ABOUT_EVENTS,
  content: eventsChapter(book, ABOUT_EVENTS),
})

const titleOf = ({ document: { info } }: Book, name: string): string => `${name} · ${info.title} API`
