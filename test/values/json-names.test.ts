import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { z } from 'zod'
import { decodeJson, encodeJson, withJsonNames, withJsonNamesInPath } from '../../src/values/json-names.ts'
import { moneySchema } from '../../src/values/money.ts'

const limits = z.strictObject({ dayCents: moneySchema.nullable().default(null), count: z.int().optional() })
const schema = z.strictObject({
  amountCents: moneySchema,
  limits: limits.optional(),
  parts: z.array(z.strictObject({ walletId: z.string(), amountCents: moneySchema })).default([]),
  byAgent: z.record(z.string(), z.strictObject({ spentCents: moneySchema })).optional(),
  way: z
    .union([
      z.strictObject({ kind: z.literal('card'), heldCents: moneySchema }),
      z.strictObject({ kind: z.literal('wallet'), limits }),
    ])
    .nullable()
    .default(null),
  metadata: z.record(z.string(), z.string()).default({}),
  free: z.unknown().optional(),
})

const json = {
  amountEuros: 12.5,
  limits: { dayEuros: 1, count: 2 },
  parts: [
    { walletId: 'one', amountEuros: 10 },
    { walletId: 'other', amountEuros: 2.5 },
  ],
  byAgent: { agentCents: { spentEuros: 3 } },
  way: { kind: 'wallet', limits: { dayEuros: null } },
  metadata: { amountEuros: 'mine', amountCents: 'mine, too' },
  free: { amountEuros: 1, deep: [{ dayCents: 2 }] },
}

const value = {
  amountCents: 1_250n,
  limits: { dayCents: 100n, count: 2 },
  parts: [
    { walletId: 'one', amountCents: 1_000n },
    { walletId: 'other', amountCents: 250n },
  ],
  byAgent: { agentCents: { spentCents: 300n } },
  way: { kind: 'wallet', limits: { dayCents: null } },
  metadata: { amountEuros: 'mine', amountCents: 'mine, too' },
  free: { amountEuros: 1, deep: [{ dayCents: 2 }] },
} as const

/** Any JSON, with many of the names that the schema knows. */
const { any } = fc.letrec(tie => ({
  any: fc.oneof(
    { maxDepth: 5 },
    fc.constantFrom(null, 1, 'text', true),
    fc.array(tie('any'), { maxLength: 3 }),
    fc.dictionary(
      fc.oneof(
        fc.constantFrom(
          ...['amountEuros', 'amountCents', 'limits', 'dayEuros', 'dayCents', 'parts', 'byAgent'],
        ),
        fc.constantFrom(
          ...['spentEuros', 'way', 'heldEuros', 'metadata', 'free', '__proto__', 'constructor'],
        ),
        fc.string(),
      ),
      tie('any'),
      { maxKeys: 5 },
    ),
  ),
}))

describe('amounts', () => {
  test('are euros in JSON and cents within, under a name that says so', () => {
    expect(decodeJson(schema, json)).toEqual(value)
    expect(encodeJson(schema, value as unknown as z.output<typeof schema>)).toEqual(json)
  })

  test('keep the order of the members', () => {
    const text = JSON.stringify(encodeJson(schema, decodeJson(schema, json)))
    expect(text).toBe(JSON.stringify(json))
  })

  test('change nothing where their names are swapped twice', () => {
    fc.assert(
      fc.property(any, one => {
        expect(withJsonNames(schema, withJsonNames(schema, one))).toEqual(one)
      }),
      { numRuns: 1_000 },
    )
  })

  test('leave JSON alone that no contract describes', () => {
    const open = z.object({
      amountCents: moneySchema,
      metadata: z.record(z.string(), z.unknown()),
      free: z.unknown(),
    })
    fc.assert(
      fc.property(fc.jsonValue(), any, (metadata, free) => {
        const given = { amountEuros: 1, metadata, free }
        expect(withJsonNames(open, given)).toEqual({ amountCents: 1, metadata, free })
      }),
    )
  })

  test.each([
    ['without an amount', z.object({ name: z.string(), parts: z.array(z.object({ id: z.string() })) })],
    ['of free JSON', z.record(z.string(), z.unknown())],
    ['of a text', z.string()],
  ])('cost a contract %s nothing', (_, other) => expect(withJsonNames(other, json)).toBe(json))

  test('are refused under the name that they have within', () => {
    const { error } = schema.safeParse(withJsonNames(schema, { amountCents: 12 }))
    expect(error?.issues.map(({ code }) => code)).toEqual(['invalid_type', 'unrecognized_keys'])
  })

  test('never set the prototype of what they are in', () => {
    const given = JSON.parse('{"amountEuros":1,"__proto__":{"isAdmin":true}}')
    const read = withJsonNames(schema, given) as object
    expect(Object.getPrototypeOf(read)).toBe(Object.prototype)
    expect(Object.keys(read)).toEqual(['amountCents', '__proto__'])
  })
})

test.each([
  [['amountCents'], ['amountEuros']],
  [['amountEuros'], ['amountCents']],
  [
    ['limits', 'dayCents'],
    ['limits', 'dayEuros'],
  ],
  [
    ['parts', 1, 'amountCents'],
    ['parts', 1, 'amountEuros'],
  ],
  [
    ['byAgent', 'agentCents', 'spentCents'],
    ['byAgent', 'agentCents', 'spentEuros'],
  ],
  [
    ['way', 'heldCents'],
    ['way', 'heldEuros'],
  ],
  [
    ['metadata', 'amountCents'],
    ['metadata', 'amountCents'],
  ],
  [
    ['free', 'dayCents'],
    ['free', 'dayCents'],
  ],
])('the path %j is %j in JSON', (path, inJson) => expect(withJsonNamesInPath(schema, path)).toEqual(inJson))
