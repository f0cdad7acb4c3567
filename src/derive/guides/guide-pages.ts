import { type Html, html } from '../../web/html.ts'
import type { DocsBook, OperationEntry } from '../docs/book.ts'
import type { DocsPage } from '../docs/layout.ts'
import { headingSlug, renderMarkdown } from '../docs/markdown.ts'
import { renderCodeSamples } from '../docs/panel.ts'
import { DOCS_PARTS, type DocsPart } from '../docs/parts.ts'
import { codeSamples } from '../docs/samples.ts'
import { type GuideFile, type GuideGroup, type Guides, guideAddress, guideLinkAddresses } from './guides.ts'

const titleOf = ({ document: { info } }: DocsBook, name: string): string => `${name} · ${info.title}`

/** The index of a part, with a card for each of its pages. */
export const partPage = (book: DocsBook, guides: Guides, name: 'guides' | 'operate'): DocsPage => ({
  part: name,
  section: DOCS_PARTS[name].section,
  title: titleOf(book, DOCS_PARTS[name].title),
  about: DOCS_PARTS[name].about,
  content: html`
<section class="guide">
  <h1>${DOCS_PARTS[name].title}</h1>
  <p class="about">${DOCS_PARTS[name].about}</p>
  ${guides.groups.filter(({ part }) => part === name).map(groupCards)}
</section>`,
})

export const guidePages = (book: DocsBook, guides: Guides): DocsPage[] => [
  partPage(book, guides, 'guides'),
  partPage(book, guides, 'operate'),
  ...guides.groups.flatMap(group => group.files.map(file => guidePage(book, guides, group.part, file))),
]

export const groupCards = ({ title, files }: GuideGroup): Html => html`
  <h2 id="${headingSlug(title)}"><a href="#${headingSlug(title)}">${title}</a></h2>
  <ul class="cards">${files.map(
    ({ name, title, about }) => html`<li><a href="${guideAddress(name)}">${title}</a><p>${about}</p></li>`,
  )}</ul>`

const guidePage = (book: DocsBook, guides: Guides, part: DocsPart, file: GuideFile): DocsPage => ({
  part,
  section: `${DOCS_PARTS.guides.section}/${file.name}`,
  title: titleOf(book, file.title),
  about: file.about,
  content: html`
<article class="guide manual">
${renderMarkdown(file.markdown, guideLinkAddresses(guides, file))}
${operationsIn(book, file)}
</article>`,
})

function operationsIn(book: DocsBook, file: GuideFile): Html | false {
  const found = operationsNamedIn(book, file)
  if (found.length === 0) return false
  return html`
<h2 id="operations"><a href="#operations">The operations named here</a></h2>
${found.map(entry => sampleOf(book, entry))}`
}

function operationsNamedIn(book: DocsBook, { markdown }: GuideFile): OperationEntry[] {
  const named = [...markdown.matchAll(/`(GET|POST|PUT|PATCH|DELETE) (\/[\w/{}.-]+)/g)].map(
    ([, method, path = '']) => `${method} ${shapeOf(path)}`,
  )
  const entries = new Map(book.entries.map(entry => [`${entry.method} ${shapeOf(entry.path)}`, entry]))
  return [...new Set(named)].map(name => entries.get(name)).filter(entry => entry !== undefined)
}

export function guidesByOperation(book: DocsBook, { files }: Guides): Map<OperationEntry, GuideFile[]> {
  const found = new Map<OperationEntry, GuideFile[]>()
  for (const file of files)
    for (const entry of operationsNamedIn(book, file)) found.set(entry, [...(found.get(entry) ?? []), file])
  return found
}

const shapeOf = (path: string): string => path.replace(/^\/v1(?=\/)/, '').replace(/\{\w+\}/g, '{}')

function sampleOf(book: DocsBook, entry: OperationEntry): Html {
  const { key, method, path, operation } = entry
  return html`
<details class="sample"><summary>${operation.summary} <code>${method} ${path}</code></summary>
<p><a href="${book.href(key)}">All about this operation</a></p>
${renderCodeSamples(codeSamples(book, entry))}</details>`
}
