import { guidePages } from '../guides/guide-pages.ts'
import { type Guides, readGuides } from '../guides/guides.ts'
import type { OpenapiDocument } from '../openapi/types.ts'
import { docsAssets } from './assets.ts'
import { DocsBook, docsSectionAddress } from './book.ts'
import { errorPages } from './error-pages.ts'
import { renderDocsLayout, type ShownPage } from './layout.ts'
import { renderMarkdown } from './markdown.ts'
import { textFiles } from './markdown-files.ts'
import { docsNavigation } from './navigation.ts'
import { apiPage, chapterPage, eventsPage, operationPages, overviewPage } from './page.ts'
import type { DocsFile, DocsPage } from './pages.ts'
import { collectRefusalCodes, type RefusalCode } from './refusal-codes.ts'
import { searchDocuments } from './search-index.ts'
import { missingPage, type SearchSource, searchPage } from './search-page.ts'

export interface DocsAddresses {
  readonly baseUrl?: string | undefined
  readonly ownUrl?: string
}

export interface RenderedDocs {
  readonly files: Map<string, DocsFile>
  readonly search: SearchSource
}

interface Written {
  readonly book: DocsBook
  readonly manual: Guides
  readonly codes: readonly RefusalCode[]
  readonly url: string
}

/** All pages by their paths, for people and for programs, and their assets. */
export function renderDocs(
  document: OpenapiDocument,
  { baseUrl, ownUrl = 'http://localhost:8080' }: DocsAddresses = {},
): RenderedDocs {
  const book = new DocsBook(document)
  const manual = readGuides()
  const codes = collectRefusalCodes(book)
  const assets = docsAssets()
  const { info } = document
  const address = { url: baseUrl?.replace(/\/$/, '') ?? ownUrl, isGuess: baseUrl === undefined }
  const frame = { info, assets, navigation: docsNavigation(book, manual), address }
  const pages = pagesOf({ book, manual, codes, url: address.url })
  const textOf = (page: ShownPage): string => renderDocsLayout(frame, page).text
  const files = new Map<string, DocsFile>([
    ...pages.map((page): [string, DocsFile] => [
      docsSectionAddress(page.section),
      {
        type: 'text/html; charset=utf-8',
        content: textOf({ ...page, content: renderMarkdown(page.markdown, page.addresses) }),
        isImmutable: false,
      },
    ]),
    ...textFiles(book, manual, pages),
    ...[...Object.values(assets), ...manual.pictures.values()].map(
      ({ address, type, content }): [string, DocsFile] => [address, { type, content, isImmutable: true }],
    ),
  ])
  const templates = { search: textOf(searchPage(info.title)), missing: textOf(missingPage(info.title)) }
  const documents = JSON.stringify(searchDocuments({ book, manual, codes }))
  return { files, search: { templates, documents } }
}

const pagesOf = ({ book, manual, codes, url }: Written): DocsPage[] => [
  overviewPage(book, manual, url),
  apiPage(book, url),
  ...book.chapters.map(chapter => chapterPage(book, chapter)),
  ...operationPages(book, manual),
  eventsPage(book),
  ...guidePages(book, manual),
  ...errorPages(book, codes),
]
