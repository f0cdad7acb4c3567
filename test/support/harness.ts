import { afterAll } from '@jest/globals'
import pg from 'pg'
import { startDeadlines, startDeliveries, startPushes } from '../../src/app/background.ts'
import type { ConnectionLimits } from '../../src/app/connections.ts'
import type { StreamTimes } from '../../src/app/event-streams.ts'
import type { Part } from '../../src/app/runtime.ts'
import { openService, type Service } from '../../src/app/service.ts'
import type { TemporalAccess } from '../../src/app/temporal-access.ts'
import { areas as realAreas } from '../../src/areas.ts'
import { type Client, client } from '../../src/derive/client.ts'
import type { Areas } from '../../src/kernel/contract/area.ts'
import type { ExternalSystems } from '../../src/kernel/contract/ports.ts'
import { readSettings } from '../../src/platform/settings/settings.ts'
import type { Outbound } from '../../src/ports/outbound.ts'
import { cloneDatabase } from './database.ts'
import { temporaryFolder } from './processes/folders.ts'

export const DASHBOARD_SECRET = 'dashboard-secret-of-the-tests'

/** All requests of a test come from one address, many at once. */
export const UNLIMITED = { RATE_LIMIT_PER_MINUTE: '1000000', CONNECTIONS_PER_ADDRESS: '10000' }
export const ENCRYPTION_KEY = '7e'.repeat(32)

/** The settings that a service cannot do without, besides its database. */
export const secretSettings = {
  dashboardSecret: DASHBOARD_SECRET,
  secretKey: 'a-secret-key-of-the-tests-0123456789',
  encryptionKey: ENCRYPTION_KEY,
}

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
  /** Where uploaded files are kept, by all services of this database. */
  readonly filesDir: string
  readonly dashboardSecret: string
  /** Creates an owner with a sandbox key. */
  owner(): Promise<Owner<A>>
  client(token?: string): Client<A>
  dash: Client<A>
  http(method: string, path: string, options?: RequestOptions): Promise<HttpResponse>
  sql<R extends pg.QueryResultRow>(text: string, values?: unknown[]): Promise<R[]>
  /** Starts another service on the same database, as another API process would; returns its URL. */
  another(): Promise<string>
}

interface Options<A extends Areas> {
  readonly areas?: A
  readonly env?: Readonly<Record<string, string>>
  /** Adds relay, worker and deadlines on a task queue of its own; on the test run's Temporal server, or on this one. */
  readonly temporal?: true | TemporalAccess
  /** How many parts deliver webhooks. */
  readonly deliverers?: number
  /** External systems in place of the sandbox's. */
  readonly outside?: Partial<ExternalSystems>
  /** The way out in place of the guarded one; a test's own receivers need only `OUTBOUND_ALLOW_CIDRS` in `env`. */
  readonly outbound?: Outbound
  /** Makes each of the services send web push. */
  readonly pushes?: true
  /** Times of streams of events in place of the usual ones. */
  readonly streamTimes?: Partial<StreamTimes>
  /** Time limits for slow clients in place of the usual ones. */
  readonly patience?: Partial<ConnectionLimits>
  /** SQL that creates tables of the tests. */
  readonly tables?: string
  /** Returns the address that the services use in place of the database's, such as that of a proxy. */
  readonly through?: (databaseUrl: string) => Promise<string>
}

/** The real API on a database of its own; everything is closed after the file's tests. */
export async function startTestService<A extends Areas = typeof realAreas>(
  options: Options<A> = {},
): Promise<TestService<A>> {
  const areas = (options.areas ?? realAreas) as A
  const databaseUrl = await cloneDatabase()
  const database = new pg.Pool({ connectionString: databaseUrl, max: 2 })
  database.on('error', () => undefined)
  if (options.tables) await database.query(options.tables)
  const filesDir = temporaryFolder()
  const env = {
    ...UNLIMITED,
    LOG_LEVEL: 'silent',
    DATABASE_POOL: '10',
    FILES_DIR: filesDir,
    ...options.env,
  }
  // Longer than can be set: on a busy machine an answer takes longer than a card network waits.
  const cardAnswerMs = options.env?.CARD_ANSWER_MS === undefined ? { cardAnswerMs: 20_000 } : {}
  const settings = { ...readSettings(env), ...cardAnswerMs }
  const services: Service[] = []
  const parts: Part[] = []
  // Loaded on demand, as most files do not need Temporal's SDK, which takes half a second.
  const startTemporalParts = async ({ runtime }: Service, server: true | TemporalAccess): Promise<void> => {
    const { startRelay } = await import('../../src/app/relay-service.ts')
    const { startWork } = await import('../../src/app/worker-service.ts')
    const access = server === true ? (await import('./temporal/temporal.ts')).temporalOfRun() : server
    parts.push(startDeadlines(runtime), startRelay(runtime, access), startWork(runtime, access))
  }
  const address = (await options.through?.(databaseUrl)) ?? databaseUrl
  const open = async (): Promise<string> => {
    const service = await openService({
      settings: { ...settings, ...secretSettings, databaseUrl: address },
      shared: true,
      areas,
      outside: options.outside ?? {},
      patience: options.patience ?? {},
      streamTimes: options.streamTimes ?? {},
      ...(options.outbound ? { outbound: options.outbound } : {}),
    })
    services.push(service)
    if (options.pushes) parts.push(startPushes(service.runtime))
    if (options.temporal && services.length === 1) await startTemporalParts(service, options.temporal)
    if (services.length === 1)
      for (let n = 0; n < (options.deliverers ?? 0); n++) parts.push(startDeliveries(service.runtime))
    return `http://127.0.0.1:${await service.listen(0, '127.0.0.1')}`
  }
  afterAll(async () => {
    await Promise.all(parts.map(part => part.stop()))
    await Promise.all(services.map(service => service.stop()))
    await database.end()
  })
  const url = await open()
  const clientOf = (token?: string) => client(areas, token === undefined ? { url } : { url, token })
  const dash = client(areas, { url, dashboardSecret: DASHBOARD_SECRET })
  return {
    url,
    databaseUrl,
    filesDir,
    dashboardSecret: DASHBOARD_SECRET,
    client: clientOf,
    dash,
    another: open,
    http: (method, path, options = {}) => http(url, method, path, options),
    sql: async (text, values = []) => (await database.query(text, values)).rows,
    async owner() {
      const { ownerId, key } = await createOwner(url)
      return { ownerId, key, client: clientOf(key) }
    },
  }
}

let owners = 0

async function createOwner(url: string): Promise<{ ownerId: string; key: string }> {
  owners++
  const { body } = await http(url, 'POST', '/customers', {
    headers: { 'x-dashboard-secret': DASHBOARD_SECRET },
    body: {
      name: `Owner ${owners}`,
      email: `owner${owners}@example.com`,
      type: 'business',
      country: 'DE',
      plan: 'business',
    },
  })
  return { ownerId: body.id, key: body.key }
}

/** All of it; of a stream that has no end, its beginning. */
async function contentOf(response: Response): Promise<string> {
  if (!response.headers.get('content-type')?.startsWith('text/event-stream')) return response.text()
  for await (const piece of response.body ?? []) return Buffer.from(piece).toString()
  return ''
}

/** Sends a request as a program without our client would; a string body is sent unchanged. */
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
