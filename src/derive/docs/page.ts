import type { Book, Chapter } from './book.ts'
import { eventsChapter } from './events.ts'
import { guideSection, guidesOf, leadOf } from './guide.ts'
import { type Html, html } from './html.ts'
import { navigation } from './navigation.ts'
import { operationSection } from './operation.ts'
import { quickstartSection } from './quickstart.ts'
import { recordSection } from './record.ts'
import { statesSection } from './states.ts'

/** Stands for the service until the script knows under which name the page was asked for. */
const PLACEHOLDER = 'http://127.0.0.1:8080'

/** The whole reference on one page: it can be read, searched and printed without a script. */
export function page(book: Book, baseUrl: string | undefined): Html {
  const url = baseUrl ?? PLACEHOLDER
  const { info } = book.document
  const guides = guidesOf(book)
  return html`<!doctype html>
<html lang="en"${baseUrl === undefined && html` data-placeholder="${PLACEHOLDER}"`}>
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${info.title} API ${info.version}</title>
<meta name="description" content="${info.summary}">
<link rel="icon" href="/docs/docs.svg" type="image/svg+xml">
<link rel="stylesheet" href="/docs/docs.css">
<script src="/docs/docs.js"></script>
</head>
<body id="top">
<a class="skip" href="#content">Skip to the content</a>
<header>
  <a class="brand" href="#top"><img src="/docs/docs.svg" alt="" width="24" height="24"> ${info.title} <span class="version">${info.version}</span></a>
  <a class="spec" href="/openapi.json">OpenAPI</a>
  <button type="button" class="theme" aria-label="Switch between light and dark"></button>
  <a class="open" href="#menu">Menu</a>
</header>
${navigation(book, guides)}
<main id="content" tabindex="-1">
${hero(book, url)}
${quickstartSection(url)}
${guides.map(guideSection)}
${book.chapters.map(chapter => chapterSection(book, chapter))}
${eventsChapter(book)}
</main>
</body>
</html>
`
}

const hero = (book: Book, url: string): Html => html`
<section class="hero">
  <div>
    <h1>${book.document.info.title} API</h1>
    <p class="lead">${book.document.info.summary}</p>
    ${leadOf(book)}
  </div>
  <dl class="facts">
    <div><dt>Address</dt><dd><code>${url}</code></dd></div>
    <div><dt>Credential</dt><dd><code>Authorization: Bearer …</code></dd></div>
    <div><dt>Bodies</dt><dd>JSON, in both directions</dd></div>
    <div><dt>Data</dt><dd>kept in the EU</dd></div>
    <div><dt>For programs</dt><dd><a href="/openapi.json">OpenAPI 3.1</a></dd></div>
  </dl>
</section>`

const chapterSection = (book: Book, { id, name, about, states, records, entries }: Chapter): Html => html`
<section class="chapter" aria-labelledby="${id}">
<h2 id="${id}"><a href="#${id}">${name}</a></h2>
<p class="about">${about}</p>
${statesSection(states)}
${entries.map(entry => operationSection(book, entry))}
${records.map(record => recordSection(book, record))}
</section>`
