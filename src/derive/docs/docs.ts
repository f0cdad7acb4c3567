import { guidePages } from '../guides/guide-pages.ts'
import { readGuides } from '../guides/guides.ts'
import { collectRefusalCodes, refusalPages } from '../guides/refusal-pages.ts'
import type { OpenapiDocument } from '../openapi/types.ts'
import { docsAssets } from './assets.ts'
import { DocsBook, docsSectionAddress } from './book.ts'
import { descriptionSections } from './guide.ts'
import { renderDocsLayout } from './layout.ts'
import { docsNavigation } from './navigation.ts'
import { chapterPage, eventsPage, overviewPage } from './page.ts'
import { buildSearchIndex } from './search-index.ts'

export interface DocsFile {
  readonly type: string
  readonly content: string | Buffer
  readonly isImmutable: boolean
}

export interface DocsAddresses {
  readonly baseUrl?: string | undefined
  readonly ownUrl?: string
}

/** Renders the reference by paths: its overview, a page for each section, guide and refusal, and their assets. */
export function renderDocs(
  document: OpenapiDocument,
  { baseUrl, ownUrl = 'http://localhost:8080' }: DocsAddresses = {},
): Map<string, DocsFile> {
  const book = new DocsBook(document)
  const guides = descriptionSections(book)
  const manual = readGuides()
  const codes = collectRefusalCodes(book)
  const assets = docsAssets(buildSearchIndex({ book, guides, manual, codes }))
  const contents = docsNavigation({ book, guides, manual })
  const address = { url: baseUrl?.replace(/\/$/, '') ?? ownUrl, isGuess: baseUrl === undefined }
  const reference = { book, guides, assets, navigation: contents, address }
  const pages = [
    overviewPage(reference),
    ...book.chapters.map(chapter => chapterPage(book, chapter)),
    eventsPage(book),
    ...guidePages(book, manual),
    ...refusalPages(book, codes),
  ]
  return new Map([
    ...pages.map((page): [string, DocsFile] => [
      docsSectionAddress(page.section),
      {
        type: 'text/html; charset=utf-8',
        content: renderDocsLayout(reference, page).text,
        isImmutable: false,
      },
    ]),
    ...[...Object.values(assets), ...manual.pictures.values()].map(
      ({ address, type, content }): [string, DocsFile] => [address, { type, content, isImmutable: true }],
    ),
  ])
}
