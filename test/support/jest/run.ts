import { existsSync, mkdirSync, readdirSync, rmSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { host } from '../../../src/dev/host.mjs'
import {
  type EmbeddedPostgres,
  removePostgres,
  startPostgres,
} from '../../../src/dev/postgres/embedded-postgres.ts'
import { isRunning } from '../../../src/dev/processes/process-table.ts'
import { findTemporal } from '../../../src/dev/temporal/binary.ts'
import { type EmbeddedTemporal, startTemporal } from '../../../src/dev/temporal/server.ts'
import { migrateDatabase } from '../../../src/platform/schema.ts'

const PREFIX = 'agentpay-test-'
const ENOUGH_BYTES = 2 ** 30

const { memoryFolder } = host
const folder = memoryFolder && hasRoom(memoryFolder) ? memoryFolder : tmpdir()
const dataDir = join(folder, `${PREFIX}${process.pid}`)
let postgres: EmbeddedPostgres | undefined
let temporal: EmbeddedTemporal | undefined

/** Starts PostgreSQL and Temporal for a test run, in memory if there is room. */
export async function setUp(): Promise<void> {
  await sweep()
  mkdirSync(dataDir)
  process.env.TEST_FOLDER = dataDir
  await Promise.all([setUpPostgres(), setUpTemporal()])
}

/** The first database of the server is the template of all others. */
async function setUpPostgres(): Promise<void> {
  postgres = await startPostgres({ dataDir, port: 0, durable: false })
  await migrateDatabase(postgres.url)
  process.env.TEST_POSTGRES_URL = postgres.url
}

async function setUpTemporal(): Promise<void> {
  const search = await findTemporal({ env: process.env, tell: printLine })
  if (search.binary === null) return printLine(`Temporal is not available. ${search.reason}`)
  const ports = { grpc: 0, ui: 0 }
  temporal = await startTemporal({ binary: search.binary, dataDir, ports, durable: false })
  temporal.notes.forEach(printLine)
  process.env.TEST_TEMPORAL_ADDRESS = temporal.address
}

const printLine = (line: string): void => void process.stdout.write(`${line}\n`)

export async function tearDown(): Promise<void> {
  await Promise.all([postgres?.stop(), temporal?.stop()])
  await discard(dataDir)
}

function hasRoom(path: string): boolean {
  if (!existsSync(path)) return false
  const { bavail, bsize } = statfsSync(path)
  return bavail * bsize > ENOUGH_BYTES
}

/** Removes the folders of killed runs. */
async function sweep(): Promise<void> {
  const runs = readdirSync(folder).filter(name => name.startsWith(PREFIX))
  const dead = runs.filter(name => !isRunning(Number(name.slice(PREFIX.length))))
  await Promise.allSettled(dead.map(name => discard(join(folder, name))))
}

async function discard(directory: string): Promise<void> {
  await removePostgres(directory)
  rmSync(directory, { recursive: true, force: true })
}
