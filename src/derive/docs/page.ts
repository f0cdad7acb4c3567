import { groupsText, guidesByOperation } from '../guides/guide-pages.ts'
import type { Guides } from '../guides/guides.ts'
import { referencedName, schemaExample } from '../openapi/example.ts'
import type { StateMachines } from '../openapi/types.ts'
import {
  type DocsBook,
  type DocsChapter,
  docsSectionAddress,
  EVENTS_SECTION,
  jsonMediaType,
  type OperationEntry,
  OVERVIEW_SECTION,
  operationSection,
} from './book.ts'
import { eventsText } from './events.ts'
import { memberList } from './members.ts'
import { QUICKSTART_ADDRESS } from './navigation.ts'
import { operationText } from './operation.ts'
import { bulletList, type DocsPage, fenced, operationList, paragraphs } from './pages.ts'
import { DOCS_PARTS, MOST_USED } from './parts.ts'
import { printJson } from './print.ts'
import { quickstartText } from './quickstart.ts'

const PART_LINKS = [
  { address: QUICKSTART_ADDRESS, ...DOCS_PARTS.start },
  ...(['guides', 'api', 'operate'] as const).map(name => ({
    address: docsSectionAddress(DOCS_PARTS[name].section),
    ...DOCS_PARTS[name],
  })),
].map(({ address, title, about }) => `[${title}](${address}): ${about}`)

export function overviewPage({ document }: DocsBook, manual: Guides, url: string): DocsPage {
  const { title, summary, description } = document.info
  return {
    part: 'start',
    section: OVERVIEW_SECTION,
    title: `${title} documentation`,
    about: summary,
    markdown: paragraphs(
      `# ${title}`,
      `**${summary}**`,
      description.split(/^## /m)[0]?.trim(),
      bulletList(PART_LINKS),
      quickstartText(url),
      groupsText(manual, 'start'),
    ),
  }
}

export function apiPage(book: DocsBook, url: string): DocsPage {
  const used = MOST_USED.flatMap(key => book.entries.find(entry => entry.key === key) ?? [])
  const { about, section } = DOCS_PARTS.api
  const places = book.places.flatMap(place => [
    `### ${place.title} {#place-${place.id}}`,
    place.about,
    bulletList(place.chapters.map(({ id, name, about }) => `[${name}](${docsSectionAddress(id)}): ${about}`)),
  ])
  return {
    part: 'api',
    section,
    title: titleOf(book, 'How the API works'),
    about,
    markdown: paragraphs(
      '# API',
      about,
      bulletList([
        `Address: \`${url}\``,
        'Credential: `Authorization: Bearer …`',
        'Bodies: JSON, in both directions',
        'Data: kept in the EU',
        'For programs: [OpenAPI 3.1](/openapi.json), [llms.txt](/llms.txt)',
      ]),
      '## Used most',
      operationList(book, used),
      '## All operations',
      ...places,
      ...book.rules.map(({ title, text }) => `## ${title}${text.trimEnd()}`),
    ),
  }
}

export const chapterPage = (book: DocsBook, chapter: DocsChapter): DocsPage => ({
  part: 'api',
  section: chapter.id,
  title: titleOf(book, chapter.name),
  about: chapter.about,
  hasColumns: true,
  markdown: paragraphs(
    `# ${chapter.name}`,
    chapter.about,
    operationList(book, chapter.entries),
    ...statesText(chapter.states),
    ...chapter.records.flatMap(record => recordText(book, record)),
  ),
})

/** A page for each operation, with the guides that name it. */
export function operationPages(book: DocsBook, manual: Guides): DocsPage[] {
  const guides = guidesByOperation(book, manual)
  return book.chapters.flatMap(chapter =>
    chapter.entries.map(entry => ({
      part: 'api' as const,
      section: operationSection(entry.key),
      title: titleOf(book, entry.operation.summary),
      about: `${entry.method} ${entry.path}`,
      hasColumns: true,
      markdown: operationText(book, entry, chapter, guides.get(entry) ?? []),
    })),
  )
}

const ABOUT_EVENTS = 'Changes of your records, which are sent to the addresses that subscribe to them.'

export const eventsPage = (book: DocsBook): DocsPage => ({
  part: 'api',
  section: EVENTS_SECTION.id,
  title: titleOf(book, EVENTS_SECTION.title),
  about: ABOUT_EVENTS,
  hasColumns: true,
  markdown: eventsText(book, ABOUT_EVENTS),
})

const titleOf = ({ document: { info } }: DocsBook, name: string): string => `${name} · ${info.title} API`

function recordText(book: DocsBook, name: string): string[] {
  const schema = book.document.components.schemas[name] ?? {}
  return [
    `## ${name} {#record.${name}}`,
    schema.description ?? '',
    fenced(`json ${name}`, printJson(exampleFor(book, name))),
    memberList(book, schema, 'returned'),
  ]
}

function exampleFor(book: DocsBook, name: string): unknown {
  const returned = book.entries.flatMap(entry => returnedBy(entry, name))
  const { schemas } = book.document.components
  return returned[0] ?? schemaExample(schemas[name] ?? {}, schemas)
}

function returnedBy({ success: [, response] }: OperationEntry, name: string): unknown[] {
  const { schema, example } = jsonMediaType(response) ?? {}
  if (schema?.$ref && referencedName(schema.$ref) === name) return [example]
  const items = schema?.properties?.data?.items
  return items?.$ref && referencedName(items.$ref) === name ? (example as { data: unknown[] }).data : []
}

const statesText = (states: StateMachines): string[] =>
  Object.entries(states).flatMap(([noun, table]) => [
    `The states of ${/^[aeiou]/.test(noun) ? 'an' : 'a'} ${noun}, from the first:`,
    bulletList(
      Object.entries(table).map(
        ([from, next]) =>
          `\`${from}\` ${next.length > 0 ? `becomes ${next.map(one => `\`${one}\``).join(', ')}` : 'stays'}`,
      ),
    ),
  ])
