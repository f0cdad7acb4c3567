import { describe, expect, test } from '@jest/globals'
import { expectRefusal, startUnchangedService } from '../../../support/contract/bad-input.ts'

const { service, owner, stranger, agent } = await startUnchangedService()

const get = (path: string, token = owner.key) => service.http('GET', path, { token })

describe('a query', () => {
  test.each([
    '0',
    '101',
    '-1',
    'abc',
    '',
    '1.5',
    '1e400',
    'NaN',
    '١',
    '0x10',
    '0b1',
    '1e1',
    '+5',
    ' 5',
    '5.0',
  ])('with the limit %j is refused', async limit =>
    expectRefusal(
      await get(`/policies?limit=${encodeURIComponent(limit)}`),
      400,
      'invalid_request',
      /^limit: a whole number/,
    ),
  )

  test.each([
    ['a parameter given twice', 'limit=1&limit=2', /^limit: given more than once$/],
    ['the same twice', 'kind=agent&kind=agent', /^kind: /],
    ['a list', 'limit[]=1', /^limit\[\]: unknown field, did you mean limit\?$/],
    ['an unknown parameter', 'colour=red', /^colour: unknown field$/],
    ['__proto__', '__proto__=1', /__proto__/],
    ['a value that is none', 'kind=both', /^kind: /],
    ['NUL', 'templateId=%00', /^templateId: .*U\+0000/],
  ])('with %s is refused', async (_, query, message) =>
    expectRefusal(await get(`/policies?${query}`), 400, 'invalid_request', message),
  )

  test('is refused where none is expected', async () =>
    expectRefusal(await get(`/agents/${agent.id}?a=1`), 400, 'invalid_request', /^a: /))

  test('with invalid percent-encoding finds nothing', async () => {
    for (const query of ['templateId=%', 'templateId=%zz', 'templateId=%ED%A0%80', 'templateId=%FF'])
      expect((await get(`/policies?${query}`)).body).toEqual({ data: [], hasMore: false, nextCursor: null })
  })
})

describe('a page cursor', () => {
  const cursorOf = async (path: string, token = owner.key): Promise<string> =>
    (await get(path, token)).body.nextCursor

  test.each([
    ['that is forged', async () => 'abc'],
    ['that is empty', async () => ''],
    ['that was altered', async () => `${await cursorOf('/policies?limit=1')}A`],
    ['of another owner', () => cursorOf('/policies?limit=1', stranger.key)],
    ['of another filter', () => cursorOf('/policies?limit=1&kind=template')],
    ['of another list', () => cursorOf('/policies/presets?limit=1')],
  ])('%s is refused', async (_, makeCursor) => {
    const cursor = encodeURIComponent(await makeCursor())
    expectRefusal(await get(`/policies?limit=1&cursor=${cursor}`), 400, 'invalid_cursor', /^cursor: /)
  })

  test('of the same list works with another limit', async () => {
    const cursor = encodeURIComponent(await cursorOf('/policies?limit=1'))
    expect((await get(`/policies?limit=2&cursor=${cursor}`)).body.data.length).toBe(2)
  })
})

describe('an address', () => {
  test.each([
    '/nowhere',
    '/v2/agents',
    '/agents/',
    '//agents',
    '/agents/a/b/c',
    '/v1',
    '/v1/v1/agents',
    '/Agents',
  ])('%s is not found', async path => expectRefusal(await get(path), 404, 'not_found'))

  test.each(['%', '%zz', '%00', 'a%2Fb', '%ff', 'a b', 'é', "'"])('/agents/%s finds no agent', async id =>
    expectNothing(id),
  )

  test('with a very long id finds no agent', async () => {
    for (const length of [129, 8_000]) await expectNothing('x'.repeat(length))
  })

  async function expectNothing(id: string): Promise<void> {
    const { status, headers, body } = await get(`/agents/${id}`)
    expect([status, headers.get('x-data-residency')]).toEqual([404, 'EU'])
    expect(Object.keys(body)).toEqual(['error'])
  }

  test('with another method is refused with the allowed methods', async () => {
    for (const [method, path, allow] of [
      ['PUT', '/agents', 'GET, POST'],
      ['DELETE', '/v1/health', 'GET'],
      ['POST', `/agents/${agent.id}`, 'GET, PATCH, DELETE'],
      ['OPTIONS', '/agents', 'GET, POST'],
    ] as const) {
      const answer = await service.http(method, path, { token: owner.key })
      expectRefusal(answer, 405, 'method_not_allowed')
      expect(answer.headers.get('allow')).toBe(allow)
    }
  })
})
