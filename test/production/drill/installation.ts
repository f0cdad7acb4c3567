import { mkdirSync, realpathSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { Client, Connection } from '@temporalio/client'
import pg from 'pg'
import type { areas } from '../../../src/areas.ts'
import {
  type EmbeddedPostgres,
  removePostgres,
  startPostgres,
} from '../../../src/dev/postgres/embedded-postgres.ts'
import { signalPostmaster } from '../../../src/dev/postgres/server.ts'
import { processesIn } from '../../../src/dev/processes/process-table.ts'
import { type EmbeddedTemporal, startTemporal } from '../../../src/dev/temporal/server.ts'
import { clientAt, type TestClient } from '../../support/client.ts'
import { bodyOf } from '../../support/factories.ts'
import type { Owner, TestService } from '../../support/harness.ts'
import { ACCOUNT } from '../../support/money/camt.ts'
import { lastingPort } from '../../support/processes/lasting-port.ts'
import { secretSettings, UNLIMITED } from '../../support/services/settings.ts'
import { until } from '../../support/until.ts'
import { type Program, type ProgramStart, runProgram, startProgram } from './program.ts'

export type Sql = TestService['sql']
export type Account = Owner<typeof areas>

export const SERVICES = ['api-1', 'api-2', 'worker-1', 'worker-2', 'relay-1'] as const
export type ServiceName = (typeof SERVICES)[number] | 'worker-3'

interface Job extends Partial<Omit<ProgramStart, 'name'>> {
  readonly args?: readonly string[]
}

/** PostgreSQL, Temporal, a folder of files, and the programs of the service, each on its own. */
export interface Installation {
  /** Database, Temporal and files: what the disaster destroys. */
  readonly dataDir: string
  /** Where the base backup, the archive of the WAL and all other copies are. */
  readonly backupDir: string
  /** Shared with the bank. */
  readonly bankDir: string
  readonly databaseUrl: string
  readonly urls: readonly [string, string]
  readonly temporal: Client
  readonly dash: TestClient
  readonly sql: Sql
  client(token?: string): TestClient
  startPostgres(): Promise<void>
  stopPostgres(): Promise<void>
  startTemporal(): Promise<void>
  /** Runs a job, such as `migrate`, with the settings of the installation. */
  run(name: ProgramStart['name'], job?: Job): Promise<string>
  start(names: readonly ServiceName[], checkout?: string): Promise<void>
  /** Stops a program in order. */
  stop(name: ServiceName): Promise<void>
  /** Kills everything at once, the postmaster first, and deletes the data. */
  destroy(): Promise<void>
  close(): Promise<void>
}

export async function openInstallation(
  folder: string,
  temporalBinary: string,
  more: Readonly<Record<string, string>> = {},
): Promise<Installation> {
  const made = (name: string): string => {
    mkdirSync(join(folder, name), { recursive: true })
    return join(folder, name)
  }
  const [dataDir, backupDir, bankDir, logs] = [made('data'), made('backup'), made('bank'), made('logs')]
  const ports = { postgres: await lastingPort(), grpc: await lastingPort(), ui: await lastingPort() }
  const apiPorts = { 'api-1': String(await lastingPort()), 'api-2': String(await lastingPort()) }
  const running = new Map<ServiceName, Program>()
  let starts = 0
  let postgres: EmbeddedPostgres | undefined
  let temporal: EmbeddedTemporal | undefined
  let connection: Connection | undefined
  let pool: pg.Pool | undefined

  const settings = (): Record<string, string> => ({
    ...UNLIMITED,
    DASHBOARD_SECRET: secretSettings.dashboardSecret,
    CURSOR_SIGNING_KEY: secretSettings.cursorSigningKey,
    ENCRYPTION_KEY: secretSettings.encryptionKey,
    DATABASE_URL: postgres?.url ?? '',
    DATABASE_POOL: '10',
    TEMPORAL_ADDRESS: temporal?.address ?? '',
    HOST: '127.0.0.1',
    FILES_DIR: join(dataDir, 'files'),
    SEPA_RAIL: 'files',
    SEPA_FOLDER: bankDir,
    COLLECTION_IBAN: ACCOUNT,
    DATABASE_COUNTRY: 'DE',
    TEMPORAL_COUNTRY: 'DE',
    FILES_COUNTRY: 'DE',
    OUTBOUND_ALLOW_CIDRS: '127.0.0.0/8',
    LOG_LEVEL: 'warn',
    ...more,
  })

  async function startService(service: ServiceName, checkout: string): Promise<void> {
    const name = service.replace(/-\d$/, '') as 'api' | 'worker' | 'relay'
    const isApi = service === 'api-1' || service === 'api-2'
    const env = { ...settings(), ...(isApi ? { PORT: apiPorts[service] } : {}) }
    const program = startProgram({ name, checkout, env }, join(logs, `${service}.${++starts}.log`))
    running.set(service, program)
    await program.untilSays(isApi ? /Listening on/ : /is running/)
  }

  async function stopServers(): Promise<void> {
    await Promise.all([connection?.close(), pool?.end(), temporal?.stop(), postgres?.stop()])
    connection = pool = temporal = postgres = undefined
  }

  async function kill(): Promise<void> {
    const programs = [...running.values()]
    for (const program of programs) program.kill('SIGKILL')
    await Promise.all([stopServers(), ...programs.map(({ exit }) => exit)])
    running.clear()
  }

  return {
    dataDir,
    backupDir,
    bankDir,
    get databaseUrl() {
      return postgres?.url ?? ''
    },
    urls: [`http://127.0.0.1:${apiPorts['api-1']}`, `http://127.0.0.1:${apiPorts['api-2']}`],
    get temporal() {
      if (!connection) throw new Error('Temporal does not run.')
      return new Client({ connection })
    },
    dash: clientAt({
      url: `http://127.0.0.1:${apiPorts['api-1']}`,
      dashboardSecret: secretSettings.dashboardSecret,
    }),
    client: token => clientAt({ url: `http://127.0.0.1:${apiPorts['api-1']}`, ...(token ? { token } : {}) }),
    async sql(text, values = []) {
      if (!pool) throw new Error('PostgreSQL does not run.')
      return (await pool.query(text, [...values])).rows
    },
    async startPostgres() {
      postgres = await startPostgres({ dataDir, port: ports.postgres })
      pool = new pg.Pool({ connectionString: postgres.url, max: 2 })
      pool.on('error', () => undefined)
    },
    async stopPostgres() {
      await Promise.all([pool?.end(), postgres?.stop()])
    },
    async startTemporal() {
      temporal = await startTemporal({ binary: temporalBinary, dataDir, ports })
      connection = await Connection.connect({ address: temporal.address })
    },
    run: (name, { args = [], env = {}, checkout = process.cwd() } = {}) =>
      runProgram({ name, checkout, env: { ...settings(), ...env } }, args),
    async start(names, checkout = process.cwd()) {
      await Promise.all(names.map(name => startService(name, checkout)))
    },
    async stop(name) {
      running.get(name)?.kill('SIGTERM')
      await running.get(name)?.exit
      running.delete(name)
    },
    async destroy() {
      const cluster = realpathSync(join(dataDir, 'postgres', 'data'))
      signalPostmaster(cluster, 'SIGKILL')
      await kill()
      await until('the last server process is gone', () => processesIn(cluster).length === 0)
      await removePostgres(dataDir)
      rmSync(dataDir, { recursive: true })
      mkdirSync(dataDir)
    },
    async close() {
      await kill()
      await removePostgres(dataDir)
    },
  }
}

/** A new account of a company, and a client with its sandbox key. */
export async function openAccount(
  { dash, client }: Pick<Installation, 'dash' | 'client'>,
  name: string,
): Promise<Account> {
  const email = `${name.toLowerCase().replaceAll(' ', '.')}@example.com`
  const body = { name, email, type: 'business', country: 'DE', plan: 'business' } as const
  const { id: ownerId, key } = await bodyOf(dash.keys.openAccount({ body }))
  return { ownerId, key: String(key), client: client(String(key)) }
}
