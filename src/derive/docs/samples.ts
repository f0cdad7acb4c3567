import type { JsonSchema } from '../openapi/types.ts'
import type { Entry } from './book.ts'
import { jsonOf } from './book.ts'
import { asJson, asTypescript } from './print.ts'

/** How the operation is called from a terminal, with `$URL` and the credential set before. */
export function curlOf(entry: Entry): string {
  const { method, operation } = entry
  const body = bodyOf(entry)
  const command = isImplied(method, body) ? 'curl' : `curl -X ${method}`
  const address = `"$URL${addressOf(entry)}"`
  const lines = [
    ...(address.length > LONG ? [command, address] : [`${command} ${address}`]),
    ...credentialOf(operation.security),
    ...bodyLines(entry, body),
  ]
  return lines.join(' \\\n  ')
}

function bodyLines({ operation }: Entry, body: unknown): string[] {
  if (body === undefined) return []
  const { content = {} } = operation.requestBody ?? {}
  const form = content['multipart/form-data']?.schema?.properties
  if (form) return partsOf(body, form)
  if (content['application/x-www-form-urlencoded'])
    return Object.entries(body as object).map(
      ([name, text]) => `--data-urlencode ${quoted(`${name}=${text}`)}`,
    )
  return ["-H 'Content-Type: application/json'", `-d ${quoted(indented(asJson(body)))}`]
}

/** A file is sent from the disk; what is no text is sent as JSON. */
const partsOf = (body: unknown, form: Readonly<Record<string, JsonSchema>>): string[] =>
  Object.entries(body as object).map(([name, value]) => {
    if (form[name]?.format === 'binary') return `-F ${quoted(`${name}=@document.pdf`)}`
    return `--form-string ${quoted(`${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`)}`
  })

/** Breaks long arguments onto lines of their own. */
const LONG = 48

const indented = (text: string): string => text.replaceAll('\n', '\n  ')

/** curl sends a GET, and a POST where there is a body. */
const isImplied = (method: string, body: unknown): boolean => method === (body === undefined ? 'GET' : 'POST')

const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`

const variables: Readonly<Record<string, string>> = {
  apiKey: '-H "Authorization: Bearer $KEY"',
  agentToken: '-H "Authorization: Bearer $TOKEN"',
  dashboardSecret: '-H "X-Dashboard-Secret: $DASHBOARD_SECRET"',
}

function credentialOf([first]: Entry['operation']['security']): string[] {
  const [scheme = ''] = Object.keys(first ?? {})
  return variables[scheme] ? [variables[scheme]] : []
}

function addressOf({ path, parameters }: Entry): string {
  const query = queryOf(parameters).map(([name, value]) => `${name}=${encodeURIComponent(String(value))}`)
  const filled = parameters.reduce(
    (text, { name, example }) => text.replace(`{${name}}`, String(example)),
    path,
  )
  return query.length > 0 ? `${filled}?${query.join('&')}` : filled
}

/** The required parameters, and `limit`. */
const queryOf = (parameters: Entry['parameters']): [string, unknown][] =>
  parameters
    .filter(({ in: place, name, required }) => place === 'query' && (required || name === 'limit'))
    .map(({ name, schema }) => [name, schema.examples?.[0] ?? schema.default ?? schema.enum?.[0] ?? '…'])

const bodyOf = ({ operation }: Entry): unknown => jsonOf(operation.requestBody ?? {})?.example

/** The call with the typed client. */
export function typescriptOf(entry: Entry): string {
  const params = entry.parameters
    .filter(({ in: place }) => place === 'path')
    .map(({ name, example }) => [name, example])
  const query = queryOf(entry.parameters)
  const body = bodyOf(entry)
  const input = {
    ...(params.length > 0 ? { params: Object.fromEntries(params) } : {}),
    ...(query.length > 0 ? { query: Object.fromEntries(query) } : {}),
    ...(body === undefined ? {} : { body }),
  }
  const given = Object.keys(input).length > 0 ? asTypescript(input) : ''
  const returns = entry.success[1].content ? 'const { body } = ' : ''
  return `${returns}await client.${entry.key}(${given})`
}
