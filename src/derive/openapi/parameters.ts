import type { AnyOperation } from '../../kernel/contract/operation.ts'
import type { SlicedWork } from '../../kernel/contract/time-slices.ts'
import { resolveSchema, schemaExample } from './example.ts'
import type { headerParameters } from './headers.ts'
import type { SchemaCollector } from './schemas.ts'
import type { JsonSchema, ParameterObject, SchemaReference, Schemas } from './types.ts'

export type ParameterExample = (operation: AnyOperation, name: string) => string

/** The operation that reads `/agents/{id}` shows the meaning of `{id}` in `/agents/{id}/freeze`. */
export function* parameterExamples(
  operations: readonly AnyOperation[],
  collector: SchemaCollector,
): SlicedWork<ParameterExample> {
  const readers = new Map<string, JsonSchema>()
  for (const { method, path, returns } of operations) {
    if (method === 'GET') readers.set(path, collector.add(returns[1]))
    yield
  }
  return ({ path }, name) => {
    const reader = readers.get(path.slice(0, path.indexOf(`{${name}}`) + name.length + 2))
    const example = reader && memberExample(reader, name, collector.all())
    if (typeof example === 'string') return example
    return isId(name) ? `${name.replace(/Id$/, '')}_01jd8x2m4ye7k9v0c3q5r6t8wz` : (wordsInPaths[name] ?? name)
  }
}

/** Examples of parameters that are no ids. */
const wordsInPaths: Readonly<Record<string, string>> = {
  guide: 'approvals',
  operation: 'intents.create',
  scenario: 'paid',
  stage: 'initial',
}

function memberExample(schema: JsonSchema, name: string, schemas: Schemas): unknown {
  const { properties = {} } = schema.$ref ? resolveSchema(schema.$ref, schemas) : schema
  const member = properties[name] ?? properties.id
  return member?.anyOf || member?.examples ? schemaExample(member, schemas) : undefined
}

export const pathParameters = (operation: AnyOperation, exampleFor: ParameterExample): ParameterObject[] =>
  [...operation.path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => {
    const example = exampleFor(operation, name)
    return {
      name,
      in: 'path',
      required: true,
      description: `The ${nounOf(name, example)}.`,
      schema: { type: 'string', maxLength: 128 },
      example,
    }
  })

const isId = (name: string): boolean => name === 'id' || name.endsWith('Id')

const nounOf = (name: string, example: string): string =>
  isId(name) ? `${example.split('_')[0]?.replace(/^id$/, 'record') ?? name}’s id` : name

export function queryParameters({ properties = {}, required = [] }: JsonSchema): ParameterObject[] {
  return Object.entries(properties).map(([name, { description, ...schema }]) => ({
    name,
    in: 'query',
    ...(required.includes(name) ? { required: true } : {}),
    ...(description ? { description } : {}),
    schema,
  }))
}

/** The security of the operation describes `Authorization`: OpenAPI ignores parameters of these names. */
const COVERED_BY_SECURITY = ['authorization', 'accept', 'content-type']

export const ownHeaderParameters = ({ http }: AnyOperation): ParameterObject[] =>
  Object.entries<string>(http?.reads ?? {})
    .filter(([name]) => !COVERED_BY_SECURITY.includes(name))
    .map(([name, description]) => ({
      name: name.replace(/(^|-)[a-z]/g, start => start.toUpperCase()),
      in: 'header',
      description,
      schema: { type: 'string', maxLength: 16_384 },
    }))

export const headerParameter = (name: keyof typeof headerParameters): SchemaReference => ({
  $ref: `#/components/parameters/${name}`,
})
