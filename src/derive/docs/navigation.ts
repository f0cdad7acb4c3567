import { type Html, type HtmlContent, html } from '../../web/html.ts'
import { type Guides, guideAddress } from '../guides/guides.ts'
import {
  type DocsBook,
  type DocsChapter,
  docsSectionAddress,
  EVENTS_SECTION,
  OVERVIEW_SECTION,
  operationSection,
  ruleAddress,
} from './book.ts'
import type { PagePlace } from './pages.ts'
import { DOCS_PARTS, type DocsPart, docsPartNames } from './parts.ts'
import { REFUSALS_SECTION } from './refusal-codes.ts'

/** Builds the contents that the hundreds of error pages share only once. */
export function docsNavigation(book: DocsBook, manual: Guides): (page: PagePlace) => Html {
  const errors = navigation(book, manual, { part: 'api', section: REFUSALS_SECTION.id })
  return page => (page.section.startsWith(REFUSALS_SECTION.id) ? errors : navigation(book, manual, page))
}

export const partLinks = (current: DocsPart | undefined): Html[] =>
  docsPartNames.map(
    name =>
      html`<li><a href="${docsSectionAddress(DOCS_PARTS[name].section)}"${name === current && html` aria-current="true"`}>${DOCS_PARTS[name].title}</a></li>`,
  )

const navigation = (book: DocsBook, manual: Guides, page: PagePlace): Html => html`
<nav id="menu" aria-label="Contents">
  <div class="top">
    <a class="close" href="#content">Close</a>
    <ul class="docs-parts">${partLinks(page.part)}</ul>
  </div>
  <div class="list" id="contents">${page.part === 'api' ? apiContents(book, page.section) : manualContents(manual, page)}</div>
</nav>`

export const QUICKSTART_SECTION = { id: 'quickstart', title: 'Pay something in three minutes' }

export const QUICKSTART_ADDRESS = `${docsSectionAddress(OVERVIEW_SECTION)}#${QUICKSTART_SECTION.id}`

function manualContents({ groups }: Guides, { part, section }: PagePlace): HtmlContent {
  const { section: own } = DOCS_PARTS[part]
  return [
    html`<ul>
    ${link(docsSectionAddress(own), part === 'start' ? 'Overview' : 'All pages', section === own)}
    ${part === 'start' && link(QUICKSTART_ADDRESS, QUICKSTART_SECTION.title)}
  </ul>`,
    groups
      .filter(group => group.part === part)
      .map(({ title, files }) =>
        linkGroup(
          title,
          files.map(({ name, title }) =>
            link(guideAddress(name), title, section === `${DOCS_PARTS.guides.section}/${name}`),
          ),
        ),
      ),
  ]
}

const link = (address: string, title: HtmlContent, isCurrent = false, inside?: HtmlContent): Html =>
  html`<li><a href="${address}"${isCurrent && html` aria-current="page"`}>${title}</a>${inside}</li>`

const linkGroup = (title: string, links: readonly Html[]): Html =>
  html`<section><p class="purpose">${title}</p><ul aria-label="${title}">${links}</ul></section>`

function apiContents(book: DocsBook, section: string): HtmlContent {
  const { section: own } = DOCS_PARTS.api
  const rules = html`<ul>${book.rules.map(({ id, title }) => link(ruleAddress(id), title))}</ul>`
  return html`<ul>
    ${link(docsSectionAddress(own), 'How the API works', section === own, section === own && rules)}
    ${[REFUSALS_SECTION, EVENTS_SECTION].map(({ id, title }) => link(docsSectionAddress(id), title, section === id))}
  </ul>
  ${book.places.map(({ title, chapters }) =>
    linkGroup(
      title,
      chapters.map(chapter => chapterLinks(book, chapter, section)),
    ),
  )}`
}

function chapterLinks(book: DocsBook, { id, name, records, entries }: DocsChapter, current: string): Html {
  const isOpen = id === current || entries.some(({ key }) => operationSection(key) === current)
  const inside = html`<ul>
    ${entries.map(({ key, method, operation }) =>
      link(
        book.href(key),
        html`<span>${operation.summary}</span> ${renderMethod(method)}`,
        operationSection(key) === current,
      ),
    )}
    ${records.map(record => link(book.href(`record.${record}`), record))}
  </ul>`
  return link(docsSectionAddress(id), name, id === current, isOpen && inside)
}

export const renderMethod = (name: string): Html =>
  html`<span class="method ${name.toLowerCase()}">${name}</span>`
