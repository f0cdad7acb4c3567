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
    kind: 'guide',
    group: DOCS_PARTS.start.title,
    title: QUICKSTART_SECTION.title,
    page: 'quickstart first payment hello world',
    text: 'Get a key, fund a wallet, create a policy and an agent, declare an intent, approve it and pay.',
  },
  ...book.rules.map(
    ({ id, title, text }): SearchDocument => ({
      address: ruleAddress(id),
      kind: 'rule',
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
    kind: 'section',
    group: DOCS_PARTS.api.title,
    title: REFUSALS_SECTION.title,
    page: 'Refusals and problems',
    text: 'Every error code that an answer names in X-Error-Code, with what it means and how to fix it.',
  },
  ...codes.map(
    ({ code, statuses, sentences }): SearchDocument => ({
      address: refusalAddress(code),
      kind: 'refusal',
      group: GROUPS.errors,
      title: code,
      page: `${statuses.join(' ')} error`,
      text: [...sentences.keys()].join(' '),
      ...(PLAIN_CODES.has(code) ? { names: statuses } : {}),
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

const plain = (text: string): string =>
  stripMarkdown(text)
    .replace(/[|#>]|-{3,}/g, ' ')
    .replace(/\s+/g, ' ')
    .trim()

function inChapter(book: DocsBook, { id, name, about, records, entries }: DocsChapter): SearchDocument[] {
  const { schemas } = book.document.components
  return [
    {
      address: docsSectionAddress(id),
      kind: 'section',
      group: DOCS_PARTS.api.title,
      title: name,
      page: about,
      text: '',
    },
    ...entries.map(
      (entry): SearchDocument => ({
        address: book.href(entry.key),
        kind: 'operation',
        group: DOCS_PARTS.api.title,
        title: entry.operation.summary,
        page: name,
        text: `${plain(entry.operation.description.split(ACCESS_HEADING)[0] ?? '')} ${namesIn(entry, schemas)}`,
        method: entry.method,
        ...(MOST_USED.includes(entry.key) ? { isUsedMost: true } : {}),
      }),
    ),
    ...records.map(
      (record): SearchDocument => ({
        address: book.href(`record.${record}`),
        kind: 'record',
        group: GROUPS.records,
        title: record,
        page: `${name}, record`,
        text: membersOf(schemas[record] ?? {}).join(' '),
      }),
    ),
  ]
}

const eventDocuments = (book: DocsBook): SearchDocument[] => [
  {
    address: docsSectionAddress(EVENTS_SECTION.id),
    kind: 'section',
    group: DOCS_PARTS.api.title,
    title: EVENTS_SECTION.title,
    page: 'Webhook events',
    text: 'Changes of your records, which are sent to the addresses that subscribe to them.',
  },
  ...eventsOfGroups(book.eventGroups).map(
    ({ id, name, post }): SearchDocument => ({
      address: book.href(id),
      kind: 'event',
      group: GROUPS.events,
      title: name,
      page: EVENTS_SECTION.title,
      text: plain(post.summary),
    }),
  ),
]

function inGuide(file: GuideFile, group: string): SearchDocument[] {
  const address = guideAddress(file.name)
  return guideSections(file).flatMap(({ anchor, title, blocks }) => [
    {
      address: anchor ? `${address}#${anchor}` : address,
      kind: anchor ? 'part' : 'guide',
      group,
      title,
      page: anchor ? file.title : file.about,
      text: plain(blocks.map(textOf).join(' ')),
    } satisfies SearchDocument,
    ...blocks.flatMap(block => settingsIn(block, file)),
  ])
}

const textOf = (block: MarkedToken): string => {
  if (block.type === 'table') return [block.header, ...block.rows].flat().map(textOfPart).join(' ')
  if (block.type === 'list') return block.items.map(textOfPart).join(' ')
  return 'text' in block ? block.text : ''
}

const textOfPart = ({ text }: { readonly text: string }): string => text

function settingsIn(block: MarkedToken, file: GuideFile): SearchDocument[] {
  if (block.type !== 'table') return []
  return block.rows.flatMap(row => {
    const [name = '', ...more] = row.map(textOfPart)
    const setting = SETTING_NAME_PATTERN.exec(name)?.[1]
    if (setting === undefined) return []
    return {
      address: `${guideAddress(file.name)}#${setting}`,
      kind: 'setting',
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
