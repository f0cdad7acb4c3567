import type { JsonSchema } from '../../derive/openapi/types.ts'
import type { ClientContract } from './contract.ts'
import { recordIn } from './names.ts'

/** What callers rely on in a value: its types, and what is in it. */
export interface Shape {
  /** Its types in order; none where it may be anything. */
  readonly types: readonly string[]
  /** The only values that it may have. */
  readonly choices?: readonly unknown[]
  /** The record that it is. */
  readonly record?: string
  readonly members?: Readonly<Record<string, Shape>>
  /** The members that are never missing. */
  readonly always?: readonly string[]
  readonly items?: Shape
  /** Any one of these. */
  readonly options?: readonly Shape[]
}

export interface CalledOperation {
  /** `POST /intents`, and how the answer comes. */
  readonly call: string
  readonly sent?: Shape
  readonly returned?: Shape
}

/** All that callers of a version rely on. */
export interface CalledContract {
  readonly version: string
  readonly records: Readonly<Record<string, Shape>>
  readonly operations: Readonly<Record<string, CalledOperation>>
}

export function calledContract({ version, schemas, operations }: ClientContract): CalledContract {
  return {
    version,
    records: mapped(schemas, shapeOf),
    operations: Object.fromEntries(
      operations.map(({ key, method, path, answers, input, result }) => [
        key,
        {
          call: `${method} ${path} ${answers}`,
          ...(input ? { sent: shapeOf(input.schema) } : {}),
          ...(result ? { returned: shapeOf(result) } : {}),
        },
      ]),
    ),
  }
}

const mapped = <A, B>(record: Readonly<Record<string, A>>, change: (value: A) => B): Record<string, B> =>
  Object.fromEntries(Object.entries(record).map(([name, value]) => [name, change(value)]))

function shapeOf(schema: JsonSchema): Shape {
  if (schema.$ref) return { types: ['object'], record: recordIn(schema.$ref) }
  const options = schema.anyOf ?? schema.oneOf
  if (options) return { types: [], options: options.map(shapeOf) }
  const choices = schema.enum ?? (schema.const === undefined ? undefined : [schema.const])
  const { properties, required = [], items } = schema
  return {
    types: [schema.type ?? []].flat().toSorted(),
    ...(choices ? { choices } : {}),
    ...(properties ? { members: mapped(properties, shapeOf), always: required.toSorted() } : {}),
    ...(items ? { items: shapeOf(items) } : {}),
  }
}
