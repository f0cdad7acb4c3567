import { type Book, type Entry, jsonOf, streamOf } from '../docs/book.ts'
import { asJson } from '../docs/print.ts'
import { samplesOf } from '../docs/samples.ts'
import { ACCESS } from '../openapi/operation.ts'
import { memberList, oneLine } from './members.ts'

const fenced = (language: string, code: string): string => `\`\`\`${language}\n${code}\n\`\`\``

/** An operation as Markdown: what it does, takes, returns and refuses, and how it is called. */
export function operationText(book: Book, entry: Entry): string {
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

/** A record as Markdown. */
export function recordText(book: Book, name: string): string {
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
