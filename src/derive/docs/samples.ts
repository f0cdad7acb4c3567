import type { JsonSchema } from '../openapi/types.ts'
import { type DocsBook, jsonMediaType, type OperationEntry, streamMediaType } from './book.ts'
import { SAMPLE_FENCES } from './markdown.ts'
import { fenced } from './pages.ts'
import type { CodeSamples } from './panel.ts'
import { printJson, printPython, printTypescript } from './print.ts'

export function curlSample(entry: OperationEntry): string {
  const { method, operation } = entry
  const body = bodyOf(entry)
  const program = streamMediaType(entry.success[1]) ? 'curl -N' : 'curl'
  const command = isImplied(method, body) ? program : `${program} -X ${method}`
  const address = `"$URL${addressOf(entry)}"`
  const lines = [
    ...(address.length > LONG ? [command, address] : [`${command} ${address}`]),
    ...credentialOf(operation.security),
    ...bodyLines(entry, body),
  ]
  return lines.join(' \\\n  ')
}

function bodyLines({ operation }: OperationEntry, body: unknown): string[] {
  if (body === undefined) return []
  const { content = {} } = operation.requestBody ?? {}
  const form = content['multipart/form-data']?.schema?.properties
  if (form) return partsOf(body, form)
  if (content['application/x-www-form-urlencoded'])
    return Object.entries(body as object).map(
      ([name, text]) => `--data-urlencode ${quoted(`${name}=${text}`)}`,
    )
  return ["-H 'Content-Type: application/json'", `-d ${quoted(indented(printJson(body)))}`]
}

const partsOf = (body: unknown, form: Readonly<Record<string, JsonSchema>>): string[] =>
  Object.entries(body as object).map(([name, value]) => {
    if (form[name]?.format === 'binary') return `-F ${quoted(`${name}=@document.pdf`)}`
    return `--form-string ${quoted(`${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`)}`
  })

const LONG = 48

const indented = (text: string): string => text.replaceAll('\n', '\n  ')

/** curl uses GET by default, and POST if there is a body. */
const isImplied = (method: string, body: unknown): boolean => method === (body === undefined ? 'GET' : 'POST')

const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`

const variables: Readonly<Record<string, string>> = {
  apiKey: '-H "Authorization: Bearer $KEY"',
  agentToken: '-H "Authorization: Bearer $TOKEN"',
  dashboardSecret: '-H "X-Dashboard-Secret: $DASHBOARD_SECRET"',
}

function credentialOf([first]: OperationEntry['operation']['security']): string[] {
  const [scheme = ''] = Object.keys(first ?? {})
  return variables[scheme] ? [variables[scheme]] : []
}

function addressOf({ path, parameters }: OperationEntry): string {
  const query = queryOf(parameters).map(([name, value]) => `${name}=${encodeURIComponent(String(value))}`)
  const filled = parameters.reduce(
    (text, { name, example }) => text.replace(`{${name}}`, String(example)),
    path,
  )
  return query.length > 0 ? `${filled}?${query.join('&')}` : filled
}

const queryOf = (parameters: OperationEntry['parameters']): [string, unknown][] =>
  parameters
    .filter(({ in: place, name, required }) => place === 'query' && (required || name === 'limit'))
    .map(({ name, schema }) => [name, schema.examples?.[0] ?? schema.default ?? schema.enum?.[0] ?? '…'])

const bodyOf = ({ operation }: OperationEntry): unknown => jsonMediaType(operation.requestBody ?? {})?.example

/** The input of a call by one of the packages: the ids of the path, then the members of query or body. */
function argumentsOf(entry: OperationEntry): unknown[] {
  const query = queryOf(entry.parameters)
  const members = bodyOf(entry) ?? (query.length > 0 ? Object.fromEntries(query) : undefined)
  return [...idsOf(entry), ...(members === undefined ? [] : [members])]
}

const isIterated = (entry: OperationEntry): boolean =>
  streamMediaType(entry.success[1]) !== undefined ||
  entry.parameters.some(({ in: place, name }) => place === 'query' && name === 'cursor')

export function codeSamples(book: DocsBook, entry: OperationEntry): CodeSamples {
  const command = cliSample(entry)
  return {
    curl: curlSample(entry),
    ...(book.keysForClients.has(entry.key)
      ? { typescript: typescriptSample(entry), python: pythonSample(entry) }
      : {}),
    ...(command === undefined ? {} : { cli: command }),
  }
}

export const fencedSamples = (samples: CodeSamples): string =>
  Object.entries(SAMPLE_FENCES)
    .flatMap(([fence, language]) => (samples[language] ? [fenced(fence, samples[language])] : []))
    .join('\n\n')

export function typescriptSample(entry: OperationEntry): string {
  const call = `pay.${entry.key}(${argumentsOf(entry).map(printTypescript).join(', ')})`
  if (isIterated(entry)) return `for await (const one of ${call}) console.log(one)`
  return `${entry.success[1].content ? 'const result = ' : ''}await ${call}`
}

export function pythonSample(entry: OperationEntry): string {
  const call = `pay.${inSnakeCase(entry.key)}(${argumentsOf(entry).map(printPython).join(', ')})`
  if (isIterated(entry)) return `for one in ${call}:\n    print(one)`
  return entry.success[1].content ? `result = ${call}` : call
}

const inSnakeCase = (name: string): string => name.replace(/[A-Z]/g, letter => `_${letter.toLowerCase()}`)

export function cliSample(entry: OperationEntry): string | undefined {
  const { content = {} } = entry.operation.requestBody ?? {}
  if (Object.keys(content).some(type => type !== 'application/json')) return undefined
  const [noun = '', verb = ''] = entry.key.split('.').map(inKebabCase)
  return ['agentpay', noun, verb, ...idsOf(entry), ...bodyWordsOf(entry)].map(quotedIfNeeded).join(' ')
}

const inKebabCase = (name: string): string => name.replace(/[A-Z]/g, letter => `-${letter.toLowerCase()}`)

const idsOf = ({ parameters }: OperationEntry): string[] =>
  parameters.filter(({ in: place }) => place === 'path').map(({ example }) => String(example))

function bodyWordsOf(entry: OperationEntry): string[] {
  const example = bodyOf(entry)
  if (example === undefined) return []
  const members = Object.entries(example as object)
  const isPlain = members.every(([name, value]) => !TAKEN.has(name) && isTyped(value))
  if (!isPlain) return ['--body', JSON.stringify(example)]
  return members.flatMap(([name, value]) => [`--${name}`, String(value)])
}

/** A text that begins with a hyphen would look like an option. */
const isTyped = (value: unknown): boolean =>
  typeof value === 'number' || (typeof value === 'string' && /^[^-]/.test(value))

const TAKEN: ReadonlySet<string> = new Set([
  'all',
  'body',
  'file',
  'help',
  'json',
  'operator',
  'output',
  'profile',
])

const quotedIfNeeded = (word: string): string => (/^[\w@%+=:,./-]+$/.test(word) ? word : quoted(word))
