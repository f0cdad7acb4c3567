import type { MarkedToken } from 'marked'
import { problems } from '../../kernel/contract/problem.ts'
import { GUIDES, type GuideFile, type Guides, plain, sectionsOf } from '../guides/guides.ts'
import type { RefusalCode } from '../guides/refusal-pages.ts'
import type { JsonSchema, Schemas } from '../openapi/types.ts'
import { type Book, type Chapter, type Entry, EVENTS, jsonOf, OVERVIEW } from './book.ts'
import { eventsIn } from './event-groups.ts'
import type { Guide } from './guide.ts'
import { SETTING } from './markdown.ts'
import { QUICKSTART } from './navigation.ts'
import { REFUSALS } from './refusals.ts'

export interface Findable {
  readonly kind: 'guide' | 'section' | 'operation' | 'record' | 'event' | 'refusal' | 'setting'
  readonly anchor: string
  readonly section: string
  readonly title: string
  readonly method?: string
  readonly words: string
}

interface Searched {
  readonly book: Book
  readonly guides: readonly Guide[]
  readonly manual: Guides
  readonly codes: readonly RefusalCode[]
}

export const searchIndex = ({ book, guides, manual, codes }: Searched): Findable[] => [
  findable('guide', OVERVIEW, QUICKSTART.id, QUICKSTART.title, 'quickstart first payment'),
  ...guides.map(({ id, title }) => findable('guide', OVERVIEW, id, title)),
  ...book.chapters.flatMap(chapter => inChapter(chapter, book.document.components.schemas)),
  findable('section', EVENTS.id, EVENTS.id, EVENTS.title),
  findable('guide', EVENTS.id, EVENTS.arriving, 'How an event arrives', 'headers signature webhook'),
  ...book.eventGroups.map(({ id, title }) => findable('section', EVENTS.id, id, `${title} events`)),
  ...eventsIn(book.eventGroups).map(({ id, name, post }) =>
    findable('event', EVENTS.id, id, name, post.summary),
  ),
  ...codes
    .toSorted(byGenerality)
    .map(({ code, statuses, sentences }) =>
      findable('refusal', `${REFUSALS.id}/${code}`, '', code, [...statuses, ...sentences.keys()].join(' ')),
    ),
  ...manual.files.flatMap(inGuide),
]

const GENERAL = Object.keys(problems)

const placeOf = ({ code, isUniversal }: RefusalCode): number =>
  isUniversal ? GENERAL.indexOf(code) : GENERAL.length

const byGenerality = (one: RefusalCode, other: RefusalCode): number => placeOf(one) - placeOf(other)

const inChapter = ({ id, name, about, records, entries }: Chapter, schemas: Schemas): Findable[] => [
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

function inGuide(file: GuideFile): Findable[] {
  const section = `${GUIDES.id}/${file.name}`
  return sectionsOf(file).flatMap(({ anchor, title, blocks }) => [
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
      plain(text)
        .toLowerCase()
        .match(/[\p{Letter}\p{Number}][\p{Letter}\p{Number}_.:/-]+/gu) ?? [],
    ),
  ].join(' ')

function settingsIn(block: MarkedToken, section: string): Findable[] {
  if (block.type !== 'table') return []
  return block.rows.flatMap(row => {
    const [name = '', ...more] = row.map(textOfPart)
    const setting = SETTING.exec(name)?.[1]
    return setting === undefined
      ? []
      : [findable('setting', section, setting, setting, plain(more.join(' ')))]
  })
}

const findable = (
  kind: Findable['kind'],
  section: string,
  anchor: string,
  title: string,
  more = '',
): Findable => ({ kind, section, anchor, title, words: `${title} ${more}`.toLowerCase() })

const wordsOf = (entry: Entry, schemas: Schemas): string => {
  const { key, method: verb, path, operation, refusals, parameters } = entry
  const body = jsonOf(operation.requestBody ?? {})?.schema ?? {}
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
