import type { JsonSchema, Schemas } from './types.ts'

/** Examples from the contracts, by member, so that the same record looks the same everywhere. */
export type ExampleValues = Readonly<Record<string, unknown>>

const samples: Readonly<Record<string, string>> = {
  'date-time': '2026-11-20T09:30:00.000Z',
  date: '2026-11-20',
  email: 'ada@example.com',
  uri: 'https://example.com',
  ipv4: '192.0.2.1',
}

/** Makes a valid example, always the same one. Where it cannot guess, the contract needs `.meta({ examples })`. */
export function schemaExample(schema: JsonSchema, schemas: Schemas, known: ExampleValues = {}): unknown {
  if (schema['x-example'] !== undefined) {
    const { 'x-example': own, ...rest } = schema
    return withOwnValues(schemaExample(rest, schemas, known), own)
  }
  if (schema.$ref) return schemaExample(resolveSchema(schema.$ref, schemas), schemas, known)
  if (schema.default !== undefined) return schema.default
  if (isOpenEnd(schema)) return null
  if (schema.examples) return schema.examples[0]
  if (schema.const !== undefined) return schema.const
  if (schema.enum) return schema.enum[0]
  const option = (schema.anyOf ?? schema.oneOf)?.[0]
  if (option) return schemaExample(option, schemas, known)
  return ofType(schema, schemas, known)
}

const isOpenEnd = ({ type, format }: JsonSchema): boolean => Array.isArray(type) && format === 'date-time'

export function resolveSchema(reference: string, schemas: Schemas): JsonSchema {
  const name = referencedName(reference)
  const schema = schemas[name]
  if (!schema) throw new Error(`There is no schema called ${name}.`)
  return schema
}

export const referencedName = (reference: string): string => reference.slice(reference.lastIndexOf('/') + 1)

function ofType(schema: JsonSchema, schemas: Schemas, known: ExampleValues): unknown {
  if (Array.isArray(schema.type)) return null
  switch (schema.type) {
    case 'object':
      return ofObject(schema, schemas, known)
    case 'array':
      return schema.items ? [schemaExample(schema.items, schemas, known)] : []
    case 'boolean':
      return false
    case 'integer':
    case 'number':
      return schema.minimum ?? (schema.exclusiveMinimum ?? 0) + 1
    case 'string':
      return samples[schema.format ?? ''] ?? '…'
    default:
      return {}
  }
}

function ofObject(
  { properties = {}, additionalProperties }: JsonSchema,
  schemas: Schemas,
  known: ExampleValues,
): object {
  const members = Object.entries(properties).map(([name, member]) => [
    name,
    name in known && admits(member, known[name]) ? known[name] : schemaExample(member, schemas, known),
  ])
  if (members.length > 0 || typeof additionalProperties !== 'object' || !additionalProperties.type)
    return Object.fromEntries(members)
  return { name: schemaExample(additionalProperties, schemas) }
}

function admits({ type, enum: values, items }: JsonSchema, value: unknown): boolean {
  if (values) return values.includes(value)
  if (Array.isArray(value) && items?.enum) return value.every(one => admits(items, one))
  const kind = Array.isArray(value) ? 'array' : value === null ? 'null' : typeof value
  return [type].flat().some(one => one === kind || (one === 'integer' && Number.isInteger(value)))
}

type Json = Readonly<Record<string, unknown>>

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The values in an example that differ from another one. `withOwnValues` of that one and these is the example. */
export function ownValues(example: unknown, usual: unknown): unknown {
  if (!isObject(example) || !isObject(usual)) return example
  const own = Object.entries(example)
    .filter(([name, value]) => JSON.stringify(value) !== JSON.stringify(usual[name]))
    .map(([name, value]) => [name, ownValues(value, usual[name])])
  return Object.fromEntries(own)
}

export function withOwnValues(usual: unknown, own: unknown): unknown {
  if (!isObject(usual) || !isObject(own) || Object.keys(own).some(name => !(name in usual))) return own
  const values = Object.entries(usual).map(([name, value]) => [
    name,
    name in own ? withOwnValues(value, own[name]) : value,
  ])
  return Object.fromEntries(values)
}
