import { existsSync, mkdirSync, readdirSync, rmSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { migrate } from '../../src/platform/database.ts'
import { type EmbeddedPostgres, removePostgres, startPostgres } from '../../src/platform/embedded-postgres.ts'

const PREFIX = 'agentpay-test-'
const ENOUGH_BYTES = 2 ** 30

const folder = hasRoom('/dev/shm') ? '/dev/shm' : tmpdir()
const dataDir = join(folder, `${PREFIX}${process.pid}`)
let postgres: EmbeddedPostgres | undefined

/** One PostgreSQL for a run, in memory if there is room; its first database is the template of all others. */
export async function setUp(): Promise<void> {
  await sweep()
  mkdirSync(dataDir)
  postgres = await startPostgres({ dataDir, port: 0, durable: false })
  await migrate(postgres.url)
  process.env.TEST_POSTGRES_URL = postgres.url
}

export async function tearDown(): Promise<void> {
  await postgres?.stop()
  await discard(dataDir)
}

function hasRoom(path: string): boolean {
  if (!existsSync(path)) return false
  const { bavail, bsize } = statfsSync(path)
  return bavail * bsize > ENOUGH_BYTES
}

/** A run that was killed could not clean up after itself. */
async function sweep(): Promise<void> {
  const runs = readdirSync(folder).filter(name => name.startsWith(PREFIX))
  const dead = runs.filter(name => !existsSync(`/proc/${name.slice(PREFIX.length)}`))
  await Promise.allSettled(dead.map(name => discard(join(folder, name))))
}

async function discard(directory: string): Promise<void> {
  await removePostgres(directory)
  rmSync(directory, { recursive: true, force: true })
}
