import { type Html, type HtmlContent, html } from '../../web/html.ts'
import type { OpenapiDocument } from '../openapi/types.ts'
import type { DocsAssets } from './assets.ts'
import { docsSectionAddress } from './book.ts'
import { partLinks } from './navigation.ts'
import type { DocsPage, PagePlace } from './pages.ts'

export const SEARCH_SECTION = 'search'

export interface DocsFrame {
  readonly info: OpenapiDocument['info']
  readonly navigation: (page: PagePlace) => Html
  readonly assets: DocsAssets
  /** The script replaces a guessed address, since it knows the address of the page. */
  readonly address: { readonly url: string; readonly isGuess: boolean }
}

export interface ShownPage extends PagePlace, Pick<DocsPage, 'title' | 'about' | 'hasColumns'> {
  readonly content: HtmlContent
  /** The text in the search field, for pages that are made for a query. */
  readonly query?: string
}

export const renderDocsLayout = (
  { info, assets, navigation, address }: DocsFrame,
  page: ShownPage,
): Html => html`<!doctype html>
<html lang="en"${address.isGuess && html` data-placeholder="${address.url}"`}>
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
  <a class="brand" href="/docs"><img src="${assets.icon.address}" alt="" width="24" height="24"> <span>${info.title}</span> <small>${info.version}</small></a>
  <nav class="bar" aria-label="Documentation"><ul class="docs-parts">${partLinks(page.query === undefined ? page.part : undefined)}</ul></nav>
  <form class="search" role="search" action="${docsSectionAddress(SEARCH_SECTION)}">
    <input id="search" name="q" type="search" aria-label="Search the documentation" placeholder="Search: /" maxlength="100" autocomplete="off" spellcheck="false" value="${page.query ?? ''}">
  </form>
  <button type="button" class="theme" aria-label="Switch between light and dark"></button>
  <a class="open" href="#menu">Menu</a>
</header>
<section id="results" aria-label="Found" hidden></section>
${navigation(page)}
<main id="content" tabindex="-1">
<article${page.hasColumns && html` class="columns"`}>
${page.content}
</article>
</main>
</body>
</html>
`
