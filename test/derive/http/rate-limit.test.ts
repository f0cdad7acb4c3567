import { beforeEach, describe, expect, test } from '@jest/globals'
import { areas } from '../../../src/areas.ts'
import { clock } from '../../../src/values/clock.ts'
import { statusCounts, times } from '../../support/at-once.ts'
import { anAgent, aToken } from '../../support/factories.ts'
import { type FlakyProxy, flakyProxy } from '../../support/flaky-proxy.ts'
import { http, startTestService } from '../../support/harness.ts'
import { signedInTo } from '../../support/identity/console.ts'

const LIMIT = 20
const { health, pages } = areas
const RATE_LIMIT_PER_MINUTE = String(LIMIT)

const service = await startTestService({ env: { RATE_LIMIT_PER_MINUTE } })
/** The documentation of all areas would take seconds to generate. */
const documented = await startTestService({ areas: { health, pages }, env: { RATE_LIMIT_PER_MINUTE } })
const behindProxy = await startTestService({ env: { RATE_LIMIT_PER_MINUTE, TRUST_PROXY: '1' } })
const behindNamedProxy = await startTestService({ env: { RATE_LIMIT_PER_MINUTE, TRUST_PROXY: '10.0.0.1' } })

let proxy!: FlakyProxy
const serviceBehindFlakyProxy = await startTestService({
  env: { RATE_LIMIT_PER_MINUTE },
  async through(url) {
    proxy = await flakyProxy(url)
    return proxy.url
  },
})

const urls = [service.url, await service.another()]

const newMinute = (of: Pick<typeof service, 'sql'> = service) => of.sql('delete from rate_limits')
beforeEach(() => newMinute())

const ask = (url = service.url, headers: Record<string, string> = {}) => http(url, 'GET', '/', { headers })

const number = (headers: Headers, name: string): number => Number(headers.get(name))

describe('a client', () => {
  test('has one limit over all processes', async () => {
    const answers = await times(3 * LIMIT, index => ask(urls[index % 2]))
    expect(statusCounts(answers)).toEqual({ 200: LIMIT, 429: 2 * LIMIT })
  })

  test('gets the remaining requests and the time of the reset', async () => {
    const now = clock.milliseconds() / 1000
    const answers = [await ask(), await ask(urls[1]), await ask()]
    expect(answers.map(({ headers }) => number(headers, 'x-ratelimit-remaining'))).toEqual([19, 18, 17])
    for (const { headers } of answers) {
      expect(number(headers, 'x-ratelimit-limit')).toBe(LIMIT)
      expect(number(headers, 'x-ratelimit-reset') - now).toBeGreaterThan(55)
      expect(number(headers, 'x-ratelimit-reset') - now).toBeLessThan(90)
    }
  })

  test('beyond its limit gets 429 with the time to wait', async () => {
    await times(LIMIT, () => ask())
    const { status, headers, body } = await ask()
    expect([status, headers.get('x-error-code')]).toEqual([429, 'rate_limited'])
    const wait = number(headers, 'retry-after')
    const inWords = wait === 1 ? 'one second' : `${wait} seconds`
    expect(body).toEqual({
      error: `Too many requests from this address: ${LIMIT} a minute. Wait ${inWords}.`,
    })
    expect(number(headers, 'retry-after')).toBeGreaterThan(0)
    expect(number(headers, 'retry-after')).toBeLessThanOrEqual(60)
    expect(number(headers, 'x-ratelimit-remaining')).toBe(0)
    expect(headers.get('x-data-residency')).toBe('EU')
  })

  test('can send requests again in the next minute', async () => {
    await times(LIMIT + 1, () => ask())
    await service.sql(`update rate_limits set resets_at = now() - interval '1 millisecond'`)
    const { status, headers } = await ask()
    expect([status, number(headers, 'x-ratelimit-remaining')]).toEqual([200, LIMIT - 1])
  })

  test('is counted for every request, even a refused one', async () => {
    await times(LIMIT - 3, () => ask())
    const paths = ['/nowhere', '/agents', '/agents?limit=0']
    const answers = await times(3, index => http(service.url, 'GET', paths[index] as string, {}))
    expect(statusCounts(answers)).toEqual({ 401: 2, 404: 1 })
    expect((await ask()).status).toBe(429)
  })

  test('is not counted for health and documentation', async () => {
    const { url } = documented
    const free = ['/health', '/v1/health', '/docs', '/docs/nothing', '/openapi.json']
    const answers = await times(2 * LIMIT, index => http(url, 'GET', String(free[index % 5]), {}))
    expect(statusCounts(answers)[429]).toBeUndefined()
    for (const { headers } of answers) expect(headers.has('x-ratelimit-limit')).toBe(false)
    expect(number((await ask(url)).headers, 'x-ratelimit-remaining')).toBe(LIMIT - 1)
  })

  test.each([
    ['searches', '/docs/search?q=health', 200],
    ['missing pages', '/docs/errors/nothing', 404],
  ])(
    'can read the documentation beyond its limit of %s, and reads when to come again',
    async (_, path, status) => {
      const { url } = documented
      const headers = { accept: 'text/html' }
      await newMinute(documented)
      const answers = await times(LIMIT, () => http(url, 'GET', path, { headers }))
      expect(statusCounts(answers)).toEqual({ [status]: LIMIT })
      const refused = await http(url, 'GET', path, { headers })
      const wait = number(refused.headers, 'retry-after')
      expect([refused.status, refused.headers.get('content-type')]).toEqual([429, 'text/html; charset=utf-8'])
      expect(refused.text).toContain(
        `Too many requests from this address: ${LIMIT} a minute. Wait ${wait} seconds.`,
      )
      expect((await http(url, 'GET', '/docs', { headers })).status).toBe(200)
    },
  )

  test('beyond its limit reads in a page of the console when to come again, and a program reads it as ever', async () => {
    await times(LIMIT, () => ask())
    const page = await service.http('GET', '/console/agents', { headers: { accept: 'text/html' } })
    const wait = number(page.headers, 'retry-after')
    expect([page.status, page.headers.get('content-type')]).toEqual([429, 'text/html; charset=utf-8'])
    expect(page.text).toContain(
      `Too many requests from this address: ${LIMIT} a minute. Wait ${wait} seconds.`,
    )
    const again = Number(/http-equiv="refresh" content="(\d+)"/.exec(page.text)?.[1])
    expect([again >= wait, again <= 60]).toEqual([true, true])
    const program = await service.http('GET', '/console/agents', {})
    expect([program.status, program.body]).toEqual([
      429,
      { error: expect.stringContaining('Too many requests') },
    ])
  })

  test('beyond its limit uses up no idempotency key', async () => {
    const { client } = await service.owner()
    await times(LIMIT, () => ask())
    const create = () => client.agents.create({ body: { name: 'A' }, idempotencyKey: 'waiting' })
    expect((await create()).status).toBe(429)
    await newMinute()
    const { status, headers } = await create()
    expect([status, headers.has('idempotent-replayed')]).toEqual([201, false])
  })
})

describe('a credential', () => {
  const askWith = (key: string, index: number) =>
    behindProxy.http('GET', '/agents', {
      token: key,
      headers: { 'x-forwarded-for': `198.18.0.${index % 250}` },
    })

  test('has one limit over all addresses, which another one does not use up', async () => {
    await newMinute(behindProxy)
    const [one, other] = [await behindProxy.owner(), await behindProxy.owner()]
    const answers = await times(2 * LIMIT, index => askWith(one.key, index))
    expect(statusCounts(answers)).toEqual({ 200: LIMIT, 429: LIMIT })
    const { body, headers } = await askWith(one.key, 249)
    const wait = Number(headers.get('retry-after'))
    const inWords = wait === 1 ? 'one second' : `${wait} seconds`
    expect(body).toEqual({
      error: `Too many requests with this credential: ${LIMIT} a minute. Wait ${inWords}.`,
    })
    expect(number(headers, 'x-ratelimit-remaining')).toBe(0)
    expect((await askWith(other.key, 249)).status).toBe(200)
  })

  test('is a person’s session, so that one browser that loops does not lock out another one', async () => {
    const account = await behindProxy.owner()
    const looping = await signedInTo(behindProxy, account)
    const other = await signedInTo(behindProxy, account, { personId: looping.personId })
    const askIn = ({ cookie }: { readonly cookie: string }, index: number) =>
      behindProxy.http('GET', '/agents', { headers: { cookie, 'x-forwarded-for': `198.18.2.${index}` } })
    await newMinute(behindProxy)
    const answers = await times(2 * LIMIT, index => askIn(looping, index))
    expect(statusCounts(answers)).toEqual({ 200: LIMIT, 429: LIMIT })
    expect((await askIn(other, 249)).status).toBe(200)
  })
})

describe('the assistants of an owner', () => {
  const body = { jsonrpc: '2.0', id: 1, method: 'ping' }
  /** From the one address of a host of assistants. */
  const askAs = (token: string) =>
    behindProxy.http('POST', '/mcp', {
      token,
      body,
      headers: {
        'x-forwarded-for': '198.18.1.1',
        accept: 'application/json, text/event-stream',
        'mcp-protocol-version': '2025-06-18',
      },
    })

  /** The token of an assistant, as a person's consent makes it. */
  async function assistantOf({ client }: Awaited<ReturnType<typeof behindProxy.owner>>): Promise<string> {
    const { id, token } = await aToken(client, (await anAgent(client)).id)
    await behindProxy.sql(`update agent_tokens set only_at = '/mcp' where id = $1`, [id])
    return String(token)
  }

  test('have a limit each, so that one that loops does not lock out the others', async () => {
    const one = await behindProxy.owner()
    const [looping, other] = [await assistantOf(one), await assistantOf(one)]
    await newMinute(behindProxy)
    const answers = await times(2 * LIMIT, () => askAs(looping))
    expect(statusCounts(answers)).toEqual({ 200: LIMIT, 429: LIMIT })
    expect((await askAs(other)).status).toBe(200)
  })

  test('have four times the limit together, which those of another owner do not use up', async () => {
    const [one, other] = [await behindProxy.owner(), await behindProxy.owner()]
    const many = await times(6, () => assistantOf(one))
    const quiet = await assistantOf(one)
    const foreign = await assistantOf(other)
    await newMinute(behindProxy)
    const answers = await times(6 * LIMIT, index => askAs(String(many[index % 6])))
    expect(statusCounts(answers)).toEqual({ 200: 4 * LIMIT, 429: 2 * LIMIT })
    expect((await askAs(quiet)).body.error).toMatch(
      /^Too many requests by the assistants of this account: 80 a minute\./,
    )
    expect((await askAs(foreign)).status).toBe(200)
  })
})

describe('X-Forwarded-For', () => {
  const acceptedCount = async (url: string, forwarded: (index: number) => string): Promise<number> => {
    const answers = await times(2 * LIMIT, index => ask(url, { 'x-forwarded-for': forwarded(index) }))
    return statusCounts(answers)[200] ?? 0
  }

  test('is ignored unless a proxy is trusted', async () => {
    expect(await acceptedCount(service.url, index => `192.0.2.${index}`)).toBe(LIMIT)
  })

  test('is believed from a trusted proxy', async () => {
    expect(await acceptedCount(behindProxy.url, index => `192.0.2.${index}`)).toBe(2 * LIMIT)
  })

  test('is believed only for the part that the trusted proxy wrote', async () => {
    expect(await acceptedCount(behindProxy.url, index => `198.51.100.${index}, 203.0.113.7`)).toBe(LIMIT)
  })

  test.each(['unknown', 'for=1.2.3.4', '1.2.3', '<script>', '1.2.3.4.5', "'; --"])(
    'that is not an address counts as the proxy’s own: %s',
    async text => {
      await newMinute(behindProxy)
      expect(await acceptedCount(behindProxy.url, index => `${text}${index}`)).toBe(LIMIT)
    },
  )

  test('counts a whole /64 as one client, and all spellings of an address as one', async () => {
    const inOne = (index: number) => `2001:db8:1:2:${index.toString(16)}::${index.toString(16)}`
    await newMinute(behindProxy)
    expect(await acceptedCount(behindProxy.url, inOne)).toBe(LIMIT)
    await newMinute(behindProxy)
    expect(await acceptedCount(behindProxy.url, index => `2001:db8:1:${index.toString(16)}::1`)).toBe(
      2 * LIMIT,
    )
    const same = ['203.0.113.9', '203.0.113.9:1234', '::ffff:203.0.113.9', '[::ffff:203.0.113.9]:80']
    expect(await acceptedCount(behindProxy.url, index => String(same[index % 4]))).toBe(LIMIT)
  })

  test('is ignored from a proxy that is not trusted', async () => {
    expect(await acceptedCount(behindNamedProxy.url, index => `192.0.2.${index}`)).toBe(LIMIT)
  })
})

describe('the rate limit during an outage of the database', () => {
  test('without a database each process counts by itself', async () => {
    await proxy.close()
    const answers = await times(2 * LIMIT, () => ask(serviceBehindFlakyProxy.url))
    expect(statusCounts(answers)).toEqual({ 200: LIMIT, 429: LIMIT })
    for (const { headers } of answers) expect(headers.get('x-ratelimit-limit')).toBe(String(LIMIT))
    await proxy.open()
    expect((await ask(serviceBehindFlakyProxy.url)).status).toBe(200)
  })
})
