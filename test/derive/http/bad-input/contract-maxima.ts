import { describe, expect, test } from '@jest/globals'
import { inputOf } from '../../../../src/derive/http/input.ts'
import type { JsonSchema } from '../../../../src/derive/openapi/types.ts'
import { everythingSent, membersOf } from '../../../support/contract/contract-members.ts'

type Known = JsonSchema & { readonly maxProperties?: number; readonly propertyNames?: JsonSchema }

/** Which maximum a text, a list or a record lacks. */
function lacks(schema: Known): string[] {
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

/** An item that nobody may look at. */
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
  test('has a maximum for each text, list and record that is sent', () => {
    const missing = everythingSent.flatMap(({ key, place, schema }) =>
      membersOf(schema).flatMap(({ path, schema }) =>
        lacks(schema).map(what => `${key} ${place} ${path} ${what}`),
      ),
    )
    expect(missing).toEqual([])
    expect(everythingSent.length).toBeGreaterThan(100)
  })

  const lists = everythingSent.flatMap(({ key, operation, place, schema }) =>
    membersOf(schema).flatMap(({ path, schema: { maxItems }, within }) =>
      place === 'body' && maxItems !== undefined ? [{ key, operation, path, maxItems, within }] : [],
    ),
  )

  test.each(lists)(
    '$key looks at the length of $path before its items',
    ({ operation, path, maxItems, within }) => {
      const body = within(Array.from({ length: maxItems + 1 }, () => untouchable))
      const words = `${path}: must have at most ${maxItems.toLocaleString('en')} items`
      expect(() => inputOf(operation, new URLSearchParams(), body)).toThrow(words)
    },
  )

  test.each(lists)(
    '$key stops at the first wrong items of $path',
    ({ operation, path, maxItems, within }) => {
      const read = new Set<unknown>()
      const items = new Proxy(
        Array.from({ length: maxItems }, () => [[]]),
        { get: (all, name, self) => read.add(name) && Reflect.get(all, name, self) },
      )
      expect(() => inputOf(operation, new URLSearchParams(), within(items))).toThrow(`${path}.0`)
      expect([...read].filter(name => /^\d+$/.test(String(name))).length).toBeLessThanOrEqual(7)
    },
  )
})
