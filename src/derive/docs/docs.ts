import { guidePages } from '../guides/guide-pages.ts'
import { readGuides } from '../guides/guides.ts'
import { refusalPages } from '../guides/refusal-pages.ts'
import type { OpenapiDocument } from '../openapi/types.ts'
import { docsAssets } from './assets.ts'
import { DocsBook, docsSectionAddress } from './book.ts'
import { descriptionSections } from './guide.ts'
import { type DocsPage, renderDocsLayout } from './layout.ts'
import { docsNavigation } from './navigation.ts'
import { apiPage, chapterPage, eventsPage, operationPages, overviewPage } from './page.ts'
import { collectRefusalCodes } from './refusal-codes.ts'
import { searchDocuments } from './search-index.ts'
import { type SearchSource, TEMPLATES, templatePage } from './search-page.ts'

export interface DocsFile {
  readonly type: string
  readonly content: string | Buffer
  readonly isImmutable: boolean
}

export interface DocsAddresses {
  readonly baseUrl?: string | undefined
  readonly ownUrl?: string
}

export interface RenderedDocs {
  readonly files: Map<string, DocsFile>
  readonly search: SearchSource
}

/** Renders the reference by paths: its four parts, a page for each chapter, operation, guide and error code, and their assets. */
export function renderDocs(
  document: OpenapiDocument,
  { baseUrl, ownUrl = 'http://localhost:8080' }: DocsAddresses = {},
): RenderedDocs {
  const book = new DocsBook(document)
  const guides = descriptionSections(book)
  const manual = readGuides()
  const codes = collectRefusalCodes(book)
  const assets = docsAssets(searchDocuments({ book, manual, codes }))
  const contents = docsNavigation({ book, guides, manual })
  const { title } = document.info
  const address = { url: baseUrl?.replace(/\/$/, '') ?? ownUrl, isGuess: baseUrl === undefined }
  const reference = { book, guides, assets, navigation: contents, address }
  const pages = [
    overviewPage(reference, manual),
    apiPage(reference),
    ...book.chapters.map(chapter => chapterPage(book, chapter)),
    ...operationPages(book, manual),
    eventsPage(book),
    ...guidePages(book, manual),
    ...refusalPages(book, codes),
  ]
  const textOf = (page: DocsPage): string => renderDocsLayout(reference, page).text
  const files = new Map([
    ...pages.map((page): [string, DocsFile] => [
      docsSectionAddress(page.section),
      { type: 'text/html; charset=utf-8', content: textOf(page), isImmutable: false },
    ]),
    ...[...Object.values(assets), ...manual.pictures.values()].map(
      ({ address, type, content }): [string, DocsFile] => [address, { type, content, isImmutable: true }],
    ),
  ])
  const [search, missing] = TEMPLATES.map(name => textOf(templatePage(name, title))) as [string, string]
  return { files, search: { templates: { search, missing }, documents: String(assets.documents.content) } }
}
