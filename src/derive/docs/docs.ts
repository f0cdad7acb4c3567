import { guidePages } from '../guides/guide-pages.ts'
import { readGuides } from '../guides/guides.ts'
import { refusalCodesOf, refusalPages } from '../guides/refusal-pages.ts'
import type { Document } from '../openapi/types.ts'
import { assetsWith } from './assets.ts'
import { addressOf, Book } from './book.ts'
import { guidesOf } from './guide.ts'
import { layout } from './layout.ts'
import { navigationOf } from './navigation.ts'
import { chapterPage, eventsPage, overview } from './page.ts'
import { searchIndex } from './search-index.ts'

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
  document: Document,
  { baseUrl, ownUrl = 'http://127.0.0.1:8080' }: DocsAddresses = {},
): Map<string, DocsFile> {
  const book = new Book(document)
  const guides = guidesOf(book)
  const manual = readGuides()
  const codes = refusalCodesOf(book)
  const assets = assetsWith(searchIndex({ book, guides, manual, codes }))
  const contents = navigationOf({ book, guides, manual })
  const address = { url: baseUrl?.replace(/\/$/, '') ?? ownUrl, isGuess: baseUrl === undefined }
  const reference = { book, guides, assets, navigation: contents, address }
  const pages = [
    overview(reference),
    ...book.chapters.map(chapter => chapterPage(book, chapter)),
    eventsPage(book),
    ...guidePages(book, manual),
    ...refusalPages(book, codes),
  ]
  return new Map([
    ...pages.map((page): [string, DocsFile] => [
      addressOf(page.section),
      { type: 'text/html; charset=utf-8', content: layout(reference, page).text, isImmutable: false },
    ]),
    ...[...Object.values(assets), ...manual.pictures.values()].map(
      ({ address, type, content }): [string, DocsFile] => [address, { type, content, isImmutable: true }],
    ),
  ])
}
