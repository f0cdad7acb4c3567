import {
  DocsBook,
  type DocsChapter,
  docsSectionAddress,
  EVENTS_SECTION,
  jsonMediaType,
  type OperationEntry,
  streamMediaType,
} from './docs/book.ts'
import type { DocsFile } from './docs/docs.ts'
import { causeOf, mendingSample } from './docs/error-causes.ts'
import type { CodeSamples } from './docs/panel.ts'
import { DOCS_PARTS } from './docs/parts.ts'
import { printJson } from './docs/print.ts'
import { collectRefusalCodes, type RefusalCode } from './docs/refusal-codes.ts'
import { refusalAddress } from './docs/refusals.ts'
import { codeSamples } from './docs/samples.ts'
import { describeConstraints, describeType } from './docs/schema-words.ts'
import { type Guides, guideAddress, guideMarkdown, readGuides } from './guides/guides.ts'
import { remediesOf } from './guides/refusal-pages.ts'
import { ACCESS_HEADING } from './openapi/operation.ts'
import type { JsonSchema, OpenapiDocument } from './openapi/types.ts'

/** Renders the reference as Markdown for programs: a file beside each page, and one text with all of it. */
export function renderDocsMarkdown(document: OpenapiDocument): Map<string, DocsFile> {
  const book = new DocsBook(document)
  const pages: [address: string, text: string][] = [
    ['/docs/overview.md', overviewText(book)],
    [`${docsSectionAddress(DOCS_PARTS.api.section)}.md`, overviewText(book)],
    ...book.chapters.map((chapter): [string, string] => [
      `${docsSectionAddress(chapter.id)}.md`,
      chapterText(book, chapter),
    ]),
    [`${docsSectionAddress(EVENTS_SECTION.id)}.md`, eventsText(book)],
  ]
  const guides = readGuides()
  const manual = guides.files.map((file): [string, string] => [
    `${guideAddress(file.name)}.md`,
    guideMarkdown(guides, file),
  ])
  const operations = book.entries.map((entry): [string, string] => [
    `${book.href(entry.key)}.md`,
    operationText(book, entry).replace('## ', '# '),
  ])
  const errors = collectRefusalCodes(book).map((refusal): [string, string] => [
    `${refusalAddress(refusal.code)}.md`,
    refusalText(book, refusal),
  ])
  const whole = [pages[0], ...pages.slice(2)].map(([, text] = ['', '']) => text).join('\n')
  return new Map(
    [
      ...pages,
      ...manual,
      ...operations,
      ...errors,
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

/** Has the form of llmstxt.org. */
function indexText({ document: { info }, chapters }: DocsBook, { groups }: Guides): string {
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
    ...groups.flatMap(group => [
      `## ${group.title}`,
      group.files
        .map(({ name, title, about }) => linkTo(title, `${guideAddress(name)}.md`, about))
        .join('\n'),
    ]),
    '## Sections',
    [
      ...chapters.map(({ id, name, about }) => linkTo(name, `${docsSectionAddress(id)}.md`, about)),
      linkTo(
        EVENTS_SECTION.title,
        `${docsSectionAddress(EVENTS_SECTION.id)}.md`,
        'Events of your records, as webhooks send them.',
      ),
    ].join('\n'),
    '',
  ].join('\n\n')
}

const overviewText = ({ document: { info } }: DocsBook): string =>
  [`# ${info.title} API ${info.version}`, `> ${info.summary}`, info.description, ''].join('\n\n')

function chapterText(book: DocsBook, { name, about, states, records, entries }: DocsChapter): string {
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

function eventsText(book: DocsBook): string {
  const groups = book.eventGroups.flatMap(({ title, families }) => [
    `## ${title}`,
    ...families.flatMap(({ events, data }) => [
      events.map(({ name, post }) => `- \`${name}\`: ${oneLine(post.summary)}`).join('\n'),
      `Data:\n\n${memberList(book, data, false).join('\n')}`,
    ]),
  ])
  return [`# ${EVENTS_SECTION.title}`, ...groups, ''].join('\n\n')
}

const fenced = (language: string, code: string): string => `\`\`\`${language}\n${code}\n\`\`\``

function operationText(book: DocsBook, entry: OperationEntry): string {
  const { key, method, path, operation } = entry
  const [about = '', access = ''] = operation.description.split(ACCESS_HEADING)
  return [
    `## ${operation.summary}`,
    `\`${method} ${path}\` · operation \`${key}\``,
    about.trim(),
    access === '' ? '' : `Access:${access.replaceAll('**', '')}`,
    ...taken(book, entry),
    ...given(book, entry),
    ...refused(entry),
    ...samplesText(codeSamples(book, entry)),
  ]
    .filter(part => part.trim() !== '')
    .join('\n\n')
}

const samplesText = ({ curl, typescript, python, cli }: CodeSamples): string[] =>
  [
    ['bash', curl] as const,
    ['ts', typescript] as const,
    ['python', python] as const,
    ['bash', cli] as const,
  ].flatMap(([language, code]) => (code === undefined ? [] : [fenced(language, code)]))

function refusalText(book: DocsBook, refusal: RefusalCode): string {
  const advice = remediesOf(refusal)
  const { lead, code } = mendingSample(book, refusal, advice)
  return [
    `# ${refusal.code}`,
    `Status ${refusal.statuses.join(' or ')}`,
    '## What it means',
    ...refusal.sentences.keys(),
    '## Why it happens',
    causeOf(refusal) ?? '',
    ...returnedByText(book, refusal),
    '## How to fix it',
    ...advice,
    lead,
    ...samplesText(code),
  ]
    .filter(part => part !== '')
    .join('\n\n')
    .concat('\n')
}

/** The operations that return the code, by what they say. */
function returnedByText(book: DocsBook, { sentences, isUniversal }: RefusalCode): string[] {
  if (isUniversal) return ['Any operation can return it.']
  return [...sentences].flatMap(([sentence, entries]) => [
    sentences.size > 1 ? `“${sentence}” is returned by:` : 'It is returned by:',
    entries
      .map(
        ({ key, method, path, operation }) =>
          `- [${operation.summary}](${book.href(key)}.md): \`${method} ${path}\``,
      )
      .join('\n'),
  ])
}

function taken(book: DocsBook, { parameters, operation }: OperationEntry): string[] {
  const own = parameters.filter(({ in: place }) => place !== 'header')
  const properties = Object.fromEntries(
    own.map(({ name, schema, description }) => [
      name,
      { ...schema, ...(description === undefined ? {} : { description }) },
    ]),
  )
  const required = own.filter(parameter => parameter.required).map(({ name }) => name)
  const body = jsonMediaType(operation.requestBody ?? {})?.schema
  return [
    ...(own.length > 0 ? ['Parameters:', memberList(book, { properties, required }, true).join('\n')] : []),
    ...(body ? ['Body, as JSON:', memberList(book, body, true).join('\n')] : []),
  ]
}

function given(book: DocsBook, { success: [status, response] }: OperationEntry): string[] {
  const schema = jsonMediaType(response)?.schema ?? streamMediaType(response)?.['x-itemSchema']
  if (!schema) return [`Returns ${status}: ${Object.keys(response.content ?? {})[0] ?? 'nothing'}.`]
  const { record, schema: target } = book.follow(schema)
  if (record) return [`Returns ${status}: ${streamMediaType(response) ? 'a stream of ' : ''}${record}.`]
  const items = target.properties?.data?.items
  const listed = items && book.follow(items).record
  if (listed) return [`Returns ${status}: a page of ${listed}.`]
  return [`Returns ${status}:`, memberList(book, target, false).join('\n')]
}

function refused({ refusals }: OperationEntry): string[] {
  const own = refusals.filter(({ universal }) => !universal)
  if (own.length === 0) return []
  const lines = own.map(({ status, code, message }) => `- ${status} \`${code}\`: ${oneLine(message)}`)
  return ['Errors of its own:', lines.join('\n')]
}

function recordText(book: DocsBook, name: string): string {
  const schema = book.document.components.schemas[name] ?? {}
  const { example } =
    book.entries
      .map(({ success: [, response] }) => jsonMediaType(response))
      .find(found => found?.schema?.$ref?.endsWith(`/${name}`)) ?? {}
  return [
    `## ${name} (record)`,
    schema.description ?? '',
    memberList(book, schema, false).join('\n'),
    example === undefined ? '' : fenced('json', printJson(example)),
  ]
    .filter(part => part !== '')
    .join('\n\n')
}

const DEEPEST = 4

function memberList(book: DocsBook, object: JsonSchema, isSent: boolean, level = 0): string[] {
  const { properties = {}, required = [] } = book.follow(object).schema
  return Object.entries(properties).flatMap(([name, schema]) => {
    const { schema: target, record } = book.follow(schema)
    const facts = [
      record ?? typeText(book, target),
      ...(isSent && required.includes(name) ? ['required'] : []),
      ...(isSent ? describeConstraints(target) : []),
    ]
    const description = schema.description ?? target.description
    const line = `${'  '.repeat(level)}- \`${name}\` (${facts.join('; ')})${description ? `: ${oneLine(description)}` : ''}`
    const inner = record || level >= DEEPEST ? [] : innerOf(target)
    return [line, ...inner.flatMap(one => memberList(book, one, isSent, level + 1))]
  })
}

function typeText(book: DocsBook, schema: JsonSchema): string {
  const options = schema.anyOf ?? schema.oneOf
  if (options) return options.map(option => book.follow(option).record ?? describeType(option)).join(' or ')
  const item = schema.items && book.follow(schema.items)
  return item?.record ? `array of ${item.record}` : describeType(schema)
}

const innerOf = (schema: JsonSchema): JsonSchema[] =>
  [schema, schema.items, ...(schema.anyOf ?? []), ...(schema.oneOf ?? [])].filter(
    (one): one is JsonSchema => one?.properties !== undefined,
  )

const oneLine = (text: string): string => text.replace(/\s*\n\s*/g, ' ').trim()
