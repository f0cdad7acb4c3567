import { z } from 'zod'
import { areas } from '../../../src/areas.ts'
import type { JsonSchema } from '../../../src/derive/openapi/types.ts'
import { registered } from '../../../src/kernel/contract/area.ts'
import type { AnyOperation } from '../../../src/kernel/contract/operation.ts'

/** What a caller sends: the body or the query of an operation, as JSON Schema. */
export interface Sent {
  readonly key: string
  readonly operation: AnyOperation
  readonly place: 'body' | 'query'
  readonly schema: JsonSchema
}

/** Every body and query of every contract, those of our own processes too. */
export const everythingSent: readonly Sent[] = registered(areas).flatMap(({ key, operation }) =>
  (['body', 'query'] as const).flatMap(place =>
    operation[place] ? [{ key, operation, place, schema: jsonOf(operation[place]) }] : [],
  ),
)

function jsonOf(schema: z.ZodType): JsonSchema {
  return inlined(
    z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any', reused: 'inline' }) as Defining,
  )
}

interface Defining extends JsonSchema {
  readonly $defs?: Readonly<Record<string, JsonSchema>>
}

/** With what is defined elsewhere in its place: what has a name of its own is referred to by it. */
function inlined({ $defs = {}, ...schema }: Defining): JsonSchema {
  const copied = JSON.stringify(schema, (_, value) =>
    typeof value?.$ref === 'string' ? $defs[value.$ref.replace('#/$defs/', '')] : value,
  )
  return JSON.parse(copied) as JsonSchema
}

/** A member, however deep, and how a value is put in its place. */
export interface Member {
  readonly path: string
  readonly schema: JsonSchema
  readonly within: (value: unknown) => object
}

/** Itself and everything in it, with lists and records as if they had one item. */
export function membersOf(
  schema: JsonSchema,
  path = '',
  within: Member['within'] = value => value as object,
): Member[] {
  const inner = (name: string, of: JsonSchema, wrap: (value: unknown) => unknown): Member[] =>
    membersOf(of, path ? `${path}.${name}` : name, value => within(wrap(value)))
  const { properties = {}, items, additionalProperties: entry, anyOf = [], oneOf = [] } = schema
  return [
    { path, schema, within },
    ...Object.entries(properties).flatMap(([name, member]) =>
      inner(name, member, value => ({ [name]: value })),
    ),
    ...(items ? inner('0', items, value => [value]) : []),
    ...(typeof entry === 'object' ? inner('name', entry, value => ({ name: value })) : []),
    ...[...anyOf, ...oneOf].flatMap(choice => membersOf(choice, path, within)),
  ]
}
