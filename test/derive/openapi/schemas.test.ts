import { describe, expect, test } from '@jest/globals'
import { z } from 'zod'
import { openapiDocument } from '../../../src/derive/openapi/document.ts'
import { schemaExample } from '../../../src/derive/openapi/example.ts'
import { SchemaCollector } from '../../../src/derive/openapi/schemas.ts'
import { area } from '../../../src/kernel/contract/area.ts'
import { fileSchema } from '../../../src/kernel/contract/file.ts'
import { bindHandlers, emptyBody, get, post } from '../../../src/kernel/contract/operation.ts'
import { instant } from '../../../src/values/clock.ts'
import { id } from '../../../src/values/ids.ts'
import { withJsonNames } from '../../../src/values/json-names.ts'
import { cents, moneySchema } from '../../../src/values/money.ts'

const jsonOf = (schema: z.ZodType) => new SchemaCollector().add(schema)

describe('a schema as JSON Schema', () => {
  test('describes a codec by its encoded form, example and default', () => {
    expect(jsonOf(moneySchema.default(cents(1050n)))).toEqual({
      type: 'number',
      minimum: 0,
      maximum: 100_000_000_000,
      examples: [25.5],
      default: 10.5,
    })
    expect(jsonOf(instant)).toEqual({
      type: 'string',
      format: 'date-time',
      maxLength: 40,
      examples: ['2026-11-20T09:30:00.000Z'],
    })
  })

  test('lists null among the types of a nullable', () => {
    expect(jsonOf(z.int().min(1).max(9).nullable())).toEqual({
      type: ['integer', 'null'],
      minimum: 1,
      maximum: 9,
    })
    expect(jsonOf(z.enum(['a', 'b']).nullable())).toEqual({
      type: ['string', 'null'],
      enum: ['a', 'b', null],
    })
    expect(jsonOf(z.literal('a').nullable())).toEqual({ type: ['string', 'null'], enum: ['a', null] })
  })

  test('is collected under its name and referred to everywhere', () => {
    const collector = new SchemaCollector()
    const inner = z.object({ at: instant }).meta({ id: 'TestInner' })
    const reference = { $ref: '#/components/schemas/TestInner' }
    expect(collector.add(inner)).toEqual(reference)
    expect(collector.add(z.object({ one: inner, more: z.array(inner) }))).toMatchObject({
      properties: { one: reference, more: { items: reference } },
    })
    expect(Object.keys(collector.all())).toEqual(['TestInner'])
  })

  test('is refused under the name of another one', () => {
    const collector = new SchemaCollector()
    collector.add(z.string().meta({ id: 'TestTwice' }))
    expect(() => collector.add(z.int().meta({ id: 'TestTwice' }))).toThrow('TestTwice')
  })

  test('may have members named like keywords', () => {
    const { properties } = jsonOf(z.object({ default: instant, pattern: z.string(), once: z.string() }))
    expect(Object.keys(properties ?? {})).toEqual(['default', 'pattern', 'once'])
    expect(properties?.default).not.toHaveProperty('pattern')
  })
})

describe('an example', () => {
  const schema = z.object({
    id: id('intent'),
    status: z.enum(['open', 'closed']),
    amountCents: moneySchema,
    limitCents: moneySchema.nullable().default(null),
    note: z.string().nullable(),
    revokedAt: instant.nullable(),
    parts: z.array(z.object({ count: z.int().positive(), address: z.email() })),
    choice: z.union([z.object({ kind: z.literal('a') }), z.object({ kind: z.literal('b') })]),
    labels: z.record(z.string(), z.string()),
    anything: z.unknown(),
  })

  test('is made of examples, enums, defaults and types, and is valid', () => {
    const example = schemaExample(jsonOf(schema), {})
    expect(schema.safeParse(withJsonNames(schema, example)).error).toBeUndefined()
    expect(example).toEqual({
      id: 'intent_01jd8x2m4ye7k9v0c3q5r6t8wz',
      status: 'open',
      amountEuros: 25.5,
      limitEuros: null,
      note: null,
      revokedAt: null,
      parts: [{ count: 1, address: 'ada@example.com' }],
      choice: { kind: 'a' },
      labels: { name: '…' },
      anything: {},
    })
  })

  test('takes a known value where it fits', () => {
    const knownValues = { note: 'Books', status: 'unheard of', amountEuros: '12', limitEuros: 12 }
    expect(schemaExample(jsonOf(schema), {}, knownValues)).toMatchObject({
      note: 'Books',
      status: 'open',
      amountEuros: 25.5,
      limitEuros: 12,
    })
  })
})

describe('an operation', () => {
  const api = {
    get: get('/things/{id}', {
      summary: 'Get a thing',
      callers: ['public'],
      returns: [200, z.object({ id: id('thing') })],
    }),
    picture: get('/things/{id}/picture', {
      summary: 'See a thing',
      callers: ['dash', 'key'],
      returns: [200, fileSchema('image/png')],
    }),
    push: post('/v1/things/{id}/push', {
      summary: 'Push a thing',
      callers: ['agent'],
      scope: 'agents:read',
      body: z.strictObject({ hard: z.boolean().default(false) }),
      returns: [204, emptyBody],
    }),
  }
  const things = bindHandlers(api, {
    get: ({ params }) => ({ id: params.id }),
    picture: () => ({ type: 'image/png', content: '' }),
    push: () => undefined,
  })
  const { paths } = openapiDocument({ things: area('Things', 'Things.', things) })

  test('shows a path parameter like the id of the record that is read there', () => {
    expect(paths['/things/{id}/picture']?.get?.parameters?.[0]).toMatchObject({
      name: 'id',
      description: 'The thing’s id.',
      example: 'thing_01jd8x2m4ye7k9v0c3q5r6t8wz',
    })
  })

  test('has the content type of its file, and none for an empty answer', () => {
    expect(Object.keys(paths['/things/{id}/picture']?.get?.responses['200'] ?? {})).toContain('content')
    expect(paths['/things/{id}/picture']?.get?.responses['200']).toMatchObject({
      content: { 'image/png': {} },
    })
    expect(paths['/v1/things/{id}/push']?.post?.responses['204']).not.toHaveProperty('content')
  })

  test('has a security scheme for each kind of caller, and none if it is public', () => {
    expect(paths['/things/{id}']?.get?.security).toEqual([])
    expect(paths['/things/{id}/picture']?.get?.security).toEqual([
      { dashboardSecret: [] },
      { apiKey: [] },
      { consoleSession: [] },
    ])
    expect(paths['/v1/things/{id}/push']?.post?.security).toEqual([{ agentToken: ['agents:read'] }])
  })

  test('does not require a body that may be empty', () => {
    expect(paths['/v1/things/{id}/push']?.post?.requestBody?.required).toBe(false)
  })
})
