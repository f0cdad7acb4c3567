import { beforeAll, describe, expect, test } from '@jest/globals'
import pg from 'pg'
import { clientAt } from '../../support/client.ts'
import { cloneDatabase } from '../../support/database.ts'
import { DASHBOARD_SECRET, http } from '../../support/harness.ts'
import { exchange } from '../../support/http/raw.ts'
import { firstPerson } from '../../support/identity/console.ts'
import { type Api, createOwner, SECRETS, startApi } from '../../support/processes/processes.ts'
import { until } from '../../support/until.ts'

interface Line {
  readonly level: number
  readonly requestId?: string
  readonly status?: number
  readonly operation?: string | null
}

let api: Api
let key: string
beforeAll(async () => {
  const databaseUrl = await cloneDatabase()
  api = await startApi(databaseUrl, { LOG_LEVEL: 'trace' })
  key = await createOwner(api.url)
  // A row that violates this check causes a 500, whose cause is logged with the row.
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  await client.query(`alter table agents add check (description is null or description <> 'boom')`)
  await client.end()
})

const lines = (): Line[] =>
  api
    .output()
    .split('\n')
    .filter(line => line.startsWith('{'))
    .map(line => JSON.parse(line))

const lineOf = (requestId: string): Promise<Line> =>
  until(`the line of ${requestId}`, () =>
    lines().find(line => line.requestId === requestId && line.status !== undefined),
  )

const ask = (method: string, path: string, headers: Record<string, string> = {}, body?: unknown) =>
  http(api.url, method, path, { headers: { authorization: `Bearer ${key}`, ...headers }, body })

/** Every place in a request that could contain a secret, intended or not. */
const places: Record<string, (secret: string) => Promise<unknown>> = {
  'the right header': secret => ask('GET', '/agents', { authorization: `Bearer ${secret}` }),
  'the header, without Bearer': secret => ask('GET', '/agents', { authorization: secret }),
  'Basic authorization': secret => ask('GET', '/agents', { authorization: `Basic ${secret}` }),
  'the dashboard’s header': secret => ask('GET', '/customers', { 'x-dashboard-secret': secret }),
  'a cookie': secret => ask('GET', '/agents', { cookie: `session=${secret}` }),
  'a header of their own': secret =>
    ask('GET', '/agents', { 'x-api-key': secret, 'user-agent': secret, referer: secret }),
  'the path': secret => ask('GET', `/agents/${secret}`),
  'a path to nowhere': secret => ask('GET', `/${secret}/${secret}`),
  'a path with another method': secret => ask('PUT', `/agents/${secret}`),
  'the query': secret => ask('GET', `/agents?externalId=${secret}`),
  'the name of a parameter': secret => ask('GET', `/agents?${secret}=1`),
  'a cursor': secret => ask('GET', `/agents?cursor=${secret}`),
  'the request id': secret => ask('GET', '/agents', { 'x-request-id': secret }),
  'a request id, with something before it': secret =>
    ask('GET', '/agents', { 'x-request-id': `trace-${secret}` }),
  'a request id, grown together': secret => ask('GET', '/agents', { 'x-request-id': `trace_${secret}` }),
  'an idempotency key': secret => ask('POST', '/agents', { 'idempotency-key': secret }, { name: 'A' }),
  'a body': secret => ask('POST', '/agents', {}, { name: secret, metadata: { note: secret } }),
  'a wrong body': secret => ask('POST', '/agents', {}, { name: [secret] }),
  'the name of a member': secret => ask('POST', '/agents', {}, { name: 'A', [secret]: 1 }),
  'a body that is not JSON': secret => ask('POST', '/agents', {}, `{"name":"${secret}`),
  'what causes a 500': secret =>
    ask(
      'POST',
      '/agents',
      { 'idempotency-key': `500-${secret}` },
      { name: secret, description: 'boom', externalId: secret },
    ),
  'what causes a 500, with its request id': secret =>
    ask('POST', '/agents', { 'x-request-id': secret }, { name: `a${secret}b`, description: 'boom' }),
  'what is not HTTP': secret =>
    exchange(api.url, `GET ${secret} ${secret}\r\nAuthorization: ${secret}\r\n\r\n`),
}

const TOKEN = 'at_test_TheTokenOfTheAgentIsHereAndNowhereElse0123456789'
const secrets = () => [key, TOKEN, DASHBOARD_SECRET, SECRETS.CURSOR_SIGNING_KEY, SECRETS.ENCRYPTION_KEY]

/** The log during the work, up to the line of a request that follows it. */
async function logDuring(work: () => Promise<unknown>): Promise<string> {
  const before = api.output().length
  await work()
  const end = `end-${before}`
  await http(api.url, 'GET', '/health', { headers: { 'x-request-id': end } })
  await lineOf(end)
  return api.output().slice(before)
}

/** The leaked secrets, each with the text before it, shortened. */
const leaks = (text: string, hidden: readonly string[]): string[] =>
  hidden
    .filter(secret => text.includes(secret))
    .map(secret => text.slice(Math.max(0, text.indexOf(secret) - 60), text.indexOf(secret) + 10))

describe('the log', () => {
  test.each(Object.keys(places))('contains no secret that was sent in %s', async place => {
    const logged = await logDuring(async () => {
      for (const secret of secrets()) await places[place]?.(secret)
    })
    expect(leaks(logged, secrets())).toEqual([])
  })

  test('has a line of each request, and of a health check that succeeds only at the level of debugging', async () => {
    await ask('GET', '/health', { 'x-request-id': 'a-check' })
    await ask('GET', '/agents', { 'x-request-id': 'a-list' })
    expect([(await lineOf('a-check')).level, (await lineOf('a-list')).level]).toEqual([20, 30])
  })

  test('contains no secret that was generated', async () => {
    const createdKeys: string[] = []
    const logged = await logDuring(async () => {
      for (const idempotencyKey of ['made', 'made', 'again']) {
        const headers = { 'idempotency-key': idempotencyKey }
        const { body } = await ask('POST', '/keys', headers, { name: 'B', environment: 'test' })
        if (body.key) createdKeys.push(body.key)
        await ask('GET', '/agents', { authorization: `Bearer ${body.key}` })
      }
    })
    expect(createdKeys.length).toBe(2)
    expect(leaks(logged, createdKeys)).toEqual([])
  })

  test('logs the caller and the address of too many wrong codes', async () => {
    const { headers, personId } = await firstPerson(api.url, clientAt({ url: api.url, token: key }))
    const guess = (id: string) =>
      http(api.url, 'POST', '/sessions/device/lookup', {
        headers: { ...headers, 'x-request-id': id },
        body: { userCode: 'WDJB-MJHT' },
      })
    for (let n = 0; n <= 10; n++) await guess(`guess-${n}`)
    expect(await lineOf('guess-10')).toMatchObject({
      operation: 'sessions.lookup',
      status: 429,
      errorCode: 'too_many_guesses',
      actorId: personId,
      address: '127.0.0.1',
    })
  })

  test('logs one line of JSON per request with any outcome', async () => {
    const requests: [string, number, string | null, () => Promise<unknown>][] = [
      ['ok', 200, 'agents.list', () => ask('GET', '/agents', { 'x-request-id': 'line-ok' })],
      ['refused', 404, 'agents.get', () => ask('GET', '/agents/nobody', { 'x-request-id': 'line-refused' })],
      ['nowhere', 404, null, () => ask('GET', '/nowhere', { 'x-request-id': 'line-nowhere' })],
      ['wrong', 400, 'agents.create', () => ask('POST', '/agents', { 'x-request-id': 'line-wrong' }, {})],
      [
        'fault',
        500,
        'agents.create',
        () => ask('POST', '/agents', { 'x-request-id': 'line-fault' }, { name: 'A', description: 'boom' }),
      ],
    ]
    for (const [, , , send] of requests) await send()
    for (const [name, status, operation] of requests) {
      expect(await lineOf(`line-${name}`)).toMatchObject({ level: 30, status, operation })
      const all = lines().filter(({ requestId }) => requestId === `line-${name}`)
      expect(all.length).toBe(name === 'fault' ? 2 : 1)
    }
  })

  test('contains the cause of a 500, which the answer does not', async () => {
    const { status, body } = await ask(
      'POST',
      '/agents',
      { 'x-request-id': 'cause' },
      { name: 'A', description: 'boom' },
    )
    expect([status, body]).toEqual([500, { error: expect.not.stringContaining('check') }])
    await lineOf('cause')
    expect(
      JSON.stringify(lines().find(({ requestId, level }) => requestId === 'cause' && level === 50)),
    ).toContain('check')
  })
})
