import { type Areas, publishedOperations } from '../../kernel/contract/area.ts'
import { eventDescriptions } from '../../kernel/contract/event-types.ts'
import { mediaTypeOf } from '../../kernel/contract/file.ts'
import {
  type AnyOperation,
  isWritingOperation,
  type RefusalSpec,
  type RegisteredOperation,
  readsRawBody,
  takesIdempotencyKey,
} from '../../kernel/contract/operation.ts'
import { runAtOnce } from '../../kernel/contract/time-slices.ts'
import { findUploads } from '../../kernel/contract/upload.ts'
import { describeConstraints, describeType, idPrefixOf } from '../docs/schema-words.ts'
import { openapiInfo } from '../openapi/document.ts'
import { resolveSchema } from '../openapi/example.ts'
import { isAnsweredEarly, isBodyRequired } from '../openapi/operation.ts'
import { type ParameterExample, parameterExamples, pathParameters } from '../openapi/parameters.ts'
import { SchemaCollector } from '../openapi/schemas.ts'
import type { JsonSchema, Schemas } from '../openapi/types.ts'
import { writeJsonLines } from '../openapi/write.ts'
import type {
  BodyMember,
  BodyShape,
  CommandDefinition,
  CommandNoun,
  CommandTable,
  ValueShape,
} from './table.ts'

function membersOf(schema: JsonSchema, schemas: Schemas): BodyMember[] {
  const options = optionsOf(schema, schemas)
  const members = new Map<string, BodyMember>()
  for (const { properties = {}, required = [] } of options)
    for (const [name, member] of Object.entries(properties)) {
      const isRequired = options.length === 1 && required.includes(name)
      if (!members.has(name))
        members.set(name, { name, ...(isRequired ? { required: true } : {}), ...shapeOf(member, schemas) })
    }
  return [...members.values()]
}

function shapeOf(schema: JsonSchema, schemas: Schemas): ValueShape {
  const options = optionsOf(schema, schemas)
  const [target = {}] = options
  const members = membersOf(schema, schemas)
  const { items: _, ...own } = target
  const limits = options.length === 1 ? describeConstraints(own) : []
  const description = schema.description ?? target.description
  const example = target.examples?.[0]
  const choices = choicesOf(options)
  const items = options.find(option => option.items)?.items
  const idOf = options.map(idPrefixOf).find(prefix => prefix !== undefined)
  const values = options.find(({ additionalProperties }) => typeof additionalProperties === 'object')
  return {
    types: typesOf(options),
    words: [...new Set(options.map(describeType))].join(' or '),
    ...(idOf === undefined ? {} : { idOf }),
    ...(limits.length > 0 ? { limits } : {}),
    ...(description === undefined ? {} : { description }),
    ...(example === undefined ? {} : { example }),
    ...(choices === undefined ? {} : { choices }),
    ...(schema['x-synonyms'] ? { synonyms: schema['x-synonyms'] } : {}),
    ...(members.length > 0 ? { members } : {}),
    ...(items ? { items: shapeOf(items, schemas) } : {}),
    ...(values ? { values: shapeOf(values.additionalProperties as JsonSchema, schemas) } : {}),
  }
}

function optionsOf(schema: JsonSchema, schemas: Schemas): JsonSchema[] {
  if (schema.$ref) return optionsOf(resolveSchema(schema.$ref, schemas), schemas)
  const options = schema.anyOf ?? schema.oneOf
  return options ? options.flatMap(option => optionsOf(option, schemas)) : [schema]
}

/** Empty if an alternative has no type, since then any value is allowed. */
function typesOf(options: readonly JsonSchema[]): string[] {
  const types = options.map(option => [option.type ?? typeOfConst(option)].flat().filter(Boolean) as string[])
  return types.some(list => list.length === 0) ? [] : [...new Set(types.flat())]
}

function typeOfConst({ const: only, enum: [first] = [], properties }: JsonSchema): string {
  const value = only ?? first
  if (value === undefined) return properties ? 'object' : ''
  return value === null ? 'null' : typeof value
}

function choicesOf(options: readonly JsonSchema[]): readonly unknown[] | undefined {
  const choices = options.map(({ enum: values, const: only }) => values ?? (only === undefined ? [] : [only]))
  return choices.some(list => list.length === 0) ? undefined : choices.flat()
}

export function buildCommandTable(areas: Areas): CommandTable {
  const operations = publishedOperations(areas)
  const schemas = new SchemaCollector()
  const contracts = operations.map(({ operation }) => operation)
  const exampleFor = runAtOnce(parameterExamples(contracts, schemas))
  return {
    version: openapiInfo.version,
    nouns: nounsOf(areas, operations),
    eventNames: eventNamesOf(areas),
    operations: Object.fromEntries(
      operations.map(registered => [registered.key, commandOf(registered, schemas, exampleFor)]),
    ),
  }
}

/** Writes one line for each noun, event and operation, so that a diff shows each change. */
export const serializeCommandTable = (table: CommandTable): string =>
  writeJsonLines({ ...table }, { nouns: 1, eventNames: 1, operations: 1 })

function eventNamesOf(areas: Areas): Record<string, string> {
  const sent = [...eventDescriptions(areas)].filter(([, { reserved }]) => !reserved)
  return Object.fromEntries(sent.map(([name, { sentence }]) => [name, sentence] as const).sort())
}

const inKebabCase = (name: string): string => name.replace(/[A-Z]/g, letter => `-${letter.toLowerCase()}`)

function nounsOf(areas: Areas, operations: readonly RegisteredOperation[]): Record<string, CommandNoun> {
  const keys = Map.groupBy(operations, ({ key }) => key.split('.')[0] ?? '')
  return Object.fromEntries(
    [...keys].map(([noun, own]) => {
      const { name = noun, about = '' } = areas[noun] ?? {}
      const verbs = own.map(({ key }) => [inKebabCase(key.slice(noun.length + 1)), key])
      return [inKebabCase(noun), { name, about, verbs: Object.fromEntries(verbs) }]
    }),
  )
}

function commandOf(
  { key, operation }: RegisteredOperation,
  schemas: SchemaCollector,
  exampleFor: ParameterExample,
): CommandDefinition {
  const [noun = '', verb = ''] = key.split('.').map(inKebabCase)
  const { method, path, summary, description, callers, scope, csv } = operation
  const [status, returned] = operation.returns
  const media = mediaTypeOf(returned)
  const query = membersIn(operation.query, schemas)
  const isPaged = query.some(({ name }) => name === 'cursor')
  return {
    noun,
    verb,
    method,
    path,
    summary,
    ...(description === undefined ? {} : { description }),
    callers,
    ...(scope === undefined ? {} : { scope }),
    params: paramsOf(operation, exampleFor),
    query,
    ...bodyOf(operation, schemas),
    ...(takesIdempotencyKey(operation) ? { takesKey: true } : {}),
    ...(isAnsweredEarly(operation) ? { mayGoOn: true } : {}),
    ...(isWritingOperation(operation) && method !== 'PUT' ? {} : { isRepeatable: true }),
    ...(isPaged ? { isList: true } : {}),
    status,
    ...(media === undefined ? {} : { media }),
    ...(csv === undefined ? {} : { csv }),
    refusals: Object.entries<RefusalSpec>(operation.fails ?? {}).map(([code, [of, message]]) => [
      code,
      of,
      message,
    ]),
  }
}

const paramsOf = (operation: AnyOperation, exampleFor: ParameterExample): CommandDefinition['params'] =>
  pathParameters(operation, exampleFor).map(({ name, description = '', example }) => ({
    name,
    description,
    example: String(example),
  }))

function membersIn(schema: AnyOperation['query'], schemas: SchemaCollector): BodyMember[] {
  if (!schema) return []
  const root = schemas.add(schema)
  return membersOf(root, schemas.all())
}

function bodyOf(operation: AnyOperation, schemas: SchemaCollector): { body?: BodyShape } {
  const { body, example, method } = operation
  if (readsRawBody(operation) && method !== 'GET')
    return { body: { kind: 'raw', required: false, members: [] } }
  if (!body) return {}
  const files = findUploads(body)
  const members = membersIn(body, schemas).map(
    (member): BodyMember => (files.has(member.name) ? { ...member, isFile: true } : member),
  )
  const shown = example === undefined ? {} : { example }
  return { body: { kind: 'json', required: isBodyRequired(body), members, ...shown } }
}
