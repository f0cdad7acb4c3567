import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { describe, expect, test } from '@jest/globals'
import type { JsonSchema } from '../../../src/derive/openapi/types.ts'
import { maxBodyBytes } from '../../../src/kernel/contract/operation.ts'
import { allInputs } from '../../support/contract/contract-members.ts'
import {
  credentials,
  operations,
  unknownId,
  World,
  type WorldOwner,
  withSession,
} from '../../support/contract/world.ts'
import { startTestService } from '../../support/harness.ts'
import { exchange, request } from '../../support/http/raw.ts'
import { bestOf, processorTimeOfService } from '../../support/longest-turn.ts'

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

const service = await startTestService()
const [owner, another] = [
  await withSession(service, await service.owner()),
  await withSession(service, await service.owner()),
]
const world = new World(service, another)

const MEBIBYTE = 1_048_576

/** The longest time that a request may block the event loop, in milliseconds. */
const LONGEST = 50

/** The largest value that a schema allows, whether or not other rules accept it. */
function largestValue(schema: JsonSchema & { readonly maxProperties?: number }): unknown {
  const { enum: values, maxLength, items, maxItems = 0, properties, additionalProperties: entry } = schema
  const choice = schema.anyOf?.[0] ?? schema.oneOf?.[0]
  if (choice) return largestValue(choice)
  if (values) return values.at(-1)
  if (items) return Array.from({ length: maxItems }, () => largestValue(items))
  if (properties)
    return Object.fromEntries(
      Object.entries(properties).map(([name, member]) => [name, largestValue(member)]),
    )
  if (typeof entry === 'object')
    return Object.fromEntries(
      Array.from({ length: schema.maxProperties ?? 0 }, (_, n) => [`name ${n}`, largestValue(entry)]),
    )
  return maxLength === undefined ? 1 : '1'.repeat(maxLength)
}

/** A text whose middle is repeated up to the limit. */
const filledTo = (limit: number, before: string, part: string, after: string): string =>
  before + part.repeat(Math.floor((limit - before.length - after.length) / part.length)) + after

/** The bodies of this size that take the most work, for any contract. */
const hostileBodies = (limit: number): string[] => [
  filledTo(limit, '{"x":[', '[],', '[]]}'),
  filledTo(limit, '{"x":[', '{"":0},', '0]}'),
  `{${Array.from({ length: 9_000 }, (_, n) => `"${n}":0`).join(',')}}`.slice(0, limit),
  filledTo(limit, '{"x":"', '\\u00e9', '"}'),
  filledTo(limit, '{"x":"', 'é', '"}'),
  filledTo(limit, '', '{"":[', ''),
  filledTo(limit, '{"x":', '1', '}'),
  filledTo(limit, '', ' ', '{}'),
]

/** Bodies that a contract accepts or refuses only after reading all of them. */
const fullLists = {
  name: 'a',
  merchantAllowlist: Array.from({ length: 1_000 }, (_, n) => `Müller ${n} & Söhne ${'ß '.repeat(35)}`),
  merchantBlocklist: Array.from({ length: 1_000 }, (_, n) => `*.${n}.${'shop.'.repeat(16)}example.com`),
  mccCategories: Array.from({ length: 100 }, () => 'travel'),
  allowedCountries: Array.from({ length: 250 }, () => 'DE'),
  allowedMccs: Array.from({ length: 1_500 }, () => '5942'),
  blockedMccs: Array.from({ length: 1_500 }, () => '7995'),
}
const file = (xml: string) => ({
  content: Buffer.from(xml.slice(0, 780_000)).toString('base64'),
  mode: 'test',
})
const fullBodies: Readonly<Record<string, (validBody: ValidBody) => object>> = {
  'policies.create': () => fullLists,
  'policies.replace': () => fullLists,
  'intents.simulate': () => ({ policy: fullLists, amountEuros: 1, merchant: 'm'.repeat(200) }),
  'intents.create': validBody => ({
    ...validBody,
    metadata: Object.fromEntries(Array.from({ length: 50 }, (_, n) => [`${n}`, 'x'.repeat(1_000)])),
  }),
  'transfers.split': ({ parts = [], ...validBody }) => ({
    ...validBody,
    parts: Array.from({ length: 1_000 }, () => ({ ...parts[0], amountEuros: 0.01 })),
  }),
  'webhooks.create': validBody => ({
    ...validBody,
    events: Array.from({ length: 200 }, (_, n) => `transaction.${n}${'x'.repeat(80)}`),
  }),
  'rails.read': () => file(`<a ${Array.from({ length: 100_000 }, (_, n) => `b${n}=""`).join(' ')}/>`),
  'incoming.readFile': () => file(`<a>${'<b/>'.repeat(200_000)}`),
}

interface ValidBody {
  readonly parts?: readonly object[]
}

const bodies = allInputs.flatMap(({ key, operation, place, schema }) => {
  const registered = operations.find(operation => operation.key === key)
  return registered && place === 'body' ? [{ key, registered, schema, limit: maxBodyBytes(operation) }] : []
})

type BodyCase = (typeof bodies)[number]

interface Place {
  readonly path: string
  readonly by: WorldOwner
}

/** One operation for each body limit: malformed bodies are the same work for all. */
const oneOfEach = [...new Map(bodies.map(registered => [registered.limit, registered])).values()]

describe('the most expensive request', () => {
  const send = ({ registered, limit }: BodyCase, { path, by }: Place, body: string) =>
    world.send(registered, path, { ...credentials(registered, by), body: body.slice(0, limit) })

  /** A path with unknown ids: the body is validated before they are looked up. */
  const unknownRecord = ({ registered }: BodyCase): Place => ({
    path: registered.operation.path.replace(/\{\w+\}/g, unknownId('nothing')),
    by: owner,
  })

  const best = (bodyCase: BodyCase, place: Place, body: string): Promise<number> =>
    bestOf(LONGEST, () => send(bodyCase, place, body))

  test.each(bodies)('to $key does not block the event loop', async bodyCase => {
    expect(
      await best(bodyCase, unknownRecord(bodyCase), JSON.stringify(largestValue(bodyCase.schema))),
    ).toBeLessThan(LONGEST)
  })

  test.each(bodies.filter(({ key }) => key in fullBodies))(
    'to $key with a full and valid body does not block the event loop',
    async bodyCase => {
      const { path, body } = await world.prepare(bodyCase.registered)
      const largest = JSON.stringify(fullBodies[bodyCase.key]?.(body as ValidBody))
      expect(Buffer.byteLength(largest)).toBeLessThan(bodyCase.limit)
      expect(await best(bodyCase, { path, by: another }, largest)).toBeLessThan(LONGEST)
    },
  )

  test.each(oneOfEach)('to $key with a malformed body does not block the event loop', async bodyCase => {
    for (const body of hostileBodies(bodyCase.limit))
      expect(await best(bodyCase, unknownRecord(bodyCase), body)).toBeLessThan(LONGEST)
  })

  /** A policy whose names take the most time to match. */
  const expensivePolicy = (salt: number) => ({
    name: 'a',
    merchantAllowlist: Array.from(
      { length: 1_000 },
      (_, n) => `xn--mnchen-3ya.${salt}${n}.${'a.'.repeat(25)}com`,
    ),
    merchantBlocklist: Array.from({ length: 1_000 }, (_, n) => `SQ *${salt}-${n} ${'ä12 é '.repeat(11)}`),
  })
  const asAnother = (method: string, path: string, body?: object) =>
    service.http(method, path, { token: another.key, ...(body ? { body } : {}) })

  test('for records with the largest policies does not block the event loop', async () => {
    const { body: policy } = await asAnother('POST', '/policies', expensivePolicy(0))
    const { body: agent } = await asAnother('POST', '/agents', { name: 'A', policyId: policy.id })
    const spend = { agentId: agent.id, amountEuros: 1, merchant: 'Bookshop', purpose: 'Books' }
    const turns: Record<string, number[]> = { decided: [], listed: [], versions: [] }
    const timed = async (what: string, method: string, path: string, body?: object) => {
      const { longest } = await processorTimeOfService(() => asAnother(method, path, body))
      turns[what]?.push(longest)
    }
    const isShort = (all: number[]): boolean => Math.min(...all.slice(3)) < LONGEST
    for (let version = 1; version <= 8 && !Object.values(turns).every(isShort); version++) {
      await asAnother('PUT', `/policies/${policy.id}`, expensivePolicy(version))
      await timed('decided', 'POST', '/intents', spend)
      await asAnother('POST', '/policies', expensivePolicy(version))
      await timed('listed', 'GET', '/policies?limit=100')
      await timed('versions', 'GET', `/policies/${policy.id}/versions`)
    }
    const shortOnes = Object.entries(turns).map(([what, all]) => [what, isShort(all)])
    expect(Object.fromEntries(shortOnes)).toEqual({ decided: true, listed: true, versions: true })
  })

  test('in chunks of one byte does not block the event loop', async () => {
    const headers = { Authorization: `Bearer ${owner.key}`, 'Content-Type': 'application/json' }
    const body = filledTo(150_000, '{"name":"', 'a', '"}')
    const chunks = `${Array.from(body, byte => `1\r\n${byte}\r\n`).join('')}0\r\n\r\n`
    const head = request('POST', '/policies', { ...headers, 'Transfer-Encoding': 'chunked' })
    const wire = Buffer.from(head + chunks)
    const longest = await bestOf(LONGEST, async () => {
      const [answer] = await exchange(service.url, wire)
      expect(answer?.text).toMatch(/name: must have at most 200 characters/)
    })
    expect(longest).toBeLessThan(LONGEST)
  })

  test('frees its memory', async () => {
    const round = async (): Promise<void> => {
      for (const bodyCase of oneOfEach)
        for (const body of hostileBodies(bodyCase.limit)) await send(bodyCase, unknownRecord(bodyCase), body)
    }
    const memoryInUse = (): number => {
      collect()
      const { heapUsed, arrayBuffers } = process.memoryUsage()
      return heapUsed + arrayBuffers
    }
    await round()
    // A cache may grow once or twice; a leak grows with each round.
    let [before, growth] = [memoryInUse(), Number.POSITIVE_INFINITY]
    for (let rounds = 0; rounds < 5 && growth >= MEBIBYTE; rounds++) {
      await round()
      const after = memoryInUse()
      growth = after - before
      before = after
    }
    expect(growth).toBeLessThan(MEBIBYTE)
  })
})
