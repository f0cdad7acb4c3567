import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { describe, expect, test } from '@jest/globals'
import type { areas } from '../../../src/areas.ts'
import type { JsonSchema } from '../../../src/derive/openapi/types.ts'
import { bodyLimitOf } from '../../../src/kernel/contract/operation.ts'
import { everythingSent } from '../../support/contract/contract-members.ts'
import { credentials, operations, unknownId, World } from '../../support/contract/world.ts'
import { type Owner, startTestService } from '../../support/harness.ts'
import { converse, request } from '../../support/http/raw.ts'
import { longestTurn } from '../../support/longest-turn.ts'

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

const service = await startTestService()
const [owner, another] = [await service.owner(), await service.owner()]
/** For what must succeed: nothing else is done with what this owner has. */
const world = new World(service, another)

const MEBIBYTE = 1_048_576

/** So long nobody else may have to wait, in milliseconds. */
const LONGEST = 50

/** As much as a contract admits of this member, whatever it says besides. */
function most(schema: JsonSchema & { readonly maxProperties?: number }): unknown {
  const { enum: values, maxLength, items, maxItems = 0, properties, additionalProperties: entry } = schema
  const choice = schema.anyOf?.[0] ?? schema.oneOf?.[0]
  if (choice) return most(choice)
  if (values) return values.at(-1)
  if (items) return Array.from({ length: maxItems }, () => most(items))
  if (properties)
    return Object.fromEntries(Object.entries(properties).map(([name, member]) => [name, most(member)]))
  if (typeof entry === 'object')
    return Object.fromEntries(
      Array.from({ length: schema.maxProperties ?? 0 }, (_, n) => [`name ${n}`, most(entry)]),
    )
  return maxLength === undefined ? 1 : '1'.repeat(maxLength)
}

/** A text repeated until it fills the limit. */
const filling = (limit: number, before: string, part: string, after: string): string =>
  before + part.repeat(Math.floor((limit - before.length - after.length) / part.length)) + after

/** What makes the most work of so many bytes, for any contract. */
const hostile = (limit: number): string[] => [
  filling(limit, '{"x":[', '[],', '[]]}'),
  filling(limit, '{"x":[', '{"":0},', '0]}'),
  `{${Array.from({ length: 9_000 }, (_, n) => `"${n}":0`).join(',')}}`.slice(0, limit),
  filling(limit, '{"x":"', '\\u00e9', '"}'),
  filling(limit, '{"x":"', 'é', '"}'),
  filling(limit, '', '{"":[', ''),
  filling(limit, '{"x":', '1', '}'),
  filling(limit, '', ' ', '{}'),
]

/** What a contract takes or refuses only after all of it has been looked at. */
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
const full: Readonly<Record<string, (right: Right) => object>> = {
  'policies.create': () => fullLists,
  'policies.replace': () => fullLists,
  'intents.simulate': () => ({ policy: fullLists, amountEuros: 1, merchant: 'm'.repeat(200) }),
  'intents.create': right => ({
    ...right,
    metadata: Object.fromEntries(Array.from({ length: 50 }, (_, n) => [`${n}`, 'x'.repeat(1_000)])),
  }),
  'transfers.split': ({ parts = [], ...right }) => ({
    ...right,
    parts: Array.from({ length: 1_000 }, () => ({ ...parts[0], amountEuros: 0.01 })),
  }),
  'webhooks.create': right => ({
    ...right,
    events: Array.from({ length: 200 }, (_, n) => `transaction.${n}${'x'.repeat(80)}`),
  }),
  'rails.read': () => file(`<a ${Array.from({ length: 100_000 }, (_, n) => `b${n}=""`).join(' ')}/>`),
  'incoming.readFile': () => file(`<a>${'<b/>'.repeat(200_000)}`),
}

interface Right {
  readonly parts?: readonly object[]
}

const bodies = everythingSent.flatMap(({ key, operation, place, schema }) => {
  const one = operations.find(operation => operation.key === key)
  return one && place === 'body' ? [{ key, one, schema, limit: bodyLimitOf(operation) }] : []
})

type Asking = (typeof bodies)[number]

/** Where a body is sent, and by whom. */
interface Place {
  readonly path: string
  readonly by: Owner<typeof areas>
}

/** One of each limit: what is no contract's is the same work for all. */
const oneOfEach = [...new Map(bodies.map(one => [one.limit, one])).values()]

describe('a request that is as much work as it can be', () => {
  const send = ({ one, limit }: Asking, { path, by }: Place, body: string): Promise<number> =>
    longestTurn(() => world.send(one, path, { ...credentials(one, by), body: body.slice(0, limit) }))

  /** With ids of nothing: a body is looked at before them. */
  const nowhere = ({ one }: Asking): Place => ({
    path: one.operation.path.replace(/\{\w+\}/g, unknownId('nothing')),
    by: owner,
  })

  /** The best of several: the first ones also compile what they run. */
  const bestOf = async (asked: Asking, place: Place, body: string): Promise<number> => {
    let best = Number.POSITIVE_INFINITY
    for (let tries = 0; tries < 6 && best >= LONGEST; tries++)
      best = Math.min(best, await send(asked, place, body))
    return best
  }

  test.each(bodies)('of $key lets others have their turn', async asked => {
    expect(await bestOf(asked, nowhere(asked), JSON.stringify(most(asked.schema)))).toBeLessThan(LONGEST)
  })

  test.each(bodies.filter(({ key }) => key in full))(
    'of $key, all of it right, does so, too',
    async asked => {
      const { path, body } = await world.prepare(asked.one)
      const largest = JSON.stringify(full[asked.key]?.(body as Right))
      expect(Buffer.byteLength(largest)).toBeLessThan(asked.limit)
      expect(await bestOf(asked, { path, by: another }, largest)).toBeLessThan(LONGEST)
    },
  )

  test.each(oneOfEach)('of $key and no form lets others have their turn', async asked => {
    for (const body of hostile(asked.limit))
      expect(await bestOf(asked, nowhere(asked), body)).toBeLessThan(LONGEST)
  })

  /** Names that are matched in the most forms. */
  const dear = (salt: number) => ({
    name: 'a',
    merchantAllowlist: Array.from(
      { length: 1_000 },
      (_, n) => `xn--mnchen-3ya.${salt}${n}.${'a.'.repeat(25)}com`,
    ),
    merchantBlocklist: Array.from({ length: 1_000 }, (_, n) => `SQ *${salt}-${n} ${'ä12 é '.repeat(11)}`),
  })
  const asAnother = (method: string, path: string, body?: object) =>
    service.http(method, path, { token: another.key, ...(body ? { body } : {}) })

  test('of what such bodies have left lets others have their turn', async () => {
    const { body: policy } = await asAnother('POST', '/policies', dear(0))
    const { body: agent } = await asAnother('POST', '/agents', { name: 'A', policyId: policy.id })
    const spend = { agentId: agent.id, amountEuros: 1, merchant: 'Bookshop', purpose: 'Books' }
    const turns: Record<string, number[]> = { decided: [], listed: [], versions: [] }
    const timed = async (what: string, method: string, path: string, body?: object) => {
      turns[what]?.push(await longestTurn(() => asAnother(method, path, body)))
    }
    const isShort = (all: number[]): boolean => Math.min(...all.slice(3)) < LONGEST
    for (let version = 1; version <= 8 && !Object.values(turns).every(isShort); version++) {
      await asAnother('PUT', `/policies/${policy.id}`, dear(version))
      await timed('decided', 'POST', '/intents', spend)
      await asAnother('POST', '/policies', dear(version))
      await timed('listed', 'GET', '/policies?limit=100')
      await timed('versions', 'GET', `/policies/${policy.id}/versions`)
    }
    const best = Object.entries(turns).map(([what, all]) => [what, isShort(all)])
    expect(Object.fromEntries(best)).toEqual({ decided: true, listed: true, versions: true })
  }, 60_000)

  test('in chunks of one byte lets others have their turn', async () => {
    const headers = { Authorization: `Bearer ${owner.key}`, 'Content-Type': 'application/json' }
    const body = filling(150_000, '{"name":"', 'a', '"}')
    const chunks = `${Array.from(body, byte => `1\r\n${byte}\r\n`).join('')}0\r\n\r\n`
    const head = request('POST', '/policies', { ...headers, 'Transfer-Encoding': 'chunked' })
    const wire = Buffer.from(head + chunks)
    const turns: number[] = []
    while (turns.length < 3 && Math.min(...turns) >= LONGEST)
      turns.push(
        await longestTurn(async () => {
          const [answer] = await converse(service.url, wire)
          expect(answer?.text).toMatch(/name: must have at most 200 characters/)
        }),
      )
    expect(Math.min(...turns)).toBeLessThan(LONGEST)
  }, 30_000)

  test('gives its memory back', async () => {
    const round = async (): Promise<void> => {
      for (const asked of oneOfEach)
        for (const body of hostile(asked.limit)) await send(asked, nowhere(asked), body)
    }
    const kept = (): number => {
      collect()
      const { heapUsed, arrayBuffers } = process.memoryUsage()
      return heapUsed + arrayBuffers
    }
    await round()
    // A cache may fill once or twice; what a request holds on to grows with each round.
    let [before, growth] = [kept(), Number.POSITIVE_INFINITY]
    for (let rounds = 0; rounds < 5 && growth >= MEBIBYTE; rounds++) {
      await round()
      const after = kept()
      growth = after - before
      before = after
    }
    expect(growth).toBeLessThan(MEBIBYTE)
  })
})
