import { z } from 'zod'
import { encodeJson, jsonName } from '../../values/json-names.ts'
import type { JsonSchema } from './types.ts'

export class SchemaCollector {
  readonly #named = new Map<string, JsonSchema>()
  #all: Record<string, JsonSchema> | undefined

  /**
   * Describes the form on the wire in both directions. Codecs turn it into the values of handlers, hence `io:
   * 'input'`.
   */
  add(schema: z.ZodType): JsonSchema {
    const { $schema, $defs, ...root } = z.toJSONSchema(schema, {
      io: 'input',
      unrepresentable: 'any',
      override: asSent,
    })
    for (const [name, definition] of Object.entries($defs ?? {})) this.#name(name, tidy(definition))
    return tidy(root)
  }

  asForm(schema: z.ZodType, files: ReadonlyMap<string, unknown>): JsonSchema {
    const { title: _, id: __, ...form } = resolved(this.add(schema), this.all())
    const properties = Object.entries(form.properties ?? {}).map(([name, member]) => [
      name,
      files.has(name) ? partOf(member) : member,
    ])
    return { ...form, properties: Object.fromEntries(properties) }
  }

  all(): Record<string, JsonSchema> {
    this.#all ??= Object.fromEntries([...this.#named].sort(([a], [b]) => (a < b ? -1 : 1)))
    return this.#all
  }

  #name(name: string, definition: JsonSchema): void {
    const known = this.#named.get(name)
    if (known && JSON.stringify(known) !== JSON.stringify(definition))
      throw new Error(`Two different schemas are called ${name}.`)
    if (known) return
    this.#named.set(name, definition)
    this.#all = undefined
  }
}

const resolved = (schema: JsonSchema, schemas: Record<string, JsonSchema>): JsonSchema & Noted =>
  schema.$ref ? (schemas[schema.$ref.slice(schema.$ref.lastIndexOf('/') + 1)] ?? schema) : schema

interface Noted {
  readonly title?: string
  readonly id?: string
}

const partOf = ({ description }: JsonSchema): JsonSchema => ({
  type: 'string',
  format: 'binary',
  ...(description === undefined ? {} : { description }),
})

type Override = { zodSchema: z.core.$ZodTypes; jsonSchema: z.core.JSONSchema.BaseSchema }

/** zod leaves out the examples and defaults of codecs. Here examples are written as sent, and defaults are encoded. */
function asSent({ zodSchema, jsonSchema }: Override): void {
  const examples = z.globalRegistry.get(zodSchema)?.examples
  if (Array.isArray(examples)) jsonSchema.examples ??= examples
  if (zodSchema._zod.def.type === 'default' && jsonSchema.default === undefined)
    jsonSchema.default = encodeJson(zodSchema as z.ZodDefault, zodSchema._zod.def.defaultValue) as null
}

/** These keywords repeat `format` or apply to every number, and help neither readers nor generators. */
const isNoise = (keyword: string, value: unknown, schema: object): boolean =>
  (keyword === 'pattern' && 'format' in schema) ||
  keyword === 'once' ||
  keyword === 'sealedElsewhere' ||
  keyword === 'secret' ||
  keyword === 'upload' ||
  (keyword === 'propertyNames' && Object.keys(value as object).join() === 'type') ||
  Math.abs(value as number) === Number.MAX_SAFE_INTEGER

function tidy(schema: object): JsonSchema {
  const kept = Object.entries(schema).filter(([keyword, value]) => !isNoise(keyword, value, schema))
  const tidied = Object.fromEntries(kept.map(([keyword, value]) => [keyword, tidyValue(keyword, value)]))
  return withNull(withWholeNumbers(tidied))
}

function withWholeNumbers(schema: JsonSchema): JsonSchema {
  const values = schema.enum ?? [schema.const]
  return schema.type === 'number' && values.every(Number.isInteger) ? { ...schema, type: 'integer' } : schema
}

const isData = new Set(['default', 'examples', 'enum', 'const'])

function tidyValue(keyword: string, value: unknown): unknown {
  if (isData.has(keyword) || typeof value !== 'object' || value === null)
    return keyword === '$ref' ? String(value).replace('#/$defs/', '#/components/schemas/') : value
  if (keyword === 'required') return (value as readonly string[]).map(jsonName)
  if (Array.isArray(value)) return value.map(item => tidyValue('', item))
  if (keyword !== 'properties') return tidy(value)
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [jsonName(name), tidy(member as object)]),
  )
}

/** `anyOf: [X, null]` reads better as X that may be null. A reference must stay unchanged. */
function withNull(schema: JsonSchema): JsonSchema {
  const [inner, none] = schema.anyOf ?? []
  if (schema.anyOf?.length !== 2 || none?.type !== 'null' || typeof inner?.type !== 'string') return schema
  const { anyOf, ...rest } = schema
  const { const: only, enum: values = only === undefined ? undefined : [only], ...bare } = inner
  const choice = values ? { enum: [...values, null] } : {}
  return { ...bare, ...choice, ...rest, type: [inner.type, 'null'] }
}
