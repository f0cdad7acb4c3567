import { z } from 'zod'
import { areas } from '../../../src/areas.ts'
import type { JsonSchema } from '../../../src/derive/openapi/types.ts'
import { allOperations } from '../../../src/kernel/contract/area.ts'
import type { AnyOperation } from '../../../src/kernel/contract/operation.ts'

export interface Input {
  readonly key: string
  readonly operation: AnyOperation
  readonly place: 'body' | 'query'
  readonly schema: JsonSchema
}

/** Every body and query of every contract, including those of internal operations. */
export const allInputs: readonly Input[] = allOperations(areas).flatMap(({ key, operation }) =>
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

function inlined({ $defs = {}, ...schema }: Defining): JsonSchema {
  const json = JSON.stringify(schema, (_, value) =>
    typeof value?.$ref === 'string' ? $defs[value.$ref.replace('#/$defs/', '')] : value,
  )
  return JSON.parse(json) as JsonSchema
}

/** A member at any depth, and a function that builds an input with a value in its place. */
export interface Member {
  readonly path: string
  readonly schema: JsonSchema
  readonly within: (value: unknown) => object
}

/** The schema and all of its members; lists and records count as having one item. */
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
