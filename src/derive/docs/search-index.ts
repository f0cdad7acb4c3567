import type { MarkedToken } from 'marked'
import { universalProblems } from '../../kernel/contract/problem.ts'
import {
  GUIDES_SECTION,
  type GuideFile,
  type Guides,
  guideSections,
  stripMarkdown,
} from '../guides/guides.ts'
import type { RefusalCode } from '../guides/refusal-pages.ts'
import type { JsonSchema, Schemas } from '../openapi/types.ts'
import {
  type DocsBook,
  type DocsChapter,
  EVENTS_SECTION,
  jsonMediaType,
  type OperationEntry,
  OVERVIEW_SECTION,
} from './book.ts'
import { eventsOfGroups } from './event-groups.ts'
import type { DescriptionSection } from './guide.ts'
import { SETTING_NAME_PATTERN } from './markdown.ts'
import { QUICKSTART_SECTION } from './navigation.ts'
import { REFUSALS_SECTION } from './refusals.ts'

export interface SearchEntry {
  readonly kind: 'guide' | 'section' | 'operation' | 'record' | 'event' | 'refusal' | 'setting'
  readonly anchor: string
  readonly section: string
  readonly title: string
  readonly method?: string
  readonly words: string
}

interface Searched {
  readonly book: DocsBook
  readonly guides: readonly DescriptionSection[]
  readonly manual: Guides
  readonly codes: readonly RefusalCode[]
}

export const buildSearchIndex = ({ book, guides, manual, codes }: Searched): SearchEntry[] => [
  findable(
    'guide',
    OVERVIEW_SECTION,
    QUICKSTART_SECTION.id,
    QUICKSTART_SECTION.title,
    'quickstart first payment',
  ),
  ...guides.map(({ id, title }) => findable('guide', OVERVIEW_SECTION, id, title)),
  ...book.chapters.flatMap(chapter => inChapter(chapter, book.document.components.schemas)),
  findable('section', EVENTS_SECTION.id, EVENTS_SECTION.id, EVENTS_SECTION.title),
  findable(
    'guide',
    EVENTS_SECTION.id,
    EVENTS_SECTION.arriving,
    'How an event arrives',
    'headers signature webhook',
  ),
  ...book.eventGroups.map(({ id, title }) => findable('section', EVENTS_SECTION.id, id, `${title} events`)),
  ...eventsOfGroups(book.eventGroups).map(({ id, name, post }) =>
    findable('event', EVENTS_SECTION.id, id, name, post.summary),
  ),
  ...codes
    .toSorted(byGenerality)
    .map(({ code, statuses, sentences }) =>
      findable(
        'refusal',
        `${REFUSALS_SECTION.id}/${code}`,
        '',
        code,
        [...statuses, ...sentences.keys()].join(' '),
      ),
    ),
  ...manual.files.flatMap(inGuide),
]

const GENERAL = Object.keys(universalProblems)

const placeOf = ({ code, isUniversal }: RefusalCode): number =>
  isUniversal ? GENERAL.indexOf(code) : GENERAL.length

const byGenerality = (one: RefusalCode, other: RefusalCode): number => placeOf(one) - placeOf(other)

const inChapter = ({ id, name, about, records, entries }: DocsChapter, schemas: Schemas): SearchEntry[] => [
  findable('section', id, id, name, about),
  ...entries.map(entry => ({
    ...findable('operation', id, entry.key, entry.operation.summary, wordsOf(entry, schemas)),
    method: entry.method,
  })),
  ...records.map(record =>
    findable(
      'record',
      id,
      `record.${record}`,
      record,
      `record ${membersOf(schemas[record] ?? {}).join(' ')}`,
    ),
  ),
]

function inGuide(file: GuideFile): SearchEntry[] {
  const section = `${GUIDES_SECTION.id}/${file.name}`
  return guideSections(file).flatMap(({ anchor, title, blocks }) => [
    findable(
      'guide',
      section,
      anchor,
      anchor ? `${file.title}: ${title}` : title,
      wordsIn(blocks.map(textOf).join(' ')),
    ),
    ...blocks.flatMap(block => settingsIn(block, section)),
  ])
}

const textOf = (block: MarkedToken): string => {
  if (block.type === 'table') return [block.header, ...block.rows].flat().map(textOfPart).join(' ')
  if (block.type === 'list') return block.items.map(textOfPart).join(' ')
  return 'text' in block ? block.text : ''
}

const textOfPart = ({ text }: { readonly text: string }): string => text

const wordsIn = (text: string): string =>
  [
    ...new Set(
      stripMarkdown(text)
        .toLowerCase()
        .match(/[\p{Letter}\p{Number}][\p{Letter}\p{Number}_.:/-]+/gu) ?? [],
    ),
  ].join(' ')

function settingsIn(block: MarkedToken, section: string): SearchEntry[] {
  if (block.type !== 'table') return []
  return block.rows.flatMap(row => {
    const [name = '', ...more] = row.map(textOfPart)
    const setting = SETTING_NAME_PATTERN.exec(name)?.[1]
    return setting === undefined
      ? []
      : [findable('setting', section, setting, setting, stripMarkdown(more.join(' ')))]
  })
}

const findable = (
  kind: SearchEntry['kind'],
  section: string,
  anchor: string,
  title: string,
  more = '',
): SearchEntry => ({ kind, section, anchor, title, words: `${title} ${more}`.toLowerCase() })

const wordsOf = (entry: OperationEntry, schemas: Schemas): string => {
  const { key, method: verb, path, operation, refusals, parameters } = entry
  const body = jsonMediaType(operation.requestBody ?? {})?.schema ?? {}
  return [
    key,
    verb,
    path,
    operation['x-scope'],
    ...(operation['x-events'] ?? []),
    ...(operation['x-aliases'] ?? []),
    ...parameters.map(({ name }) => name),
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
