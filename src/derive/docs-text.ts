import { addressOf, Book, type Chapter, type Entry, EVENTS, jsonOf, streamOf } from './docs/book.ts'
import type { DocsFile } from './docs/docs.ts'
import { asJson } from './docs/print.ts'
import { samplesOf } from './docs/samples.ts'
import { constraintWords, typeWords } from './docs/schema-words.ts'
import { type Guides, guideAddress, markdownOf, readGuides } from './guides/guides.ts'
import { ACCESS } from './openapi/operation.ts'
import type { Document, JsonSchema } from './openapi/types.ts'

/** Renders the reference as Markdown for programs: a file beside each page, and one text with all of it. */
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
  const guides = readGuides()
  const manual = guides.files.map((file): [string, string] => [
    `${guideAddress(file.name)}.md`,
    markdownOf(guides, file),
  ])
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

/** Has the form of llmstxt.org. */
function indexText({ document: { info }, chapters }: Book, { groups }: Guides): string {
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
      ...chapters.map(({ id, name, about }) => linkTo(name, `${addressOf(id)}.md`, about)),
      linkTo(EVENTS.title, `${addressOf(EVENTS.id)}.md`, 'Events of your records, as webhooks send them.'),
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

const fenced = (language: string, code: string): string => `\`\`\`${language}\n${code}\n\`\`\``

function operationText(book: Book, entry: Entry): string {
  const { key, method, path, operation } = entry
  const [about = '', access = ''] = operation.description.split(ACCESS)
  const { curl = '', typescript, python } = samplesOf(book, entry)
  return [
    `## ${operation.summary}`,
    `\`${method} ${path}\` · operation \`${key}\``,
    about.trim(),
    access === '' ? '' : `Access:${access.replaceAll('**', '')}`,
    ...taken(book, entry),
    ...given(book, entry),
    ...refused(entry),
    fenced('bash', curl),
    typescript === undefined ? '' : fenced('ts', typescript),
    python === undefined ? '' : fenced('python', python),
  ]
    .filter(part => part.trim() !== '')
    .join('\n\n')
}

function taken(book: Book, { parameters, operation }: Entry): string[] {
  const own = parameters.filter(({ in: place }) => place !== 'header')
  const properties = Object.fromEntries(
    own.map(({ name, schema, description }) => [
      name,
      { ...schema, ...(description === undefined ? {} : { description }) },
    ]),
  )
  const required = own.filter(parameter => parameter.required).map(({ name }) => name)
  const body = jsonOf(operation.requestBody ?? {})?.schema
  return [
    ...(own.length > 0 ? ['Parameters:', memberList(book, { properties, required }, true).join('\n')] : []),
    ...(body ? ['Body, as JSON:', memberList(book, body, true).join('\n')] : []),
  ]
}

function given(book: Book, { success: [status, response] }: Entry): string[] {
  const schema = jsonOf(response)?.schema ?? streamOf(response)?.['x-itemSchema']
  if (!schema) return [`Returns ${status}: ${Object.keys(response.content ?? {})[0] ?? 'nothing'}.`]
  const { record, schema: target } = book.follow(schema)
  if (record) return [`Returns ${status}: ${streamOf(response) ? 'a stream of ' : ''}${record}.`]
  const items = target.properties?.data?.items
  const listed = items && book.follow(items).record
  if (listed) return [`Returns ${status}: a page of ${listed}.`]
  return [`Returns ${status}:`, memberList(book, target, false).join('\n')]
}

function refused({ refusals }: Entry): string[] {
  const own = refusals.filter(({ universal }) => !universal)
  if (own.length === 0) return []
  const lines = own.map(({ status, code, message }) => `- ${status} \`${code}\`: ${oneLine(message)}`)
  return ['Refusals of its own:', lines.join('\n')]
}

function recordText(book: Book, name: string): string {
  const schema = book.document.components.schemas[name] ?? {}
  const { example } =
    book.entries
      .map(({ success: [, response] }) => jsonOf(response))
      .find(found => found?.schema?.$ref?.endsWith(`/${name}`)) ?? {}
  return [
    `## ${name} (record)`,
    schema.description ?? '',
    memberList(book, schema, false).join('\n'),
    example === undefined ? '' : fenced('json', asJson(example)),
  ]
    .filter(part => part !== '')
    .join('\n\n')
}

const DEEPEST = 4

function memberList(book: Book, object: JsonSchema, isSent: boolean, level = 0): string[] {
  const { properties = {}, required = [] } = book.follow(object).schema
  return Object.entries(properties).flatMap(([name, schema]) => {
    const { schema: target, record } = book.follow(schema)
    const facts = [
      record ?? typeText(book, target),
      ...(isSent && required.includes(name) ? ['required'] : []),
      ...(isSent ? constraintWords(target) : []),
    ]
    const description = schema.description ?? target.description
    const line = `${'  '.repeat(level)}- \`${name}\` (${facts.join('; ')})${description ? `: ${oneLine(description)}` : ''}`
    const inner = record || level >= DEEPEST ? [] : innerOf(target)
    return [line, ...inner.flatMap(one => memberList(book, one, isSent, level + 1))]
  })
}

function typeText(book: Book, schema: JsonSchema): string {
  const options = schema.anyOf ?? schema.oneOf
  if (options) return options.map(option => book.follow(option).record ?? typeWords(option)).join(' or ')
  const item = schema.items && book.follow(schema.items)
  return item?.record ? `array of ${item.record}` : typeWords(schema)
}

const innerOf = (schema: JsonSchema): JsonSchema[] =>
  [schema, schema.items, ...(schema.anyOf ?? []), ...(schema.oneOf ?? [])].filter(
    (one): one is JsonSchema => one?.properties !== undefined,
  )

const oneLine = (text: string): string => text.replace(/\s*\n\s*/g, ' ').trim()
