import { type Html, html } from '../../web/html.ts'
import { addressOf, type Book, type Chapter, type Entry, EVENTS, OVERVIEW } from './book.ts'
import { eventsIn } from './event-groups.ts'
import type { Guide } from './guide.ts'
import { method } from './operation.ts'

/** All sections, and what is in the one that is open; the script puts what a search has found in their place. */
export const navigation = (book: Book, guides: readonly Guide[], section: string): Html => html`
<nav id="menu" aria-label="Contents">
  <div class="top">
    <a class="close" href="#content">Close</a>
    <div class="search" role="search">
      <label for="search">Search</label>
      <input id="search" type="search" placeholder="Operations, events" autocomplete="off" spellcheck="false" aria-describedby="found">
      <kbd aria-hidden="true">/</kbd>
    </div>
    <p id="found" role="status"></p>
  </div>
  <ul class="list" id="results" aria-label="Found" hidden></ul>
  <div class="list" id="contents">
    <ul class="guides">
      ${sectionLink(OVERVIEW, 'Overview', section)}
      ${[{ id: 'quickstart', title: 'Quickstart' }, ...guides].map(
        ({ id, title }) => html`<li><a href="${book.href(id)}">${title}</a></li>`,
      )}
    </ul>
    <ul class="sections">
      ${book.chapters.map(chapter => chapterLinks(book, chapter, section))}
      ${eventLinks(book, section)}
    </ul>
  </div>
</nav>`

const sectionLink = (id: string, title: string, current: string, count?: number, inside?: Html): Html => html`
<li><a href="${addressOf(id)}"${id === current && html` aria-current="page"`}><span>${title}</span>${
  count !== undefined && html` <span class="count">${count}</span>`
}</a>${inside}</li>`

function chapterLinks(book: Book, { id, name, records, entries }: Chapter, current: string): Html {
  const inside = html`<ul>
    ${entries.map(entry => operationLink(book, entry))}
    ${records.map(record => html`<li><a class="record" href="${book.href(`record.${record}`)}">${record}</a></li>`)}
  </ul>`
  return sectionLink(id, name, current, entries.length, id === current ? inside : undefined)
}

function eventLinks(book: Book, current: string): Html {
  const events = eventsIn(book.eventGroups)
  const inside = html`<ul>
    <li><a href="${book.href(EVENTS.arriving)}">How an event arrives</a></li>
    ${events.map(({ id, name }) => html`<li><a class="event" href="${book.href(id)}">${name}</a></li>`)}
  </ul>`
  return sectionLink(
    EVENTS.id,
    EVENTS.title,
    current,
    events.length,
    EVENTS.id === current ? inside : undefined,
  )
}

const operationLink = (book: Book, { key, method: verb, operation }: Entry): Html =>
  html`<li><a class="operation" href="${book.href(key)}"><span>${operation.summary}</span> ${method(verb)}</a></li>`
