import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type pg from 'pg'
import { removePostgres, startPostgres } from '../../src/dev/postgres/embedded-postgres.ts'
import { removePostgresPaths } from '../../src/dev/postgres/paths.ts'
import { migrateDatabase } from '../../src/platform/schema.ts'
import { withConnection } from '../support/rows.ts'
import { node, type Served, serve } from './child.ts'
import { type DatabaseClock, databaseClock } from './database/database-time.ts'

export interface StageToFill extends Pick<Stage, 'databaseUrl' | 'ownerId' | 'token'> {
  readonly api: Pick<Served, 'url'>
}

export const SECRET = 'dashboard-secret-of-the-bench'
export const ENCRYPTION_KEY = '00'.repeat(32)

/** A database, a service and an owner for one part of the bench. */
export interface Stage {
  readonly databaseUrl: string
  readonly ownerId: string
  readonly token: string
  readonly api: Served
  readonly databaseSeconds: DatabaseClock
  readonly folder: string
  /** The environment of the processes beside the API. */
  readonly env: Readonly<Record<string, string>>
  /** Registers something to stop; the last one is stopped first. */
  closeLater(stop: () => Promise<void>): void
}

/** Runs the work on a durable PostgreSQL, and stops everything afterwards. */
export async function onStage<T>(home: string, name: string, work: (stage: Stage) => Promise<T>): Promise<T> {
  const folder = join(home, name)
  mkdirSync(folder)
  // For an interrupted bench: as root, PostgreSQL's data is in another folder, too.
  process.once('exit', () => removePostgresPaths(folder))
  const closers: (() => Promise<void>)[] = [() => removePostgres(folder)]
  try {
    return await work(await open(folder, stop => closers.unshift(stop)))
  } finally {
    for (const close of closers) await close()
  }
}

async function open(folder: string, closeLater: Stage['closeLater']): Promise<Stage> {
  const postgres = await startPostgres({ dataDir: folder, port: 0 })
  closeLater(() => postgres.stop())
  await migrateDatabase(postgres.url)
  const env = {
    DATABASE_URL: postgres.url,
    DASHBOARD_SECRET: SECRET,
    CURSOR_SIGNING_KEY: 'a-secret-key-of-the-bench-0123456789',
    ENCRYPTION_KEY,
    RATE_LIMIT_PER_MINUTE: '1000000',
    FILES_DIR: join(folder, 'files'),
    OUTBOUND_ALLOW_CIDRS: '127.0.0.1',
  }
  const api = await serve(node('test/bench/server.ts'), join(folder, 'api.log'), env)
  closeLater(api.stop)
  const { ownerId, token } = await newOwner(api)
  const databaseSeconds = await databaseClock(postgres.url)
  return { databaseUrl: postgres.url, ownerId, token, api, databaseSeconds, folder, env, closeLater }
}

const dash = { 'x-dashboard-secret': SECRET }
const owner = {
  name: 'Bench',
  type: 'business',
  country: 'DE',
  plan: 'enterprise',
}

export async function newOwner(api: Served, number = 0): Promise<{ ownerId: string; token: string }> {
  const email = `bench${number}@example.com`
  const { id: ownerId = '', key: token = '' } = await post(api, '/customers', { ...owner, email }, dash)
  return { ownerId, token }
}

export async function post(
  { url }: Pick<Served, 'url'>,
  path: string,
  body: unknown,
  credentials: Record<string, string>,
): Promise<Record<string, string>> {
  const init = { method: 'POST', headers: { ...credentials, 'content-type': 'application/json' } }
  const response = await fetch(url + path, { ...init, body: JSON.stringify(body) })
  if (!response.ok) throw new Error(`${path}: ${await response.text()}`)
  return (await response.json()) as Record<string, string>
}

export const bearer = ({ token }: Pick<Stage, 'token'>) => ({ authorization: `Bearer ${token}` })

export const withClient = <T>(
  { databaseUrl }: Pick<Stage, 'databaseUrl'>,
  work: (client: pg.Client) => Promise<T>,
): Promise<T> => withConnection(databaseUrl, work)
