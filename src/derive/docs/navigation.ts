import { type Html, type HtmlContent, html } from '../../web/html.ts'
import { type Guides, guideAddress } from '../guides/guides.ts'
import {
  type DocsBook,
  type DocsChapter,
  type DocsPlace,
  docsSectionAddress,
  EVENTS_SECTION,
  type OperationEntry,
  OVERVIEW_SECTION,
  operationSection,
} from './book.ts'
import { eventsOfGroups } from './event-groups.ts'
import { type DescriptionSection, ruleAddress } from './guide.ts'
import { renderMethod } from './operation.ts'
import { DOCS_PARTS, type DocsPart, docsPartNames } from './parts.ts'
import { REFUSALS_SECTION } from './refusals.ts'

interface Contents {
  readonly book: DocsBook
  readonly guides: readonly DescriptionSection[]
  readonly manual: Guides
}

export interface PagePlace {
  readonly part: DocsPart
  readonly section: string
}

/** Builds the contents that the hundreds of error pages share only once. */
export function docsNavigation(contents: Contents): (page: PagePlace) => Html {
  const beside = navigation(contents, { part: 'api', section: REFUSALS_SECTION.id })
  return page => (page.section.startsWith(REFUSALS_SECTION.id) ? beside : navigation(contents, page))
}

export const partLinks = (current: DocsPart | undefined): Html[] =>
  docsPartNames.map(
    name =>
      html`<li><a href="${docsSectionAddress(DOCS_PARTS[name].section)}"${name === current && html` aria-current="true"`}>${DOCS_PARTS[name].title}</a></li>`,
  )

const navigation = (contents: Contents, page: PagePlace): Html => html`
<nav id="menu" aria-label="Contents">
  <div class="top">
    <a class="close" href="#content">Close</a>
    <ul class="docs-parts">${partLinks(page.part)}</ul>
  </div>
  <div class="list" id="contents">${contentsOf(contents, page)}</div>
</nav>`

function contentsOf(contents: Contents, { part, section }: PagePlace): HtmlContent {
  if (part === 'api') return apiContents(contents, section)
  const first =
    part === 'start'
      ? [
          link(docsSectionAddress(OVERVIEW_SECTION), 'Overview', section === OVERVIEW_SECTION),
          link(QUICKSTART_ADDRESS, QUICKSTART_SECTION.title),
        ]
      : link(docsSectionAddress(DOCS_PARTS[part].section), 'All pages', section === DOCS_PARTS[part].section)
  return html`<ul>${first}</ul>${contents.manual.groups
    .filter(group => group.part === part)
    .map(group =>
      linkGroup(
        group.title,
        group.files.map(({ name, title }) =>
          link(guideAddress(name), title, section === `${DOCS_PARTS.guides.section}/${name}`),
        ),
      ),
    )}`
}

export const QUICKSTART_SECTION = { id: 'quickstart', title: 'Pay something in three minutes' }

export const QUICKSTART_ADDRESS = `${docsSectionAddress(OVERVIEW_SECTION)}#${QUICKSTART_SECTION.id}`

const link = (address: string, title: HtmlContent, isCurrent = false, inside?: HtmlContent): Html =>
  html`<li><a href="${address}"${isCurrent && html` aria-current="page"`}>${title}</a>${inside}</li>`

const linkGroup = (title: string, links: readonly Html[]): Html =>
  html`<section><p class="purpose">${title}</p><ul aria-label="${title}">${links}</ul></section>`

function apiContents({ book, guides }: Contents, section: string): HtmlContent {
  const isOverview = section === DOCS_PARTS.api.section
  const rules = html`<ul>${guides.map(({ id, title }) => link(ruleAddress(id), title))}</ul>`
  return html`<ul>
    ${link(docsSectionAddress(DOCS_PARTS.api.section), 'How the API works', isOverview, isOverview && rules)}
    ${link(docsSectionAddress(REFUSALS_SECTION.id), REFUSALS_SECTION.title, section === REFUSALS_SECTION.id)}
    ${eventLinks(book, section)}
  </ul>
  ${book.places.map(place => placeLinks(book, place, section))}`
}

const placeLinks = (book: DocsBook, { title, chapters }: DocsPlace, section: string): Html =>
  linkGroup(
    title,
    chapters.map(chapter => chapterLinks(book, chapter, section)),
  )

function chapterLinks(book: DocsBook, { id, name, records, entries }: DocsChapter, current: string): Html {
  const isOpen = id === current || entries.some(({ key }) => operationSection(key) === current)
  const inside = html`<ul>
    ${entries.map(entry => operationLink(book, entry, current))}
    ${records.map(record => html`<li><a class="record" href="${book.href(`record.${record}`)}">${record}</a></li>`)}
  </ul>`
  return link(docsSectionAddress(id), name, id === current, isOpen && inside)
}

function eventLinks(book: DocsBook, current: string): Html {
  const events = eventsOfGroups(book.eventGroups)
  const inside = html`<ul>
    <li><a href="${book.href(EVENTS_SECTION.arriving)}">How an event arrives</a></li>
    ${events.map(({ id, name }) => html`<li><a class="event" href="${book.href(id)}">${name}</a></li>`)}
  </ul>`
  const isOpen = EVENTS_SECTION.id === current
  return link(docsSectionAddress(EVENTS_SECTION.id), EVENTS_SECTION.title, isOpen, isOpen && inside)
}

const operationLink = (book: DocsBook, { key, method, operation }: OperationEntry, current: string): Html =>
  html`<li><a class="operation" href="${book.href(key)}"${
    operationSection(key) === current && html` aria-current="page"`
  }><span>${operation.summary}</span> ${renderMethod(method)}</a></li>`
