import { type Guides, guideAddress } from '../guides/guides.ts'
import {
  type DocsBook,
  docsSectionAddress,
  EVENTS_SECTION,
  OVERVIEW_SECTION,
  operationSection,
} from './book.ts'
import { bulletList, type DocsFile, type DocsPage, oneLine, paragraphs } from './pages.ts'
import { DOCS_PARTS } from './parts.ts'

/** The Markdown of each page beside it, and two texts for programs: the list of all pages, and the whole reference. */
export function textFiles(book: DocsBook, manual: Guides, pages: readonly DocsPage[]): [string, DocsFile][] {
  const addresses = new Set(pages.map(({ section }) => docsSectionAddress(section)))
  const texts = new Map(pages.map(page => [page.section, textOf(page, addresses)]))
  const partOf = (section: string): string => texts.get(section) ?? ''
  const chapters = book.chapters.map(({ id, entries }): [section: string, text: string] => [
    id,
    [id, ...entries.map(({ key }) => operationSection(key))].map(partOf).join('\n'),
  ])
  const whole = [
    partOf(DOCS_PARTS.api.section),
    ...chapters.map(([, text]) => text),
    partOf(EVENTS_SECTION.id),
  ].join('\n')
  return [
    ...[...texts, ...chapters].map(([section, text]): [string, DocsFile] => [
      markdownAddress(docsSectionAddress(section)),
      { type: 'text/markdown; charset=utf-8', content: text, isImmutable: false },
    ]),
    ...Object.entries({ '/llms.txt': indexText(book, manual), '/llms-full.txt': whole }).map(
      ([address, content]): [string, DocsFile] => [
        address,
        { type: 'text/plain; charset=utf-8', content, isImmutable: false },
      ],
    ),
  ]
}

const markdownAddress = (address: string): string =>
  address === docsSectionAddress(OVERVIEW_SECTION) ? '/docs/overview.md' : `${address}.md`

const CODE = /(```[\s\S]*?```|`[^`\n]+`)/
const LINK = /(!?)\[([^\]]*)\]\(([^)\s]+)\)/g

/** Links lead to the Markdown of other pages. */
function textOf({ markdown, addresses: meant }: DocsPage, pages: ReadonlySet<string>): string {
  const led = (written: string, mark: string, text: string, target: string): string => {
    const address = meant ? meant[mark ? 'picture' : 'link'](target) : target
    if (address === undefined) return mark ? written : text
    const [path = '', anchor] = address.split('#')
    const found = pages.has(path) ? markdownAddress(path) : path
    return `${mark}[${text}](${anchor === undefined ? found : `${found}#${anchor}`})`
  }
  const parts = markdown.split(CODE)
  return parts
    .map((part, n) => (n % 2 === 1 ? part : part.replace(LINK, led).replace(/ \{#.+\}$/gm, '')))
    .join('')
}

const linkTo = (name: string, address: string, about: string): string =>
  `[${name}](${address}): ${oneLine(about)}`

/** Has the form of llmstxt.org. */
const indexText = ({ document: { info }, chapters }: DocsBook, { groups }: Guides): string =>
  paragraphs(
    `# ${info.title}`,
    `> ${info.summary}`,
    'Every address below is Markdown. `Accept: text/markdown` gives the same for the pages under `/docs`.',
    '## Begin here',
    bulletList([
      linkTo(
        'How it works',
        `${docsSectionAddress(DOCS_PARTS.api.section)}.md`,
        'Credentials, amounts, lists, idempotency, errors, limits, and how an assistant is connected.',
      ),
      linkTo('Everything in one text', '/llms-full.txt', 'All operations, records and events.'),
      linkTo('OpenAPI 3.1', '/openapi.json', 'The same for programs.'),
    ]),
    ...groups.flatMap(group => [
      `## ${group.title}`,
      bulletList(
        group.files.map(({ name, title, about }) => linkTo(title, `${guideAddress(name)}.md`, about)),
      ),
    ]),
    '## Sections',
    bulletList([
      ...chapters.map(({ id, name, about }) => linkTo(name, `${docsSectionAddress(id)}.md`, about)),
      linkTo(
        EVENTS_SECTION.title,
        `${docsSectionAddress(EVENTS_SECTION.id)}.md`,
        'Events of your records, as webhooks send them.',
      ),
    ]),
  )
