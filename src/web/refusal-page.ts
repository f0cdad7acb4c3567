import { type Html, html } from './html.ts'
import type { Language } from './language.ts'

const titles: Readonly<Record<Language, string>> = {
  en: 'This page cannot be shown',
  de: 'Diese Seite kann nicht gezeigt werden',
}

/** The page for somebody whose page is refused before anything about it is known. It needs no style of its own. */
export const refusalPage = (
  { status, message }: { readonly status: number; readonly message: string },
  language: Language,
): Html => html`<!doctype html>
<html lang="${language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<title>${titles[language]}</title>
</head>
<body>
<main>
<h1>${titles[language]}</h1>
<p lang="en">${message} (${status})</p>
</main>
</body>
</html>
`
