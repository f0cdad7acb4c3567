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
import { DOCUMENTS, TEMPLATES, templatePage } from './search-page.ts'

export interface DocsFile {
  readonly type: string
  readonly content: string | Buffer
  readonly isImmutable: boolean
}

export interface DocsAddresses {
  readonly baseUrl?: string | undefined
  readonly ownUrl?: string
}

/** Renders the reference by paths: its four parts, a page for each chapter, operation, guide and error code, and their assets. */
export function renderDocs(
  document: OpenapiDocument,
  { baseUrl, ownUrl = 'http://localhost:8080' }: DocsAddresses = {},
): Map<string, DocsFile> {
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
  const file = (page: DocsPage): DocsFile => ({
    type: 'text/html; charset=utf-8',
    content: renderDocsLayout(reference, page).text,
    isImmutable: false,
  })
  return new Map([
    ...pages.map((page): [string, DocsFile] => [docsSectionAddress(page.section), file(page)]),
    ...TEMPLATES.map((name): [string, DocsFile] => [name, file(templatePage(name, title))]),
    [DOCUMENTS, { type: assets.documents.type, content: assets.documents.content, isImmutable: false }],
    ...[...Object.values(assets), ...manual.pictures.values()].map(
      ({ address, type, content }): [string, DocsFile] => [address, { type, content, isImmutable: true }],
    ),
  ])
}
