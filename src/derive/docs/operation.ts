import { STATUS_CODES } from 'node:http'
import { type GuideFile, guideAddress } from '../guides/guides.ts'
import { headerParameters } from '../openapi/headers.ts'
import type { ParameterObject, ResponseObject } from '../openapi/types.ts'
import {
  type DocsBook,
  type DocsChapter,
  docsSectionAddress,
  jsonMediaType,
  type OperationEntry,
  ruleAddress,
  streamMediaType,
} from './book.ts'
import { memberList, parameterList, recordLink } from './members.ts'
import { bulletList, fenced, oneLine, paragraphs } from './pages.ts'
import { printJson } from './print.ts'
import { REFUSALS_SECTION, refusalAddress } from './refusal-codes.ts'
import { codeSamples, fencedSamples } from './samples.ts'

/** The page of an operation. Its parts are those that a reader of another API expects. */
export function operationText(
  book: DocsBook,
  entry: OperationEntry,
  { id, name }: DocsChapter,
  guides: readonly GuideFile[],
): string {
  const { key, method, path, operation } = entry
  return paragraphs(
    `# ${operation.summary}`,
    `\`${method} ${path}\` · operation \`${key}\` · [${name}](${docsSectionAddress(id)})`,
    operation.description,
    operation.security.some(scheme => 'payment' in scheme) && 'Open to anyone who pays.',
    fencedSamples(codeSamples(book, entry)),
    answer(entry),
    ...inputs(book, entry),
    ...returns(book, entry),
    ...ownHeaders(entry),
    ...errors(entry),
    guides.length > 0 && '## Guides',
    bulletList(guides.map(({ name, title, about }) => `[${title}](${guideAddress(name)}): ${about}`)),
  )
}

function answer({ success: [status, response] }: OperationEntry): string | undefined {
  const caption = `${status} ${STATUS_CODES[status]}`
  const streamed = streamMediaType(response)
  if (streamed) return fenced(`text ${caption}`, String(streamed.example).trimEnd())
  const example = jsonMediaType(response)?.example
  return example === undefined ? undefined : fenced(`json ${caption}`, printJson(example))
}

const PLACES = { path: 'Path', query: 'Query', header: 'Headers' } as const

function inputs(book: DocsBook, { parameters: all, operation }: OperationEntry): string[] {
  const { requestBody } = operation
  const body = jsonMediaType(requestBody ?? {})?.schema
  const about = [
    mediaTypes(requestBody?.content),
    requestBody?.description,
    !requestBody?.required && 'It may be left out.',
  ].filter(Boolean)
  const lists = (['path', 'query', 'header'] as const).flatMap(place => {
    const own = all.filter(parameter => parameter.in === place && !isOfAll(parameter))
    return own.length > 0 ? [`## ${PLACES[place]}`, parameterList(book, own)] : []
  })
  return [...lists, ...(body ? ['## Body', about.join(' '), memberList(book, body, 'sent')] : [])]
}

function mediaTypes(content: object = {}): string | undefined {
  const others = Object.keys(content).filter(type => type !== 'application/json')
  if (others.includes('multipart/form-data'))
    return 'As multipart/form-data, or as JSON with files in Base64.'
  return others.length > 0 && others[0] !== '*/*' ? `As ${others[0]}, or as JSON.` : undefined
}

const NAMES_OF_ALL: ReadonlySet<string> = new Set(Object.values(headerParameters).map(({ name }) => name))

const isOfAll = ({ in: place, name }: ParameterObject): boolean =>
  place === 'header' && NAMES_OF_ALL.has(name)

function returns(book: DocsBook, { success: [status, response] }: OperationEntry): string[] {
  const said = (what: string): string[] => ['## Returns', `\`${status} ${STATUS_CODES[status]}\`: ${what}`]
  const streamed = streamMediaType(response)
  if (streamed) {
    const { record = '' } = book.follow(streamed['x-itemSchema'])
    return said(`a stream of ${recordLink(book, record)} records, \`text/event-stream\`.`)
  }
  const schema = jsonMediaType(response)?.schema
  if (!schema) return said(`${Object.keys(response.content ?? {})[0] ?? 'nothing'}.`)
  const { record, schema: target } = book.follow(schema)
  if (record) return said(`the ${recordLink(book, record)} record.`)
  const items = target.properties?.data?.items
  const page = items && 'nextCursor' in (target.properties ?? {}) && book.follow(items).record
  if (page) return said(`a [page](${ruleAddress('lists')}) of ${recordLink(book, page)} records.`)
  return [...said('an object.'), memberList(book, target, 'returned')]
}

function ownHeaders({ operation }: OperationEntry): string[] {
  const found = Object.entries(operation.responses).flatMap(([status, response]) =>
    '$ref' in response ? [] : ownHeadersOf(response).map(about => ({ status, about })),
  )
  if (found.length === 0) return []
  const lines = found.map(({ status, about: [name, about] }) => `\`${name}\` *${status}*: ${oneLine(about)}`)
  return ['## Headers of the answer', bulletList(lines)]
}

const ownHeadersOf = ({ headers = {} }: ResponseObject): [name: string, about: string][] =>
  Object.entries(headers).flatMap(([name, header]) =>
    '$ref' in header || name === 'X-Error-Code' ? [] : [[name, header.description ?? '']],
  )

function errors({ refusals }: OperationEntry): string[] {
  const own = refusals.filter(({ universal }) => !universal)
  const lines = own.map(
    ({ status, code, message }) => `${status} [\`${code}\`](${refusalAddress(code)}): ${oneLine(message)}`,
  )
  const shared = `[${own.length > 0 ? 'And those' : 'Those'} of any operation](${docsSectionAddress(REFUSALS_SECTION.id)}).`
  return ['## Errors', bulletList([...lines, shared])]
}
