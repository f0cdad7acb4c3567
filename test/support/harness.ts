import { afterAll } from '@jest/globals'
import pg from 'pg'
import type { ConnectionLimits } from '../../src/app/connections.ts'
import { startDeadlines } from '../../src/app/deadlines.ts'
import { startDeliveries } from '../../src/app/deliveries.ts'
import { startPushes } from '../../src/app/pushes.ts'
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
  // biome-ignore lint/suspicious/noExplicitAny: what came back is what the test looks into
  readonly body: any
  readonly text: string
}

export interface TestService<A extends Areas = typeof realAreas> {
  readonly url: string
  readonly databaseUrl: string
  readonly dashboardSecret: string
  /** A fresh owner with a sandbox key. */
  owner(): Promise<Owner<A>>
  client(token?: string): Client<A>
  dash: Client<A>
  http(method: string, path: string, options?: RequestOptions): Promise<HttpResponse>
  sql<R extends pg.QueryResultRow>(text: string, values?: unknown[]): Promise<R[]>
  /** One more API process' worth of service on the same database, counting requests together. */
  another(): Promise<string>
}

interface Options<A extends Areas> {
  readonly areas?: A
  readonly env?: Readonly<Record<string, string>>
  /** With a relay, a worker and the deadlines, on a task queue of its own; on the server of the run, or on that one. */
  readonly temporal?: true | TemporalAccess
  /** How many bring events to their receivers. */
  readonly deliverers?: number
  /** Systems of others in place of the sandbox's. */
  readonly outside?: Partial<ExternalSystems>
  /** A way out in place of the guarded one; receivers of the test's own need only `OUTBOUND_ALLOW_CIDRS` in `env`. */
  readonly outbound?: Outbound
  /** Browsers are told of events, by each of the services. */
  readonly pushes?: true
  /** How long clients may take, where it is not as usual. */
  readonly patience?: Partial<ConnectionLimits>
  /** SQL for tables that only the tests have. */
  readonly tables?: string
  /** What the services are told in place of the database's address: that of a proxy, for one. */
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
  const env = {
    ...UNLIMITED,
    LOG_LEVEL: 'silent',
    DATABASE_POOL: '10',
    ...options.env,
  }
  const services: Service[] = []
  const parts: Part[] = []
  // Most files have no use for Temporal's SDK, and it takes half a second to load.
  const work = async ({ runtime }: Service, given: true | TemporalAccess): Promise<void> => {
    const { startRelay } = await import('../../src/app/relay-service.ts')
    const { startWork } = await import('../../src/app/worker-service.ts')
    const access = given === true ? (await import('./temporal/temporal.ts')).temporalOfRun() : given
    parts.push(startDeadlines(runtime), startRelay(runtime, access), startWork(runtime, access))
  }
  const address = (await options.through?.(databaseUrl)) ?? databaseUrl
  const open = async (): Promise<string> => {
    const service = await openService({
      settings: { ...readSettings(env), ...secretSettings, databaseUrl: address },
      shared: true,
      areas,
      outside: options.outside ?? {},
      patience: options.patience ?? {},
      ...(options.outbound ? { outbound: options.outbound } : {}),
    })
    services.push(service)
    if (options.pushes) parts.push(startPushes(service.runtime))
    if (options.temporal && services.length === 1) await work(service, options.temporal)
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
    dashboardSecret: DASHBOARD_SECRET,
    client: clientOf,
    dash,
    another: open,
    http: (method, path, options = {}) => http(url, method, path, options),
    sql: async (text, values = []) => (await database.query(text, values)).rows,
    async owner() {
      const { ownerId, key } = await join(url)
      return { ownerId, key, client: clientOf(key) }
    },
  }
}

let joined = 0

async function join(url: string): Promise<{ ownerId: string; key: string }> {
  joined++
  const { body } = await http(url, 'POST', '/customers', {
    headers: { 'x-dashboard-secret': DASHBOARD_SECRET },
    body: {
      name: `Owner ${joined}`,
      email: `owner${joined}@example.com`,
      type: 'business',
      country: 'DE',
      plan: 'business',
    },
  })
  return { ownerId: body.id, key: body.key }
}

/** A request as a program without our client would send it; a string is sent as it is. */
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
  const text = await response.text()
  const json = response.headers.get('content-type')?.startsWith('application/json') && text !== ''
  return {
    status: response.status,
    headers: response.headers,
    text,
    body: json ? JSON.parse(text) : undefined,
  }
}
