import { referencedName } from './example.ts'
import { isSameJson, mapValues, type WithSchemas, withSchemas } from './published-schemas.ts'
import type { JsonSchema, Schemas } from './types.ts'

/** Writes a record that begins with all members of another as that record and more: `CreatedKey` is a `Key` and its secret. */
export function withExtendedRecords<T extends WithSchemas>(document: T): T {
  const { schemas } = document.components
  const records = Object.fromEntries(Object.entries(schemas).filter(([name]) => isRecordName(name)))
  return withSchemas(document, { ...schemas, ...mapValues(records, record => extension(record, records)) })
}

export function withWholeRecords<T extends WithSchemas>(document: T): T {
  const { schemas } = document.components
  return withSchemas(
    document,
    mapValues(schemas, (schema, name) => (isRecordName(name) ? wholeRecord(schema, schemas) : schema)),
  )
}

const isRecordName = (name: string): boolean => /^[A-Z]\w*$/.test(name)

/** The record as the longest of the others with which it begins, and more; or as it is. */
export function extension(record: JsonSchema, others: Schemas): JsonSchema {
  const [longest] = Object.entries(others)
    .filter(([, base]) => beginsWith(record, base))
    .sort(([, one], [, other]) => sizeOf(other) - sizeOf(one))
  if (!longest) return record
  const [name, base] = longest
  const { type = 'object', properties = {}, required = [], ...rest } = record
  const own = {
    type,
    properties: Object.fromEntries(Object.entries(properties).slice(sizeOf(base))),
    required: required.slice(base.required?.length),
  }
  return { ...rest, allOf: [{ $ref: `#/components/schemas/${name}` }, own] }
}

const sizeOf = ({ properties = {} }: JsonSchema): number => Object.keys(properties).length

/** A record of fewer members may be like another by chance. */
const SMALLEST = 4

function beginsWith(record: JsonSchema, base: JsonSchema): boolean {
  const size = sizeOf(base)
  if (size < SMALLEST || size >= sizeOf(record) || base.additionalProperties !== undefined) return false
  if (!record.required || !base.required) return false
  // Most records differ in their names already, which is quick to see.
  const names = Object.keys(record.properties ?? {})
  if (Object.keys(base.properties ?? {}).some((name, index) => name !== names[index])) return false
  const first = Object.fromEntries(Object.entries(record.properties ?? {}).slice(0, size))
  const required = record.required.slice(0, base.required.length)
  return isSameJson(first, base.properties) && isSameJson(required, base.required)
}

export function wholeRecord(record: JsonSchema, schemas: Schemas): JsonSchema {
  const { allOf: [extended, own] = [], ...rest } = record
  const found = schemas[referencedName(extended?.$ref ?? '')]
  if (!found || !own) return record
  const base = wholeRecord(found, schemas)
  return {
    ...rest,
    ...own,
    properties: { ...base.properties, ...own.properties },
    required: [...(base.required ?? []), ...(own.required ?? [])],
  }
}
