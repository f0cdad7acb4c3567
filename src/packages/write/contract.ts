import { readFileSync } from 'node:fs'
import { type CommandDefinition, type CommandTable, idMembers } from '../../derive/commands/table.ts'
import { clientOperationKeys } from '../../derive/openapi/for-clients.ts'
import type { JsonSchema, OpenapiDocument, OperationObject, Schemas } from '../../derive/openapi/types.ts'
import { parseOpenapiFile } from '../../derive/openapi/write.ts'

export interface ClientOperation {
  readonly key: string
  readonly noun: string
  readonly verb: string
  readonly method: string
  readonly path: string
  readonly summary: string
  readonly description: string | undefined
  readonly params: readonly string[]
  readonly input: ClientInput | undefined
  /** The members that take an id, each with the prefix of that id: `wallet:fromWalletId`. */
  readonly idMembers: readonly string[]
  readonly takesKey: boolean
  readonly isRepeatable: boolean
  readonly answers: 'json' | 'list' | 'file' | 'stream'
  /** It asks for CSV, where the operation has JSON, too. */
  readonly isCsv?: true
  /** The answer, a record of the list, or of the stream; undefined for files and empty answers. */
  readonly result: JsonSchema | undefined
  /** The answer to a caller that does not wait, where the operation may go on. */
  readonly accepted: JsonSchema | undefined
  /** Its own refusals, beside those of `problems`, which all operations have. */
  readonly codes: readonly string[]
}

export interface ClientInput {
  readonly place: 'query' | 'body'
  readonly schema: JsonSchema
  readonly isRequired: boolean
}

export interface ClientContract {
  readonly version: string
  readonly schemas: Schemas
  readonly nouns: Readonly<Record<string, string>>
  readonly operations: readonly ClientOperation[]
}

const read = (name: string): string => readFileSync(new URL(`../../../${name}`, import.meta.url), 'utf8')

export const readClientContract = (): ClientContract =>
  buildClientContract(
    parseOpenapiFile(read('openapi.json')),
    JSON.parse(read('commands.json')) as CommandTable,
  )

export function buildClientContract(document: OpenapiDocument, table: CommandTable): ClientContract {
  const found = Object.values(document.paths).flatMap(item => Object.values(item))
  const byKey = new Map(found.map(operation => [operation.operationId, operation]))
  const isForClients = clientOperationKeys(document)
  const operations = Object.entries(table.operations)
    .filter(([key]) => isForClients.has(key))
    .map(([key, command]) => ({
      command,
      operation: operationOf(key, command, byKey.get(key) as OperationObject),
    }))
    .flatMap(({ command, operation }) => (command.csv ? [operation, csvFormOf(operation)] : [operation]))
  const nouns = Object.entries(table.nouns).map(([noun, { about }]) => [inCamelCase(noun), about])
  const { Error: _, Problem: __, ...schemas } = document.components.schemas
  return { version: table.version, schemas, nouns: Object.fromEntries(nouns), operations }
}

/** `analytics.costs` is `analytics.costsCsv`, too: a method has one type of answer. */
const csvFormOf = (operation: ClientOperation): ClientOperation => ({
  ...operation,
  key: `${operation.key}Csv`,
  verb: `${operation.verb}Csv`,
  summary: `${operation.summary}, as CSV`,
  answers: 'file',
  isCsv: true,
  result: undefined,
})

const nounIn = (key: string): string => key.slice(0, key.indexOf('.'))
const inCamelCase = (name: string): string =>
  name.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase())

function operationOf(key: string, command: CommandDefinition, operation: OperationObject): ClientOperation {
  const { method, path, summary, description, takesKey, isRepeatable, isList, media, status } = command
  const content = contentOf(operation, status)
  const streamed = content['text/event-stream'] as { readonly 'x-itemSchema'?: JsonSchema } | undefined
  const json = content['application/json']?.schema
  const accepted = contentOf(operation, 202)['application/json']?.schema
  // What several people must approve first is answered with the proposal.
  const isProposal = accepted !== undefined && status !== 202 && !command.mayGoOn
  const either = json && isProposal ? { anyOf: [json, accepted] } : json
  const answers = streamed ? 'stream' : isList ? 'list' : media === undefined ? 'json' : 'file'
  return {
    key,
    noun: nounIn(key),
    verb: key.slice(key.indexOf('.') + 1),
    method,
    path,
    summary,
    description,
    params: command.params.map(({ name }) => name),
    input: inputOf(command, operation),
    idMembers: idMembers(command).map(({ idOf, name }) => `${idOf}:${name}`),
    takesKey: takesKey === true,
    isRepeatable: isRepeatable === true,
    answers,
    result: answers === 'list' ? json?.properties?.data?.items : (streamed?.['x-itemSchema'] ?? either),
    accepted: command.mayGoOn && accepted,
    codes: command.refusals.map(([code]) => code),
  }
}

function contentOf({ responses }: OperationObject, status: number) {
  const response = responses[String(status)]
  return response && !('$ref' in response) ? (response.content ?? {}) : {}
}

function inputOf({ query, body }: CommandDefinition, operation: OperationObject): ClientInput | undefined {
  const { content = {}, required = false } = operation.requestBody ?? {}
  if (body) return { place: 'body', schema: bodySchema(content), isRequired: required }
  if (query.length === 0) return undefined
  const inQuery = (operation.parameters ?? []).flatMap(parameter =>
    'in' in parameter && parameter.in === 'query' ? [parameter] : [],
  )
  const required_ = inQuery.filter(parameter => parameter.required).map(({ name }) => name)
  const properties = Object.fromEntries(
    inQuery.map(({ name, schema, description }) => [
      name,
      { ...schema, ...(description === undefined ? {} : { description }) },
    ]),
  )
  const schema = { type: 'object', properties, required: required_ }
  return { place: 'query', schema, isRequired: required_.length > 0 }
}

function bodySchema(content: NonNullable<OperationObject['requestBody']>['content']): JsonSchema {
  const json = content['application/json']?.schema ?? {}
  const form = content['multipart/form-data']?.schema?.properties ?? {}
  if (!json.properties) return json
  const properties = Object.entries(json.properties).map(([name, member]) => [
    name,
    form[name]?.format === 'binary' ? { ...member, format: 'binary' } : member,
  ])
  return { ...json, properties: Object.fromEntries(properties) }
}
