import { addressOf, Book, type Chapter, EVENTS } from '../docs/book.ts'
import type { DocsFile } from '../docs/docs.ts'
import { type GuideFile, guideAddress, readGuides } from '../guides/guides.ts'
import type { Document } from '../openapi/types.ts'
import { memberList, oneLine } from './members.ts'
import { operationText, recordText } from './operation.ts'

/** The reference as Markdown, for readers that are not people: each page beside its HTML, and all of it in one text. */
export function renderText(document: Document): Map<string, DocsFile> {
  const book = new Book(document)
  const pages: [address: string, text: string][] = [
    ['/docs/overview.md', overviewText(book)],
    ...book.chapters.map((chapter): [string, string] => [
      `${addressOf(chapter.id)}.md`,
      chapterText(book, chapter),
    ]),
    [`${addressOf(EVENTS.id)}.md`, eventsText(book)],
  ]
  const guides = readGuides().files
  const manual = guides.map(({ name, markdown }): [string, string] => [`${guideAddress(name)}.md`, markdown])
  const whole = pages.map(([, text]) => text).join('\n')
  return new Map(
    [
      ...pages,
      ...manual,
      ['/llms.txt', indexText(book, guides)] as const,
      ['/llms-full.txt', whole] as const,
    ].map(([address, text]) => [
      address,
      { type: `${typeOf(address)}; charset=utf-8`, content: text, isImmutable: false },
    ]),
  )
}

const typeOf = (address: string): string => (address.endsWith('.md') ? 'text/markdown' : 'text/plain')

const linkTo = (name: string, address: string, about: string): string =>
  `- [${name}](${address}): ${oneLine(about)}`

/** What there is to read, in the form of llmstxt.org. */
function indexText({ document: { info }, chapters }: Book, guides: readonly GuideFile[]): string {
  return [
    `# ${info.title}`,
    `> ${info.summary}`,
    'Every address below is Markdown. `Accept: text/markdown` gives the same for the pages under `/docs`.',
    '## Begin here',
    [
      linkTo(
        'How it works',
        '/docs/overview.md',
        'Credentials, amounts, lists, idempotency, errors, limits, and how an assistant is connected.',
      ),
      linkTo('Everything in one text', '/llms-full.txt', 'All operations, records and events.'),
      linkTo('OpenAPI 3.1', '/openapi.json', 'The same for programs.'),
    ].join('\n'),
    '## Guides',
    guides.map(({ name, title, about }) => linkTo(title, `${guideAddress(name)}.md`, about)).join('\n'),
    '## Sections',
    [
      ...chapters.map(({ id, name, about }) => linkTo(name, `${addressOf(id)}.md`, about)),
      linkTo(
        EVENTS.title,
        `${addressOf(EVENTS.id)}.md`,
        'What happens to your records, as webhooks tell it.',
      ),
    ].join('\n'),
    '',
  ].join('\n\n')
}

const overviewText = ({ document: { info } }: Book): string =>
  [`# ${info.title} API ${info.version}`, `> ${info.summary}`, info.description, ''].join('\n\n')

function chapterText(book: Book, { name, about, states, records, entries }: Chapter): string {
  const machines = Object.entries(states).map(([noun, table]) => {
    const steps = Object.entries(table).map(
      ([from, next]) =>
        `- \`${from}\` ${next.length > 0 ? `becomes ${next.map(one => `\`${one}\``).join(', ')}` : 'stays'}`,
    )
    return `States of ${noun}, from the first:\n\n${steps.join('\n')}`
  })
  return [
    `# ${name}`,
    about,
    ...machines,
    ...entries.map(entry => operationText(book, entry)),
    ...records.map(record => recordText(book, record)),
    '',
  ].join('\n\n')
}

function eventsText(book: Book): string {
  const groups = book.eventGroups.flatMap(({ title, families }) => [
    `## ${title}`,
    ...families.flatMap(({ events, data }) => [
      events.map(({ name, post }) => `- \`${name}\`: ${oneLine(post.summary)}`).join('\n'),
      `Data:\n\n${memberList(book, data, false).join('\n')}`,
    ]),
  ])
  return [`# ${EVENTS.title}`, ...groups, ''].join('\n\n')
}
