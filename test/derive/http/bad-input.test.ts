import './bad-input/bad-addresses.ts'
import './bad-input/contract-maxima.ts'
import './bad-input/ids-in-bodies.ts'
import './bad-input/refusal-messages.ts'
import './bad-input/retry-after.ts'
import { gzipSync } from 'node:zlib'
import { describe, expect, test } from '@jest/globals'
import { expectRefusal, startUnchangedService } from '../../support/contract/bad-input.ts'

const { service, owner, agent } = await startUnchangedService()

const post = (body: string, headers: Record<string, string> = {}) =>
  service.http('POST', '/policies', {
    token: owner.key,
    body,
    headers: { 'idempotency-key': 'bad', ...headers },
  })

const nested = (depth: number): string => `${'['.repeat(depth)}${']'.repeat(depth)}`
const nestedObjects = (depth: number): string => `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`

describe('a body', () => {
  test.each([
    '{"name":',
    '{name:1}',
    "{'name':'a'}",
    'undefined',
    '{"name":"a"}}',
    '\u0000',
    '{"name":"a",}',
  ])('that is not JSON is refused: %j', async body => expectRefusal(await post(body), 400, 'invalid_json'))

  test.each(['[]', '[{"name":"a"}]', 'null', '"name"', '1', 'true'])(
    'that is not an object is refused: %j',
    async body => expectRefusal(await post(body), 400, 'invalid_request', /^body: /),
  )

  test.each([
    ['an unknown member', '{"name":"a","colour":1}', /^colour: unknown field$/],
    [
      'a misspelt member',
      '{"name":"a","dailyLimit":1}',
      /^dailyLimit: unknown field, did you mean dailyLimitEuros\?$/,
    ],
    ['several unknown members', '{"name":"a","x":1,"y":2}', /^x: .*; y: /],
    ['a missing member', '{}', /^name: /],
    ['a wrong type', '{"name":1}', /^name: /],
    ['a number in quotes', '{"name":"a","dailyLimitEuros":"1"}', /^dailyLimitEuros: /],
    ['a truth in quotes', '{"name":"a","requireIntent":"true"}', /^requireIntent: /],
    ['a wrong item', '{"name":"a","allowedCountries":["DE","de"]}', /^allowedCountries\.1: /],
    ['an object for a list', '{"name":"a","merchantAllowlist":{"0":"x"}}', /^merchantAllowlist: /],
    ['NUL', '{"name":"a\\u0000b"}', /^name: .*U\+0000/],
    ['NUL in a list', '{"name":"a","merchantAllowlist":["x","\\u0000"]}', /^merchantAllowlist\.1: /],
    ['half a surrogate pair', '{"name":"\\ud800"}', /^name: .*surrogate/],
    ['the other half', '{"name":"a\\udc00b"}', /^name: .*surrogate/],
    ['NUL in a name', '{"name":"a","\\u0000":1}', /U\+0000/],
    ['half a pair in a name', '{"name":"a","\\ud800":1}', /surrogate/],
    ['__proto__', '{"name":"a","__proto__":{"requireIntent":true}}', /__proto__/],
    ['__proto__ deeper down', '{"name":"a","merchantAllowlist":[{"__proto__":1}]}', /__proto__/],
    ['constructor', '{"name":"a","constructor":{"prototype":{}}}', /^constructor: /],
    ['a number beyond numbers', '{"name":"a","dailyLimitEuros":1e400}', /^dailyLimitEuros: /],
    ['one as far below', '{"name":"a","dailyLimitEuros":-1e400}', /^dailyLimitEuros: /],
    ['a huge amount', '{"name":"a","dailyLimitEuros":1e21}', /^dailyLimitEuros: /],
    ['a huge count', '{"name":"a","maxUsageCount":1e21}', /^maxUsageCount: /],
    ['a count that no column holds', '{"name":"a","maxUsageCount":2147483648}', /^maxUsageCount: /],
    [
      'three decimals',
      '{"name":"a","dailyLimitEuros":1.005}',
      /^dailyLimitEuros: at most two decimals \(it is 1.005\)$/,
    ],
    ['a float artefact', '{"name":"a","dailyLimitEuros":0.30000000000000004}', /two decimals/],
    ['less than nothing', '{"name":"a","dailyLimitEuros":-0.01}', /^dailyLimitEuros: /],
  ])('with %s is refused by name', async (_, body, message) =>
    expectRefusal(await post(body), 400, 'invalid_request', message),
  )

  test.each([
    ['lists', nested(10_000)],
    ['objects', nestedObjects(10_000)],
    ['lists in a member', `{"name":${nested(10_000)}}`],
    ['objects in a list', `{"name":"a","merchantAllowlist":[${nestedObjects(10_000)}]}`],
    ['a hundred thousand lists', nested(100_000)],
  ])('of deeply nested data is refused: %s', async (_, body) =>
    expectRefusal(await post(body), 400, 'invalid_request', /levels deep/),
  )

  test('with a name of 200,000 characters is refused in a short sentence', async () =>
    expectRefusal(await post(`{"name":"a","${'x'.repeat(200_000)}":1}`), 400, 'invalid_request'))

  test.each([
    ['a long key in a record', { metadata: { ['x'.repeat(50_000)]: 1 } }],
    ['NUL under a long key', { metadata: { ['x'.repeat(50_000)]: '\0' } }],
    [
      'many unknown members',
      Object.fromEntries(Array.from({ length: 5_000 }, (_, index) => [`x${index}`, 1])),
    ],
  ])('with %s is refused in a short sentence', async (_, members) => {
    const body = { name: 'a', ...members }
    expectRefusal(await service.http('POST', '/agents', { token: owner.key, body }), 400, 'invalid_request')
  })

  test('of another media type is refused', async () => {
    for (const type of [
      'text/plain',
      'application/x-www-form-urlencoded',
      'application/json; charset=latin1',
      'json',
    ])
      expectRefusal(await post('{"name":"a"}', { 'content-type': type }), 415, 'unsupported_media_type')
  })

  test('that is compressed is refused', async () => {
    for (const encoding of ['gzip', 'deflate', 'br', 'x-unknown']) {
      const { status, headers } = await fetch(`${service.url}/policies`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${owner.key}`,
          'content-type': 'application/json',
          'content-encoding': encoding,
        },
        body: gzipSync('{"name":"a"}'),
      })
      expect([status, headers.get('x-error-code')]).toEqual([415, 'unsupported_media_type'])
    }
  })

  test('that is not UTF-8 is refused', async () => {
    const body = Buffer.from('{"name":"\xff"}', 'latin1')
    const answer = await fetch(`${service.url}/policies`, {
      method: 'POST',
      headers: { authorization: `Bearer ${owner.key}`, 'content-type': 'application/json' },
      body,
    })
    expect([answer.status, answer.headers.get('x-error-code')]).toEqual([400, 'invalid_json'])
  })

  test.each([
    ['numbers', `{"name":"a","merchantAllowlist":[${'1,'.repeat(10_000)}1]}`],
    ['empty lists', `{"name":[${'[],'.repeat(10_000)}[]]}`],
    ['members', `{${Array.from({ length: 10_001 }, (_, index) => `"${index}":1`).join(',')}}`],
  ])('of ten thousand %s is refused before it is parsed', async (_, body) =>
    expectRefusal(await post(body), 400, 'invalid_request', /^body: more than 10,000 values$/),
  )

  test('may have commas and brackets in its texts, which do not count as values', async () => {
    const body = JSON.stringify({ name: 'a\\', colour: `"${',[{"'.repeat(20_000)}\\` })
    expectRefusal(await post(body), 400, 'invalid_request', /^colour: unknown field$/)
  })

  test('over the limit of its contract is refused, with or without a Content-Length', async () => {
    const body = JSON.stringify({ name: 'x'.repeat(262_144) })
    expectRefusal(await post(body), 413, 'body_too_large', /larger than 256 KiB, the most/)
    const stream = new Blob([body]).stream()
    const { status } = await fetch(`${service.url}/policies`, {
      method: 'POST',
      headers: { authorization: `Bearer ${owner.key}`, 'content-type': 'application/json' },
      body: stream,
      duplex: 'half',
    } as RequestInit)
    expect(status).toBe(413)
  })

  test('of a public operation may have 4 KiB', async () => {
    const body = { code: 'x'.repeat(4_096) }
    const answer = await service.http('POST', '/delegations/redeem', { body })
    expectRefusal(answer, 413, 'body_too_large', /larger than 4 KiB, the most/)
  })

  test('is refused where none is expected', async () => {
    const path = `/agents/${agent.id}/unfreeze`
    expectRefusal(
      await service.http('POST', path, { token: owner.key, body: { a: 1 } }),
      400,
      'invalid_request',
      /^a: /,
    )
    expectRefusal(await service.http('POST', path, { token: owner.key, body: [1] }), 400, 'invalid_request')
    expectRefusal(
      await service.http('DELETE', `/agents/${agent.id}`, { token: owner.key, body: { a: 1 } }),
      400,
      'invalid_request',
    )
  })
})
