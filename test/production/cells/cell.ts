import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { startPostgres } from '../../../src/dev/postgres/embedded-postgres.ts'
import { migrateDatabase } from '../../../src/platform/schema.ts'
import { node, type Running, type Served, start } from '../../bench/child.ts'
import type { Primary } from '../../support/processes/standby.ts'
import { until } from '../../support/until.ts'

export const DASHBOARD_SECRET = 'dashboard-secret-of-the-cells'

export interface Place {
  /** The folder of logs and files. */
  readonly folder: string
  /** An empty folder for a database. */
  readonly newFolder: (name: string) => string
  readonly temporalAddress: string
  readonly closeLater: (close: () => Promise<void>) => void
}

export interface CellDatabase extends Primary {
  stop(): Promise<void>
}

/** What runs a cell. */
export interface Cell {
  readonly name: string
  readonly database: CellDatabase
  readonly programs: Programs
}

export interface Programs {
  /** The current one: it may be killed and started again. */
  api: Served
  readonly relay: Running
  readonly worker: Running
}

/** Starts PostgreSQL, API, relay and worker of a cell, on the shared Temporal. */
export async function startCell(name: string, port: number, place: Place): Promise<Cell> {
  const dataDir = place.newFolder(name)
  const postgres = await startPostgres({ dataDir, port: 0 })
  place.closeLater(() => postgres.stop())
  await migrateDatabase(postgres.url)
  const database = { url: postgres.url, dataDir, stop: () => postgres.stop() }
  return { name, database, programs: await startPrograms(name, { url: postgres.url, port, place }) }
}

interface Start {
  readonly url: string
  readonly port: number
  readonly place: Place
}

async function startPrograms(cell: string, at: Start): Promise<Programs> {
  const [api, background] = await Promise.all([startCellApi(cell, at), startBackground(cell, at)])
  return { api, ...background }
}

/** Starts the API of a cell again where it was. */
export async function restartApi({ name, database, programs }: Cell, place: Place): Promise<void> {
  const port = Number(new URL(programs.api.url).port)
  programs.api = await startCellApi(name, { url: database.url, port, place })
}

export async function startBackground(cell: string, at: Start): Promise<Omit<Programs, 'api'>> {
  const [relay, worker] = await Promise.all([
    startProgram('relay', /is running/, cell, at),
    startProgram('worker', /is running/, cell, at),
  ])
  return { relay, worker }
}

export async function startCellApi(cell: string, at: Start): Promise<Served> {
  const api = await startProgram('api', /Listening/, cell, at)
  return { ...api, url: `http://127.0.0.1:${at.port}` }
}

async function startProgram(program: string, ready: RegExp, cell: string, at: Start): Promise<Running> {
  const log = logOf(program, cell, at)
  const env = environmentOf(cell, at)
  const running = await start({ command: node(`src/bin/${program}.ts`), log, env }, ready)
  at.place.closeLater(running.stop)
  return running
}

const logOf = (program: string, cell: string, { port, place }: Start): string =>
  join(place.folder, `${cell}-${program}-${port}.log`)

/** Waits until the programs, which have been started, wait for their database. */
export const untilWaiting = (cell: string, at: Start): Promise<unknown> =>
  Promise.all(
    ['api', 'relay', 'worker'].map(program =>
      until(`${program} waits`, () => readFileSync(logOf(program, cell, at), 'utf8').includes('Waiting.')),
    ),
  )

const environmentOf = (cell: string, { url, port, place }: Start) => ({
  CELL: cell,
  PUBLIC_URL: `https://${cell}.pay.example.com`,
  PORT: String(port),
  DATABASE_URL: url,
  TEMPORAL_ADDRESS: place.temporalAddress,
  TEMPORAL_TASK_QUEUE: `agentpay-${cell}`,
  DASHBOARD_SECRET,
  CURSOR_SIGNING_KEY: `a-secret-key-of-the-cell-0123456789-${cell}`,
  ENCRYPTION_KEY: '4d'.repeat(32),
  FILES_DIR: join(place.folder, `files-${cell}`),
  RATE_LIMIT_PER_MINUTE: '1000000',
  TRUST_PROXY: '127.0.0.1',
  LOG_LEVEL: 'warn',
})
