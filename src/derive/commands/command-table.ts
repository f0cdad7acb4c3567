import { type Areas, published } from '../../kernel/contract/area.ts'
import { eventDescriptions } from '../../kernel/contract/event-types.ts'
import { mediaTypeOf } from '../../kernel/contract/file.ts'
import {
  type AnyOperation,
  type Failure,
  isWriting,
  type Registered,
  takesKey,
} from '../../kernel/contract/operation.ts'
import { atOnce } from '../../kernel/contract/time-slices.ts'
import { uploadsIn } from '../../kernel/contract/upload.ts'
import { info } from '../openapi/document.ts'
import { isBodyRequired } from '../openapi/operation.ts'
import { type ParameterExample, parameterExamples, pathParameters } from '../openapi/parameters.ts'
import { SchemaCollector } from '../openapi/schemas.ts'
import { linesOf } from '../openapi/write.ts'
import { membersOf } from './shapes.ts'
import type { BodyShape, Command, CommandTable, Member, Noun } from './table.ts'

/** The table that the command and every light client are made of. */
export function commandTable(areas: Areas): CommandTable {
  const operations = published(areas)
  const schemas = new SchemaCollector()
  const contracts = operations.map(({ operation }) => operation)
  const exampleFor = atOnce(parameterExamples(contracts, schemas))
  return {
    version: info.version,
    nouns: nounsOf(areas, operations),
    eventNames: eventNamesOf(areas),
    operations: Object.fromEntries(
      operations.map(registered => [registered.key, commandOf(registered, schemas, exampleFor)]),
    ),
  }
}

/** The table as it is committed: one line for each noun, event and operation, so that a change shows. */
export const writeTable = (table: CommandTable): string =>
  linesOf({ ...table }, { nouns: 1, eventNames: 1, operations: 1 })

function eventNamesOf(areas: Areas): Record<string, string> {
  const sent = [...eventDescriptions(areas)].filter(([, { reserved }]) => !reserved)
  return Object.fromEntries(sent.map(([name, { sentence }]) => [name, sentence] as const).sort())
}

const inKebabCase = (name: string): string => name.replace(/[A-Z]/g, letter => `-${letter.toLowerCase()}`)

function nounsOf(areas: Areas, operations: readonly Registered[]): Record<string, Noun> {
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
  { key, operation }: Registered,
  schemas: SchemaCollector,
  exampleFor: ParameterExample,
): Command {
  const [noun = '', verb = ''] = key.split('.').map(inKebabCase)
  const { method, path, summary, description, callers, scope } = operation
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
    ...(takesKey(operation) ? { takesKey: true } : {}),
    ...(isWriting(operation) && method !== 'PUT' ? {} : { isRepeatable: true }),
    ...(isPaged ? { isList: true } : {}),
    status,
    ...(media === undefined ? {} : { media }),
    refusals: Object.entries<Failure>(operation.fails ?? {}).map(([code, [of, message]]) => [
      code,
      of,
      message,
    ]),
  }
}

const paramsOf = (operation: AnyOperation, exampleFor: ParameterExample): Command['params'] =>
  pathParameters(operation, exampleFor).map(({ name, description = '', example }) => ({
    name,
    description,
    example: String(example),
  }))

function membersIn(schema: AnyOperation['query'], schemas: SchemaCollector): Member[] {
  if (!schema) return []
  const root = schemas.add(schema)
  return membersOf(root, schemas.all())
}

function bodyOf(operation: AnyOperation, schemas: SchemaCollector): { body?: BodyShape } {
  const { body, rawBody, example, method } = operation
  if (rawBody && method !== 'GET') return { body: { kind: 'raw', required: false, members: [] } }
  if (!body) return {}
  const files = uploadsIn(body)
  const members = membersIn(body, schemas).map(
    (member): Member => (files.has(member.name) ? { ...member, isFile: true } : member),
  )
  const shown = example === undefined ? {} : { example }
  return { body: { kind: 'json', required: isBodyRequired(body), members, ...shown } }
}
