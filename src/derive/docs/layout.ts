import { type Html, html } from '../../web/html.ts'
import type { DocsAssets } from './assets.ts'
import type { DocsBook } from './book.ts'
import type { DescriptionSection } from './guide.ts'

export interface DocsReference {
  readonly book: DocsBook
  readonly guides: readonly DescriptionSection[]
  readonly navigation: (section: string) => Html
  readonly assets: DocsAssets
  /** The script replaces a guessed address, since it knows the address of the page. */
  readonly address: { readonly url: string; readonly isGuess: boolean }
}

export interface DocsPage {
  readonly section: string
  readonly title: string
  readonly about: string
  readonly content: Html
}

export function renderDocsLayout({ book, assets, navigation, address }: DocsReference, page: DocsPage): Html {
  const { info } = book.document
  return html`<!doctype html>
<html lang="en" data-index="${assets.index.address}"${address.isGuess && html` data-placeholder="${address.url}"`}>
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
  <a class="brand" href="/docs"><img src="${assets.icon.address}" alt="" width="24" height="24"> ${info.title} <span class="version">${info.version}</span></a>
  <a class="spec" href="/openapi.json">OpenAPI</a>
  <button type="button" class="theme" aria-label="Switch between light and dark"></button>
  <a class="open" href="#menu">Menu</a>
</header>
${navigation(page.section)}
<main id="content" tabindex="-1">
${page.content}
</main>
</body>
</html>
`
}
