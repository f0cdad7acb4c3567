import { type Html, html } from '../../web/html.ts'
import { type DocsBook, jsonMediaType, type OperationEntry } from '../docs/book.ts'
import type { DocsPage } from '../docs/layout.ts'
import { headingSlug, renderMarkdown } from '../docs/markdown.ts'
import { renderCodePanel, renderCodeSamples } from '../docs/panel.ts'
import { codeSamples } from '../docs/samples.ts'
import {
  GUIDES_SECTION,
  type GuideFile,
  type GuideGroup,
  type Guides,
  guideAddress,
  guideLinkAddresses,
} from './guides.ts'

const titleOf = ({ document: { info } }: DocsBook, name: string): string => `${name} · ${info.title}`

export function guidePages(book: DocsBook, guides: Guides): DocsPage[] {
  const about = 'How things are done, from the first payment to the operation of the service.'
  const overview = {
    section: GUIDES_SECTION.id,
    title: titleOf(book, GUIDES_SECTION.title),
    about,
    content: html`
<section class="guide">
  <h1>${GUIDES_SECTION.title}</h1>
  <p class="about">${about}</p>
  ${guides.groups.map(groupCards)}
</section>`,
  }
  return [overview, ...guides.files.map(file => guidePage(book, guides, file))]
}

const groupCards = ({ title, files }: GuideGroup): Html => html`
  <h2 id="${headingSlug(title)}"><a href="#${headingSlug(title)}">${title}</a></h2>
  <ul class="cards">${files.map(
    ({ name, title, about }) => html`<li><a href="${guideAddress(name)}">${title}</a><p>${about}</p></li>`,
  )}</ul>`

const guidePage = (book: DocsBook, guides: Guides, file: GuideFile): DocsPage => ({
  section: `${GUIDES_SECTION.id}/${file.name}`,
  title: titleOf(book, file.title),
  about: file.about.slice(0, 300),
  content: html`
<article class="guide manual">
${renderMarkdown(file.markdown, guideLinkAddresses(guides, file))}
${operationsIn(book, file)}
</article>`,
})

function operationsIn(book: DocsBook, { markdown }: GuideFile): Html | false {
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

function sampleOf(book: DocsBook, entry: OperationEntry): Html {
  const { key, method, path, operation } = entry
  const command = agentpaySample(entry)
  return html`
<details class="sample"><summary><a href="${book.href(key)}">${operation.summary}</a> <code>${method} ${path}</code></summary>
${renderCodeSamples(codeSamples(book, entry))}${command && renderCodePanel('agentpay', command, 'shell')}</details>`
}

export function agentpaySample(entry: OperationEntry): string | undefined {
  const { content = {} } = entry.operation.requestBody ?? {}
  if (Object.keys(content).some(type => type !== 'application/json')) return undefined
  const [noun = '', verb = ''] = entry.key.split('.').map(inKebabCase)
  return ['agentpay', noun, verb, ...idsOf(entry), ...bodyOf(entry)].map(quoted).join(' ')
}

const inKebabCase = (name: string): string => name.replace(/[A-Z]/g, letter => `-${letter.toLowerCase()}`)

const idsOf = ({ parameters }: OperationEntry): string[] =>
  parameters.filter(({ in: place }) => place === 'path').map(({ example }) => String(example))

function bodyOf({ operation }: OperationEntry): string[] {
  const example = jsonMediaType(operation.requestBody ?? {})?.example
  if (example === undefined) return []
  const members = Object.entries(example as object)
  const isPlain = members.every(([name, value]) => !TAKEN.has(name) && isTyped(value))
  if (!isPlain) return ['--body', JSON.stringify(example)]
  return members.flatMap(([name, value]) => [`--${name}`, String(value)])
}

/** A text that begins with a hyphen would look like an option. */
const isTyped = (value: unknown): boolean =>
  typeof value === 'number' || (typeof value === 'string' && /^[^-]/.test(value))

const TAKEN: ReadonlySet<string> = new Set([
  'all',
  'body',
  'file',
  'help',
  'json',
  'operator',
  'output',
  'profile',
])

const quoted = (word: string): string =>
  /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`
