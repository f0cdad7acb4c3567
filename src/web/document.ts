import { type Html, type HtmlContent, html } from './html.ts'
import type { Language } from './language.ts'

interface DocumentParts {
  readonly language: Language
  readonly title: string
  /** Addresses of the files. The first script keeps clicks until the others listen. */
  readonly style: string
  readonly icon?: string
  readonly firstScript?: string
  /** Further attributes of `html`, and elements of the head. */
  readonly attributes?: Html
  readonly head?: HtmlContent
  readonly body: HtmlContent
}

/** The one layout of all pages for people. It has no inline code, and loads only from its own origin. */
export const renderDocument = ({
  language,
  title,
  style,
  icon,
  firstScript,
  attributes,
  head,
  body,
}: DocumentParts): Html => html`<!doctype html>
<html lang="${language}"${attributes}>
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<title>${title}</title>
${firstScript !== undefined && html`<script src="${firstScript}"></script>`}
${icon !== undefined && html`<link rel="icon" href="${icon}" type="image/svg+xml">`}
<link rel="stylesheet" href="${style}">
${head}
</head>
<body>
${body}
</body>
</html>
`
