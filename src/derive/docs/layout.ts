import { type Html, html } from '../../web/html.ts'
import type { DocsAssets } from './assets.ts'
import { type DocsBook, docsSectionAddress } from './book.ts'
import type { DescriptionSection } from './guide.ts'
import { type PagePlace, partLinks } from './navigation.ts'
import type { DocsPart } from './parts.ts'

export const SEARCH_SECTION = 'search'

export interface DocsReference {
  readonly book: DocsBook
  readonly guides: readonly DescriptionSection[]
  readonly navigation: (page: PagePlace) => Html
  readonly assets: DocsAssets
  /** The script replaces a guessed address, since it knows the address of the page. */
  readonly address: { readonly url: string; readonly isGuess: boolean }
}

export interface DocsPage {
  readonly part: DocsPart
  readonly section: string
  readonly title: string
  readonly about: string
  readonly content: Html
  /** The text in the search field, for pages that are made for a query. */
  readonly query?: string
}

export function renderDocsLayout({ book, assets, navigation, address }: DocsReference, page: DocsPage): Html {
  const { info } = book.document
  return html`<!doctype html>
<html lang="en" data-search="${assets.search.address}" data-documents="${assets.documents.address}"${address.isGuess && html` data-placeholder="${address.url}"`}>
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${page.title}</title>
<meta name="description" content="${page.about}">
<link rel="icon" href="${assets.icon.address}" type="image/svg+xml">
<link rel="stylesheet" href="${assets.style.address}">
<script src="${assets.script.address}"></script>
</head>
<body id="top">
<a class="skip" href="#content">Skip to content</a>
<header>
  <a class="brand" href="/docs"><img src="${assets.icon.address}" alt="" width="24" height="24"> <span>${info.title}</span> <span class="version">${info.version}</span></a>
  <nav class="bar" aria-label="Documentation"><ul class="docs-parts">${partLinks(page.query === undefined ? page.part : undefined)}</ul></nav>
  <form class="search" role="search" action="${docsSectionAddress(SEARCH_SECTION)}">
    <label for="search">Search the documentation</label>
    <input id="search" name="q" type="search" placeholder="Search" maxlength="100" autocomplete="off" spellcheck="false" value="${page.query ?? ''}">
    <kbd aria-hidden="true">/</kbd>
  </form>
  <button type="button" class="theme" aria-label="Switch between light and dark"></button>
  <a class="open" href="#menu">Menu</a>
</header>
<section id="results" aria-label="Found" hidden></section>
${navigation(page)}
<main id="content" tabindex="-1">
${page.content}
</main>
</body>
</html>
`
}
