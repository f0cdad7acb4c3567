import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import type { Database } from '../kernel/database/prepared-sql.ts'
import { isConnectionLost, sqlStateOf } from '../kernel/database/retry.ts'
import { sqlFunctions } from '../migrations/functions.ts'
import { readMigrations } from '../migrations/index.ts'

/** Limits for connecting, for a statement, for a silent server and for a silent client, in milliseconds. */
const TIMEOUTS = {
  connectionTimeoutMillis: 5_000,
  statement_timeout: 5_000,
  query_timeout: 6_000,
  idle_in_transaction_session_timeout: 30_000,
  keepAlive: true,
  // A new connection parses and plans each statement anew, so it outlives a lull between requests.
  idleTimeoutMillis: 60_000,
}

/**
 * `role` cannot change rows of the journal and the ledger. `plan_cache_mode`: prepared statements look rows
 * up by key, and planning each call anew took a fifth of the database's time. Such a plan is kept while its
 * table grows, so three settings keep it on its index at any size that the table had when it was planned.
 * `enable_seqscan`: a table of one page would be read whole and sorted. `enable_bitmapscan`: an owner and its
 * agent look independent, so a list of a large owner would join two indexes and sort all that it has.
 * `random_page_cost`: the data is in memory or on an SSD; the default is for spinning disks and makes batches
 * scan whole tables.
 */
export const POSTGRES_SESSION_OPTIONS = {
  options: Object.entries({
    role: 'agentpay_application',
    plan_cache_mode: 'force_generic_plan',
    enable_seqscan: 'off',
    enable_bitmapscan: 'off',
    random_page_cost: 1,
  })
    .map(([name, value]) => `-c ${name}=${value}`)
    .join(' '),
}

export interface OpenDatabase extends Database {
  close(): Promise<void>
}

export function openDatabase(url: string, poolSize: number): OpenDatabase {
  const pool = new pg.Pool({
    connectionString: url,
    max: poolSize,
    pipeline: true,
    ...TIMEOUTS,
    ...POSTGRES_SESSION_OPTIONS,
  })
  // The broken statement fails by itself, and the pool replaces an idle connection. Without these listeners
  // the process would end.
  pool.on('connect', client => client.on('error', () => undefined))
  pool.on('error', () => undefined)
  return { pool, close: () => pool.end() }
}

const ONE_CONNECTION = { connectionTimeoutMillis: 5_000 }

export async function requireMigrated(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url, ...ONE_CONNECTION })
  await client.connect()
  try {
    if (!(await isUpToDate(client))) throw new Error('The database is not up to date. Run migrate first.')
    if (!(await isContinued(client)))
      throw new Error(
        'The database was restored from a dump, and its journal is ahead of this PostgreSQL. Run migrate first; otherwise clients that follow events would miss new ones.',
      )
  } finally {
    await client.end()
  }
}

async function isContinued(client: pg.Client): Promise<boolean> {
  const { rows } = await client.query('select journal_is_ahead_by() = 0 as is')
  return rows[0].is
}

async function isUpToDate(client: pg.Client): Promise<boolean> {
  const tables = await client.query(`select to_regclass('migration_checksums') as name`)
  if (!tables.rows[0].name) return false
  const ran = await client.query('select name from migration_checksums')
  const names = new Set(ran.rows.map(({ name }) => name))
  if (!readMigrations().every(({ name }) => names.has(name))) return false
  const applied = await client.query('select name, checksum from applied_functions')
  const texts = new Set(applied.rows.map(({ name, checksum }) => `${name} ${checksum}`))
  return sqlFunctions().every(({ name, checksum }) => texts.has(`${name} ${checksum}`))
}

const AGAIN_AFTER = 500
const REPORT_EVERY = 60

export interface DatabaseWaitOptions {
  readonly tell: (line: string) => void
  readonly signal: AbortSignal
}

/**
 * Runs the first database work of a process and waits for an unreachable database. Refused credentials and a
 * wrong version fail at once.
 */
export async function waitForDatabase<T>(
  url: string,
  { tell, signal }: DatabaseWaitOptions,
  work: () => Promise<T>,
): Promise<T> {
  for (let tries = 0; ; tries++) {
    try {
      return await work()
    } catch (error) {
      if (!isConnectionLost(error)) throw refusedBy(url, error)
      if (tries % REPORT_EVERY === 0) tell(waitingFor(url, error))
      await pause(AGAIN_AFTER, undefined, { signal })
    }
  }
}

function waitingFor(url: string, error: unknown): string {
  const why = sqlStateOf(error) || (error as Error).message
  return `PostgreSQL at ${placeOf(url)} cannot be reached (${why}). Waiting. Start it, or correct DATABASE_URL.`
}

/** PostgreSQL's errors about users, passwords and databases (classes 28 and 3D) do not say which setting to change. */
function refusedBy(url: string, error: unknown): unknown {
  if (!/^(28|3D)/.test(sqlStateOf(error))) return error
  const why = (error as Error).message
  return new Error(`PostgreSQL at ${placeOf(url)} (DATABASE_URL) refuses: ${why}.`, { cause: error })
}

/** The host and port only: the URL contains the password. */
function placeOf(url: string): string {
  const { hostname, port } = new URL(url)
  return `${hostname}:${port || 5432}`
}
