import { type Book, type Chapter, type Entry, EVENTS, OVERVIEW } from './book.ts'
import { eventsIn } from './event-groups.ts'
import type { Guide } from './guide.ts'

/** A part of the reference as the script of the pages finds it. */
export interface Findable {
  readonly kind: 'guide' | 'section' | 'operation' | 'record' | 'event'
  readonly anchor: string
  /** The page on which it is; empty for the overview. */
  readonly section: string
  readonly title: string
  readonly method?: string
  /** The searchable text, in lower case. */
  readonly words: string
}

/** All search results and link targets. */
export const searchIndex = (book: Book, guides: readonly Guide[]): Findable[] => [
  ...[{ id: 'quickstart', title: 'Quickstart' }, ...guides].map(({ id, title }) =>
    findable('guide', OVERVIEW, id, title),
  ),
  ...book.chapters.flatMap(inChapter),
  findable('section', EVENTS.id, EVENTS.id, EVENTS.title),
  findable('guide', EVENTS.id, EVENTS.arriving, 'How an event arrives', 'headers signature webhook'),
  ...book.eventGroups.map(({ id, title }) => findable('section', EVENTS.id, id, `${title} events`)),
  ...eventsIn(book.eventGroups).map(({ id, name, post }) =>
    findable('event', EVENTS.id, id, name, post.summary),
  ),
]

const inChapter = ({ id, name, about, records, entries }: Chapter): Findable[] => [
  findable('section', id, id, name, about),
  ...entries.map(entry => ({
    ...findable('operation', id, entry.key, entry.operation.summary, wordsOf(entry)),
    method: entry.method,
  })),
  ...records.map(record => findable('record', id, `record.${record}`, record, 'record')),
]

const findable = (
  kind: Findable['kind'],
  section: string,
  anchor: string,
  title: string,
  more = '',
): Findable => ({ kind, section, anchor, title, words: `${title} ${more}`.toLowerCase() })

/** The searchable words of an operation: names, path, scope, events and its own refusals. */
const wordsOf = ({ key, method: verb, path, operation, refusals }: Entry): string =>
  [
    key,
    verb,
    path,
    operation['x-scope'],
    ...(operation['x-events'] ?? []),
    ...(operation['x-aliases'] ?? []),
    ...refusals.filter(({ universal }) => !universal).map(({ code }) => code),
  ]
    .filter(Boolean)
    .join(' ')
