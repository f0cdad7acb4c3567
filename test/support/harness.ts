import { randomUUID } from 'node:crypto'
import { afterAll } from '@jest/globals'
import pg from 'pg'
import type { TemporalAccess } from '../../src/app/temporal-access.ts'
import type { areas as realAreas } from '../../src/areas.ts'
import { type Client, client } from '../../src/derive/client.ts'
import type { Areas } from '../../src/kernel/contract/area.ts'
import { clientAt } from './client.ts'
import { cloneDatabase } from './database.ts'
import { temporaryFolder } from './processes/folders.ts'
import { createTables } from './rows.ts'
import { callHost } from './services/call-host.ts'
import type { CodeOptions, Place, PlainOptions } from './services/open.ts'
import { DASHBOARD_SECRET } from './services/settings.ts'
import { temporalOfRun } from './temporal/access.ts'

export { DASHBOARD_SECRET, ENCRYPTION_KEY, secretSettings, UNLIMITED } from './services/settings.ts'

export interface Owner<A extends Areas> {
  readonly ownerId: string
  readonly key: string
  readonly client: Client<A>
}

export interface RequestOptions {
  readonly token?: string
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
}

export interface HttpResponse {
  readonly status: number
  readonly headers: Headers
  // biome-ignore lint/suspicious/noExplicitAny: each test checks the body that it received
  readonly body: any
  readonly text: string
}

export interface TestService<A extends Areas = typeof realAreas> {
  readonly url: string
  readonly databaseUrl: string
  /** Where uploaded files are stored, by all services of this database. */
  readonly filesDir: string
  readonly dashboardSecret: string
  owner(): Promise<Owner<A>>
  client(token?: string): Client<A>
  dash: Client<A>
  http(method: string, path: string, options?: RequestOptions): Promise<HttpResponse>
  sql<R extends pg.QueryResultRow>(text: string, values?: unknown[]): Promise<R[]>
  /** Starts another service on the same database, as another API process; returns its URL. */
  another(): Promise<string>
}

interface Options<A extends Areas> extends Omit<PlainOptions, 'temporal'>, CodeOptions<A> {
  /** A service and database of this test file only, for tests that count, sweep or move the time of all owners. */
  readonly own?: true
  /** Adds relay, worker and deadlines with their own task queue, on the test run's Temporal server or on this one. */
  readonly temporal?: true | TemporalAccess
  readonly tables?: string
  /** Returns the address that the services use instead of the database's, such as a proxy's. */
  readonly through?: (databaseUrl: string) => Promise<string>
}

interface Running extends Place {
  readonly url: string
  another(): Promise<string>
}

/**
 * The real API. Without options it is the service shared by all test files of a Jest worker: owners of one
 * test do not see those of another. With options it has its own database and closes after the file's tests.
 */
export async function startTestService<A extends Areas = typeof realAreas>(
  options: Options<A> = {},
): Promise<TestService<A>> {
  const running = Object.keys(options).length === 0 ? await sharedService() : await ownService(options)
  const { url, databaseUrl, filesDir, another } = running
  const database = new pg.Pool({ connectionString: databaseUrl, max: 2 })
  database.on('error', () => undefined)
  afterAll(() => database.end())
  const at = (credentials: { token?: string; dashboardSecret?: string }): Client<A> =>
    options.areas
      ? client(options.areas, { url, ...credentials })
      : (clientAt({ url, ...credentials }) as unknown as Client<A>)
  const clientOf = (token?: string) => at(token === undefined ? {} : { token })
  return {
    url,
    databaseUrl,
    filesDir,
    dashboardSecret: DASHBOARD_SECRET,
    client: clientOf,
    dash: at({ dashboardSecret: DASHBOARD_SECRET }),
    another,
    http: (method, path, options = {}) => http(url, method, path, options),
    sql: async (text, values = []) => (await database.query(text, values)).rows,
    async owner() {
      const { ownerId, key } = await createOwner(url)
      return { ownerId, key, client: clientOf(key) }
    },
  }
}

async function sharedService(): Promise<Running> {
  const { url, databaseUrl, filesDir } = await callHost('shared')
  const others: number[] = []
  afterAll(() => Promise.all(others.map(number => callHost('stop', number))))
  return {
    url,
    databaseUrl,
    filesDir,
    async another() {
      const other = await callHost('open', { databaseUrl, filesDir }, {})
      others.push(other.number)
      return other.url
    },
  }
}

async function ownService<A extends Areas>(options: Options<A>): Promise<Running> {
  const { own, tables, through, temporal, areas, outside, outbound, middleware, ...plain } = options
  const databaseUrl = await cloneDatabase()
  if (tables) await createTables(databaseUrl, tables)
  const filesDir = temporaryFolder()
  const place = { databaseUrl: (await through?.(databaseUrl)) ?? databaseUrl, filesDir }
  const access = temporal === true ? temporalOfRun() : temporal
  const all = { ...plain, ...(access ? { temporal: access } : {}) }
  if (!areas && !outside && !outbound && !middleware) {
    const { url, number } = await callHost('open', place, all)
    afterAll(() => callHost('stop', number))
    return { url, databaseUrl, filesDir, another: () => callHost('another', number) }
  }
  // 1,500 modules, which most files do not need.
  const { openServices } = await import('./services/open.ts')
  const code = {
    ...(areas ? { areas } : {}),
    ...(outside ? { outside } : {}),
    ...(outbound ? { outbound } : {}),
    ...(middleware ? { middleware } : {}),
  }
  const { another, stop } = openServices(place, { ...all, ...code })
  afterAll(stop)
  return { url: await another(), databaseUrl, filesDir, another }
}

export async function createOwner(url: string): Promise<{ ownerId: string; key: string }> {
  const name = `Owner ${randomUUID().slice(0, 8)}`
  const { body } = await http(url, 'POST', '/customers', {
    headers: { 'x-dashboard-secret': DASHBOARD_SECRET },
    body: {
      name,
      email: `${name.replace(' ', '.').toLowerCase()}@example.com`,
      type: 'business',
      country: 'DE',
      plan: 'business',
    },
  })
  return { ownerId: body.id, key: body.key }
}

/** The whole content; of an endless stream, its beginning. */
async function contentOf(response: Response): Promise<string> {
  if (!response.headers.get('content-type')?.startsWith('text/event-stream')) return response.text()
  for await (const piece of response.body ?? []) return Buffer.from(piece).toString()
  return ''
}

/** Sends a request without our client; a string body is sent unchanged. */
export async function http(
  url: string,
  method: string,
  path: string,
  { token, body, headers }: RequestOptions,
): Promise<HttpResponse> {
  const response = await fetch(url + path, {
    method,
    headers: {
      ...(token ? { authorization: `Bearer ${token}` } : {}),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  })
  const text = await contentOf(response)
  const json = response.headers.get('content-type')?.match(/^application\/(problem\+)?json/) && text !== ''
  return {
    status: response.status,
    headers: response.headers,
    text,
    body: json ? JSON.parse(text) : undefined,
  }
}
