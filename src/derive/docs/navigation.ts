import { type Html, html } from '../../web/html.ts'
import { GUIDES_SECTION, type Guides, guideAddress } from '../guides/guides.ts'
import {
  type DocsBook,
  type DocsChapter,
  docsSectionAddress,
  EVENTS_SECTION,
  type OperationEntry,
  OVERVIEW_SECTION,
} from './book.ts'
import { eventsOfGroups } from './event-groups.ts'
import type { DescriptionSection } from './guide.ts'
import { renderMethod } from './operation.ts'
import { REFUSALS_SECTION } from './refusals.ts'

interface Contents {
  readonly book: DocsBook
  readonly guides: readonly DescriptionSection[]
  readonly manual: Guides
}

/** Builds the contents that the hundreds of refusal pages share only once. */
export function docsNavigation(contents: Contents): (section: string) => Html {
  const beside = navigation(contents, REFUSALS_SECTION.id)
  return section => (section.startsWith(REFUSALS_SECTION.id) ? beside : navigation(contents, section))
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
      ${sectionLink(OVERVIEW_SECTION, 'Overview', section)}
      ${[QUICKSTART_SECTION, ...guides].map(
        ({ id, title }) => html`<li><a href="${book.href(id)}">${title}</a></li>`,
      )}
      ${guideLinks(manual, section)}
      ${sectionLink(REFUSALS_SECTION.id, REFUSALS_SECTION.title, section)}
    </ul>
    <ul class="sections">
      ${book.chapters.map(chapter => chapterLinks(book, chapter, section))}
      ${eventLinks(book, section)}
    </ul>
  </div>
</nav>`

export const QUICKSTART_SECTION = { id: 'quickstart', title: 'Pay something in three minutes' }

function guideLinks({ groups, files }: Guides, current: string): Html {
  const inside = html`<ul>${groups.map(
    group =>
      html`<li><span class="purpose">${group.title}</span><ul>${group.files.map(({ name, title }) => {
        const isCurrent = current === `${GUIDES_SECTION.id}/${name}`
        return html`<li><a href="${guideAddress(name)}"${isCurrent && html` aria-current="page"`}>${title}</a></li>`
      })}</ul></li>`,
  )}</ul>`
  const isOpen = current === GUIDES_SECTION.id || current.startsWith(`${GUIDES_SECTION.id}/`)
  return sectionLink(
    GUIDES_SECTION.id,
    GUIDES_SECTION.title,
    current,
    files.length,
    isOpen ? inside : undefined,
  )
}

const sectionLink = (id: string, title: string, current: string, count?: number, inside?: Html): Html => html`
<li><a href="${docsSectionAddress(id)}"${id === current && html` aria-current="page"`}><span>${title}</span>${
  count !== undefined && html` <span class="count">${count}</span>`
}</a>${inside}</li>`

function chapterLinks(book: DocsBook, { id, name, records, entries }: DocsChapter, current: string): Html {
  const inside = html`<ul>
    ${entries.map(entry => operationLink(book, entry))}
    ${records.map(record => html`<li><a class="record" href="${book.href(`record.${record}`)}">${record}</a></li>`)}
  </ul>`
  return sectionLink(id, name, current, entries.length, id === current ? inside : undefined)
}

function eventLinks(book: DocsBook, current: string): Html {
  const events = eventsOfGroups(book.eventGroups)
  const inside = html`<ul>
    <li><a href="${book.href(EVENTS_SECTION.arriving)}">How an event arrives</a></li>
    ${events.map(({ id, name }) => html`<li><a class="event" href="${book.href(id)}">${name}</a></li>`)}
  </ul>`
  return sectionLink(
    EVENTS_SECTION.id,
    EVENTS_SECTION.title,
    current,
    events.length,
    EVENTS_SECTION.id === current ? inside : undefined,
  )
}

const operationLink = (book: DocsBook, { key, method: verb, operation }: OperationEntry): Html =>
  html`<li><a class="operation" href="${book.href(key)}"><span>${operation.summary}</span> ${renderMethod(verb)}</a></li>`
