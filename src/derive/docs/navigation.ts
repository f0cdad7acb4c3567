import { type Html, html } from '../../web/html.ts'
import { GUIDES, type Guides, guideAddress } from '../guides/guides.ts'
import { addressOf, type Book, type Chapter, type Entry, EVENTS, OVERVIEW } from './book.ts'
import { eventsIn } from './event-groups.ts'
import type { Guide } from './guide.ts'
import { method } from './operation.ts'
import { REFUSALS } from './refusals.ts'

interface Contents {
  readonly book: Book
  readonly guides: readonly Guide[]
  readonly manual: Guides
}

/** Builds the contents that the hundreds of refusal pages share only once. */
export function navigationOf(contents: Contents): (section: string) => Html {
  const beside = navigation(contents, REFUSALS.id)
  return section => (section.startsWith(REFUSALS.id) ? beside : navigation(contents, section))
}

const navigation = ({ book, guides, manual }: Contents, section: string): Html => html`
<nav id="menu" aria-label="Contents">
  <div class="top">
    <a class="close" href="#content">Close</a>
    <div class="search" role="search">
      <label for="search">Search</label>
      <input id="search" type="search" placeholder="Operations, guides, codes" autocomplete="off" spellcheck="false" aria-describedby="found">
      <kbd aria-hidden="true">/</kbd>
    </div>
    <p id="found" role="status"></p>
  </div>
  <ul class="list" id="results" aria-label="Found" hidden></ul>
  <div class="list" id="contents">
    <ul class="guides">
      ${sectionLink(OVERVIEW, 'Overview', section)}
      ${[QUICKSTART, ...guides].map(
        ({ id, title }) => html`<li><a href="${book.href(id)}">${title}</a></li>`,
      )}
      ${guideLinks(manual, section)}
      ${sectionLink(REFUSALS.id, REFUSALS.title, section)}
    </ul>
    <ul class="sections">
      ${book.chapters.map(chapter => chapterLinks(book, chapter, section))}
      ${eventLinks(book, section)}
    </ul>
  </div>
</nav>`

export const QUICKSTART = { id: 'quickstart', title: 'Pay something in three minutes' }

function guideLinks({ groups, files }: Guides, current: string): Html {
  const inside = html`<ul>${groups.map(
    group =>
      html`<li><span class="purpose">${group.title}</span><ul>${group.files.map(({ name, title }) => {
        const isCurrent = current === `${GUIDES.id}/${name}`
        return html`<li><a href="${guideAddress(name)}"${isCurrent && html` aria-current="page"`}>${title}</a></li>`
      })}</ul></li>`,
  )}</ul>`
  const isOpen = current === GUIDES.id || current.startsWith(`${GUIDES.id}/`)
  return sectionLink(GUIDES.id, GUIDES.title, current, files.length, isOpen ? inside : undefined)
}

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
