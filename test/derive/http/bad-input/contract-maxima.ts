import { describe, expect, test } from '@jest/globals'
import { parseInput } from '../../../../src/derive/http/input.ts'
import type { JsonSchema } from '../../../../src/derive/openapi/types.ts'
import { allInputs, membersOf } from '../../../support/contract/contract-members.ts'

type LimitedSchema = JsonSchema & { readonly maxProperties?: number; readonly propertyNames?: JsonSchema }

/** The maxima that a text, a list or a record lacks. */
function missingMaxima(schema: LimitedSchema): string[] {
  const { type, enum: values, const: only } = schema
  if (values || only !== undefined) return []
  if (type === 'string' && schema.maxLength === undefined) return ['maxLength']
  if (type === 'array' && schema.maxItems === undefined) return ['maxItems']
  if (typeof schema.additionalProperties !== 'object') return []
  return [
    ...(schema.maxProperties === undefined ? ['maxProperties'] : []),
    ...(schema.propertyNames?.maxLength === undefined ? ['propertyNames.maxLength'] : []),
  ]
}

/** An item that throws when it is accessed. */
const untouchable = new Proxy(
  {},
  Object.fromEntries(
    ['get', 'has', 'ownKeys', 'getPrototypeOf', 'getOwnPropertyDescriptor'].map(trap => [
      trap,
      () => {
        throw new Error(`an item was looked at: ${trap}`)
      },
    ]),
  ),
)

describe('every contract', () => {
  test('has a maximum for each text, list and record of its input', () => {
    const missing = allInputs.flatMap(({ key, place, schema }) =>
      membersOf(schema).flatMap(({ path, schema }) =>
        missingMaxima(schema).map(what => `${key} ${place} ${path} ${what}`),
      ),
    )
    expect(missing).toEqual([])
    expect(allInputs.length).toBeGreaterThan(100)
  })

  const lists = allInputs.flatMap(({ key, operation, place, schema }) =>
    membersOf(schema).flatMap(({ path, schema: { maxItems }, within }) =>
      place === 'body' && maxItems !== undefined ? [{ key, operation, path, maxItems, within }] : [],
    ),
  )

  test.each(lists)(
    '$key checks the length of $path before its items',
    ({ operation, path, maxItems, within }) => {
      const body = within(Array.from({ length: maxItems + 1 }, () => untouchable))
      const message = `${path}: must have at most ${maxItems.toLocaleString('en')} items`
      expect(() => parseInput(operation, new URLSearchParams(), body)).toThrow(message)
    },
  )

  test.each(lists)(
    '$key stops at the first invalid items of $path',
    ({ operation, path, maxItems, within }) => {
      const accessed = new Set<unknown>()
      const items = new Proxy(
        Array.from({ length: maxItems }, () => [[]]),
        { get: (all, name, self) => accessed.add(name) && Reflect.get(all, name, self) },
      )
      expect(() => parseInput(operation, new URLSearchParams(), within(items))).toThrow(`${path}.0`)
      expect([...accessed].filter(name => /^\d+$/.test(String(name))).length).toBeLessThanOrEqual(7)
    },
  )
})
