import { setTimeout as sleep } from 'node:timers/promises'
import { beforeAll, describe, expect, test } from '@jest/globals'
import pg from 'pg'
import { burst, create } from '../support/burst.ts'
import { cloneDatabase } from '../support/database.ts'
import { flakyProxy } from '../support/flaky-proxy.ts'
import { http } from '../support/harness.ts'
import { type RawClient, rawClient, request } from '../support/http/raw.ts'
import { temporaryFolder } from '../support/processes/folders.ts'
import { type Api, createOwner, SECRETS, startApi, startProgram } from '../support/processes/processes.ts'
import { queryValues } from '../support/rows.ts'
import { until } from '../support/until.ts'

async function emptyDatabase(): Promise<string> {
  const url = await cloneDatabase()
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await client.query('drop schema public cascade; create schema public')
  await client.end()
  return url
}

const answersOf = ({ received }: RawClient): number => received().match(/HTTP\/1\.1 200/g)?.length ?? 0

const proxy = await flakyProxy(await cloneDatabase())

describe('an API process', () => {
  test('names every required setting that is not set', async () => {
    const api = startProgram('api', { DATABASE_URL: 'postgres://127.0.0.1:1/none' })
    expect(await api.exit).toBe(1)
    expect(api.output()).toBe(
      'Not set: DASHBOARD_SECRET, CURSOR_SIGNING_KEY, ENCRYPTION_KEY. Give every process the same.\n',
    )
  })

  test('leaves the schema to migrate, of which several may run at once', async () => {
    const settings = { DATABASE_URL: await emptyDatabase(), ...SECRETS }
    const early = startProgram('api', settings)
    expect(await early.exit).toBe(1)
    expect(early.output()).toContain('Run migrate first')

    const migrations = [startProgram('migrate', settings), startProgram('migrate', settings)]
    for (const migration of migrations) expect(await migration.exit).toBe(0)
    const api = await startApi(settings.DATABASE_URL)
    expect((await http(api.url, 'GET', '/health', {})).status).toBe(200)
    api.kill('SIGTERM')
    expect(await api.exit).toBe(0)
  })

  test('or other program that starts while PostgreSQL is away waits for it and then starts', async () => {
    await proxy.close()
    const settings = { DATABASE_URL: proxy.url, TEMPORAL_ADDRESS: '127.0.0.1:1', ...SECRETS }
    const names = ['api', 'worker', 'relay', 'migrate', 'start']
    const started = names.map(name => startProgram(name, { ...settings, DATA_DIR: temporaryFolder() }))
    for (const program of started)
      await program.untilOutput(
        /PostgreSQL at 127\.0\.0\.1:\d+ cannot be reached \(ECONNREFUSED\)\. Waiting\. Start it, or correct DATABASE_URL\./,
      )
    await proxy.open()
    for (const program of started) {
      await program.untilOutput(/Listening on|is running|is up to date|The service is ready/)
      program.kill('SIGTERM')
      expect(await program.exit).toBe(0)
    }
  })

  test('that waits for PostgreSQL ends at once when it is stopped', async () => {
    const api = startProgram('api', { DATABASE_URL: 'postgres://127.0.0.1:1/none', ...SECRETS })
    await api.untilOutput(/cannot be reached/)
    api.kill('SIGTERM')
    expect(await api.exit).toBe(0)
    expect(api.output().match(/cannot be reached/g)).toHaveLength(1)
  })

  test('that PostgreSQL refuses ends with where and why, and without the password', async () => {
    const url = new URL(await cloneDatabase())
    url.pathname = '/nowhere'
    const api = startProgram('api', { DATABASE_URL: url.href, ...SECRETS })
    expect(await api.exit).toBe(1)
    expect(api.output()).toBe(
      `PostgreSQL at ${url.host} (DATABASE_URL) refuses: database "nowhere" does not exist.\n`,
    )
  })

  test('that is stopped under load answers every request that it has accepted', async () => {
    const databaseUrl = await cloneDatabase()
    const api = await startApi(databaseUrl)
    const running = burst(api.url, await createOwner(api.url))
    await until('thirty creates', () => running.succeeded() >= 30)
    const began = performance.now()
    api.kill('SIGTERM')
    expect(await api.exit).toBe(0)
    expect(performance.now() - began).toBeLessThan(10_000)
    const creates = await running.stop()
    const answered = creates.filter(({ response }) => response)
    expect(answered.every(({ response }) => response?.status === 201)).toBe(true)
    const turnedAway = creates.filter(({ response }) => !response).map(({ name }) => name)
    const stored = await queryValues(
      databaseUrl,
      'select name from agents union all select name from policies',
    )
    expect(turnedAway.filter(name => stored.includes(name))).toEqual([])
  })
})

describe('two API processes on one database', () => {
  let a: Api
  let b: Api
  let token: string
  beforeAll(async () => {
    const databaseUrl = await cloneDatabase()
    const settings = { TRUST_PROXY: '1', RATE_LIMIT_PER_MINUTE: '200', KEEP_ALIVE_SECONDS: '3' }
    ;[a, b] = await Promise.all([startApi(databaseUrl, settings), startApi(databaseUrl, settings)])
    token = await createOwner(a.url)
  })
  const either = (index: number) => (index % 2 === 0 ? a : b).url

  test('execute fifty concurrent requests with one idempotency key once', async () => {
    const rawRequest = {
      kind: 'agents',
      name: 'Only one',
      body: { name: 'Only one' },
      key: 'only-one',
    } as const
    const times = Array.from({ length: 50 }, (_, index) => create(either(index), token, rawRequest))
    const answers = (await Promise.all(times)).map(({ response }) => response)
    const created = answers.filter(response => response?.status === 201)
    expect(created.length).toBeGreaterThan(0)
    expect(answers.filter(response => response?.status === 409)).toHaveLength(50 - created.length)
    expect(new Set(created.map(response => response?.body.id)).size).toBe(1)
    const { body } = await http(b.url, 'GET', '/agents', { token })
    expect(body.data).toHaveLength(1)
  })

  test('answer what was sent while one was suspended, on old connections and new ones', async () => {
    const rawRequest = request('GET', '/')
    const clients = Array.from({ length: 3 }, () => rawClient(a.url))
    const [idle, started, opened] = clients as [RawClient, RawClient, RawClient]
    idle.socket.write(rawRequest)
    started.socket.write(rawRequest.slice(0, 20))
    await until('an answer', () => answersOf(idle) === 1)
    a.kill('SIGSTOP')
    idle.socket.write(rawRequest)
    started.socket.write(rawRequest.slice(20))
    opened.socket.write(rawRequest)
    // Longer than KEEP_ALIVE_SECONDS.
    await sleep(4_500)
    const late = rawClient(a.url)
    late.socket.write(rawRequest)
    a.kill('SIGCONT')
    await Promise.race([idle.closed, until('all answers', () => answersOf(idle) === 2)])
    await until('the others', () => [started, opened, late].every(client => answersOf(client) === 1))
    expect(answersOf(idle)).toBe(2)
    for (const { socket } of [...clients, late]) socket.destroy()
  })

  test('accept each other’s page cursors', async () => {
    for (let index = 0; index < 5; index++)
      await http(a.url, 'POST', '/policies', { token, body: { name: `${index}` } })
    const { body: first } = await http(a.url, 'GET', '/policies?limit=3', { token })
    const cursor = encodeURIComponent(first.nextCursor)
    const { body: second } = await http(b.url, 'GET', `/policies?limit=3&cursor=${cursor}`, { token })
    const names = [...first.data, ...second.data].map(({ name }: { name: string }) => name)
    expect(names).toEqual(['4', '3', '2', '1', '0'])
  })

  test('count a client’s requests together', async () => {
    const headers = { 'x-forwarded-for': '203.0.113.7' }
    const times = Array.from({ length: 230 }, (_, index) => http(either(index), 'GET', '/', { headers }))
    const refused = (await Promise.all(times)).filter(({ status }) => status === 429)
    expect(refused).toHaveLength(30)
    for (const { headers } of refused) expect(Number(headers.get('retry-after'))).toBeGreaterThan(0)
    expect((await http(b.url, 'GET', '/health', {})).status).toBe(200)
  })
})
