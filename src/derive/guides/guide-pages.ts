import { type Html, html } from '../../web/html.ts'
import type { Book, Entry } from '../docs/book.ts'
import type { Page } from '../docs/layout.ts'
import { panel, samples } from '../docs/panel.ts'
import { samplesOf } from '../docs/samples.ts'
import { agentpayOf } from './command-sample.ts'
import { addressesIn, GUIDES, type GuideFile, type Guides, guideAddress } from './guides.ts'
import { pageOf } from './markdown-page.ts'

const titleOf = ({ document: { info } }: Book, name: string): string => `${name} · ${info.title}`

/** A page for each guide, and one that lists them. */
export function guidePages(book: Book, guides: Guides): Page[] {
  const about = 'How things are done, from the first payment to the operation of the service.'
  const overview = {
    section: GUIDES.id,
    title: titleOf(book, GUIDES.title),
    about,
    content: html`
<section class="guide">
  <h1>${GUIDES.title}</h1>
  <p class="about">${about}</p>
  <ul class="cards">${guides.files.map(
    ({ name, title, about }) => html`<li><a href="${guideAddress(name)}">${title}</a><p>${about}</p></li>`,
  )}</ul>
</section>`,
  }
  return [overview, ...guides.files.map(file => guidePage(book, guides, file))]
}

const guidePage = (book: Book, guides: Guides, file: GuideFile): Page => ({
  section: `${GUIDES.id}/${file.name}`,
  title: titleOf(book, file.title),
  about: file.about.slice(0, 300),
  content: html`
<article class="guide manual">
${pageOf(file.markdown, addressesIn(guides))}
${operationsIn(book, file)}
</article>`,
})

/** Samples of the operations that a guide names, in the order in which it names them. */
function operationsIn(book: Book, { markdown }: GuideFile): Html | false {
  const named = [...markdown.matchAll(/`(GET|POST|PUT|PATCH|DELETE) (\/[\w/{}.-]+)/g)].map(
    ([, method, path = '']) => `${method} ${shapeOf(path)}`,
  )
  const entries = new Map(book.entries.map(entry => [`${entry.method} ${shapeOf(entry.path)}`, entry]))
  const found = [...new Set(named)].map(name => entries.get(name)).filter(entry => entry !== undefined)
  if (found.length === 0) return false
  return html`
<h2 id="operations"><a href="#operations">The operations named here</a></h2>
${found.map(entry => sampleOf(book, entry))}`
}

const shapeOf = (path: string): string => path.replace(/^\/v1(?=\/)/, '').replace(/\{\w+\}/g, '{}')

function sampleOf(book: Book, entry: Entry): Html {
  const { key, method, path, operation } = entry
  const command = agentpayOf(entry)
  return html`
<details class="sample"><summary><a href="${book.href(key)}">${operation.summary}</a> <code>${method} ${path}</code></summary>
${samples(samplesOf(book, entry))}${command && panel('agentpay', command, 'shell')}</details>`
}
