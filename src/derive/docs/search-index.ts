import type { MarkedToken } from 'marked'
import { universalProblems } from '../../kernel/contract/problem.ts'
import { type GuideFile, type Guides, guideAddress, guideSections, stripMarkdown } from '../guides/guides.ts'
import { ACCESS_HEADING } from '../openapi/operation.ts'
import type { JsonSchema, Schemas } from '../openapi/types.ts'
import {
  type DocsBook,
  type DocsChapter,
  docsSectionAddress,
  EVENTS_SECTION,
  jsonMediaType,
  type OperationEntry,
  ruleAddress,
} from './book.ts'
import { eventsOfGroups } from './event-groups.ts'
import { SETTING_NAME_PATTERN } from './markdown.ts'
import { QUICKSTART_ADDRESS, QUICKSTART_SECTION } from './navigation.ts'
import { DOCS_PARTS, MOST_USED } from './parts.ts'
import { REFUSALS_SECTION, type RefusalCode, refusalAddress } from './refusal-codes.ts'
import type { SearchDocument } from './search.ts'

interface Searched {
  readonly book: DocsBook
  readonly manual: Guides
  readonly codes: readonly RefusalCode[]
}

const GROUPS = { events: 'Events', errors: 'Errors', settings: 'Settings', records: 'Records' } as const

export const searchDocuments = ({ book, manual, codes }: Searched): SearchDocument[] => [
  {
    address: QUICKSTART_ADDRESS,
    weight: 2.4,
    group: DOCS_PARTS.start.title,
    title: QUICKSTART_SECTION.title,
    page: 'quickstart first payment hello world',
    text: 'Get a key, fund a wallet, create a policy and an agent, declare an intent, approve it and pay.',
  },
  ...book.rules.map(
    ({ id, title, text }): SearchDocument => ({
      address: ruleAddress(id),
      weight: 2,
      group: DOCS_PARTS.api.title,
      title,
      page: 'How the API works',
      text: plain(text),
    }),
  ),
  ...book.chapters.flatMap(chapter => inChapter(book, chapter)),
  ...eventDocuments(book),
  {
    address: docsSectionAddress(REFUSALS_SECTION.id),
    weight: 1.5,
    group: DOCS_PARTS.api.title,
    title: REFUSALS_SECTION.title,
    page: 'Refusals and problems',
    text: 'Every error code that an answer names in X-Error-Code, with what it means and how to fix it.',
  },
  ...codes.map(
    ({ code, statuses, sentences }): SearchDocument => ({
      address: refusalAddress(code),
      weight: 0.5,
      group: GROUPS.errors,
      title: code,
      page: `${statuses.join(' ')} error`,
      text: [...sentences.keys()].join(' '),
      ...(PLAIN_CODES.has(code) ? { names: [code, ...statuses] } : {}),
    }),
  ),
  ...manual.groups.flatMap(group => group.files.flatMap(file => inGuide(file, DOCS_PARTS[group.part].title))),
]

/** The first code of each status, which is what a reader means by the number. */
const PLAIN_CODES: ReadonlySet<string> = new Set(
  Object.entries(universalProblems)
    .filter(([, [status]], n, all) => all.findIndex(([, [other]]) => other === status) === n)
    .map(([code]) => code),
)

const plain = (markdown: string): string =>
  stripMarkdown(markdown.replace(/^ *- |^```.*|[|#>]|:?-{3,}:?/gm, ' '))

function inChapter(book: DocsBook, { id, name, about, records, entries }: DocsChapter): SearchDocument[] {
  const { schemas } = book.document.components
  return [
    {
      address: docsSectionAddress(id),
      weight: 1.5,
      group: DOCS_PARTS.api.title,
      title: name,
      page: about,
      text: '',
      names: [name, ...entries.filter(({ key }) => key.endsWith('.create')).map(createdBy)],
    },
    ...entries.map(
      (entry): SearchDocument => ({
        address: book.href(entry.key),
        weight: MOST_USED.includes(entry.key) ? 1.6 : 1.1,
        group: DOCS_PARTS.api.title,
        title: entry.operation.summary,
        page: name,
        text: `${plain(entry.operation.description.split(ACCESS_HEADING)[0] ?? '')} ${namesIn(entry, schemas)}`,
        method: entry.method,
      }),
    ),
    ...records.map(
      (record): SearchDocument => ({
        address: book.href(`record.${record}`),
        weight: 0.3,
        group: GROUPS.records,
        title: record,
        page: `${name}, record`,
        text: membersOf(schemas[record] ?? {}).join(' '),
      }),
    ),
  ]
}

/** “API key” of “Create an API key”: the noun means the chapter. */
const createdBy = ({ operation }: OperationEntry): string => operation.summary.replace(/^\S+/, '')

const eventDocuments = (book: DocsBook): SearchDocument[] => [
  {
    address: docsSectionAddress(EVENTS_SECTION.id),
    weight: 1.5,
    group: DOCS_PARTS.api.title,
    title: EVENTS_SECTION.title,
    page: 'Webhook events',
    text: 'Changes of your records, which are sent to the addresses that subscribe to them.',
  },
  ...eventsOfGroups(book.eventGroups).map(
    ({ id, name, post }): SearchDocument => ({
      address: book.href(id),
      weight: 0.5,
      group: GROUPS.events,
      title: name,
      page: EVENTS_SECTION.title,
      text: plain(post.summary),
    }),
  ),
]

function inGuide(file: GuideFile, group: string): SearchDocument[] {
  const address = guideAddress(file.name)
  const sections = guideSections(file)
  const [lead = '', ...texts] = sections.map(({ blocks }) => plain(blocks.map(({ raw }) => raw).join('')))
  const parts = sections.slice(1).map(({ anchor, title }, n) => ({
    address: `${address}#${anchor}`,
    weight: 1,
    group,
    title,
    page: file.title,
    text: texts[n] ?? '',
    names: [],
  }))
  return [
    {
      address,
      weight: 2.4,
      group,
      title: file.title,
      page: file.about,
      text: lead,
      parts: parts.map(({ title, text }) => `${title} ${text}`).join(' '),
    },
    ...parts,
    ...sections.flatMap(({ blocks }) => blocks.flatMap(block => settingsIn(block, file))),
  ]
}

function settingsIn(block: MarkedToken, file: GuideFile): SearchDocument[] {
  if (block.type !== 'table') return []
  return block.rows.flatMap(row => {
    const [name = '', ...more] = row.map(({ text }) => text)
    const setting = SETTING_NAME_PATTERN.exec(name)?.[1]
    if (setting === undefined) return []
    return {
      address: `${guideAddress(file.name)}#${setting}`,
      weight: 0.4,
      group: GROUPS.settings,
      title: setting,
      page: file.title,
      text: plain(more.join(' ')),
    } satisfies SearchDocument
  })
}

/** The names by which a developer looks for an operation: key, path, scope, events, members and error codes. */
function namesIn(entry: OperationEntry, schemas: Schemas): string {
  const { key, path, operation, refusals, parameters } = entry
  const body = jsonMediaType(operation.requestBody ?? {})?.schema ?? {}
  return [
    key,
    path,
    operation['x-scope'],
    ...(operation['x-events'] ?? []),
    ...(operation['x-aliases'] ?? []),
    ...parameters.filter(({ in: place }) => place !== 'header').map(({ name }) => name),
    ...membersOf(body.$ref ? (schemas[body.$ref.split('/').at(-1) ?? ''] ?? {}) : body),
    ...refusals.filter(({ universal }) => !universal).map(({ code }) => code),
  ]
    .filter(Boolean)
    .join(' ')
}

const membersOf = ({ properties = {}, anyOf = [], oneOf = [] }: JsonSchema): string[] => [
  ...Object.keys(properties),
  ...[...anyOf, ...oneOf].flatMap(membersOf),
]
