import { randomBytes } from 'node:crypto'
import type pg from 'pg'
import { withConnection } from './rows.ts'

const TEMPLATE = 'agentpay'
const OURS = `test_${process.env.JEST_WORKER_ID}`

/**
 * Once per test file, since Jest loads this module anew for each. Parts of a file clone concurrently, and all
 * wait for it.
 */
let sweeping: Promise<void> | undefined

/** Creates a migrated, empty database, which is dropped when the same Jest worker begins its next file. */
export async function cloneDatabase(): Promise<string> {
  sweeping ??= asAdmin(sweep)
  await sweeping
  return createDatabase(OURS)
}

export async function createDatabase(prefix: string): Promise<string> {
  const name = `${prefix}_${randomBytes(6).toString('hex')}`
  await asAdmin(admin => admin.query(`CREATE DATABASE ${name} TEMPLATE ${TEMPLATE} STRATEGY FILE_COPY`))
  return urlOf(name)
}

const asAdmin = <T>(work: (admin: pg.Client) => Promise<T>): Promise<T> =>
  withConnection(urlOf('postgres'), work)

function urlOf(database: string): string {
  const url = new URL(process.env.TEST_POSTGRES_URL ?? '')
  url.pathname = `/${database}`
  return url.href
}

/** Drops the databases of earlier files. `afterAll` would run before the file closes its connections. */
async function sweep(admin: pg.Client): Promise<void> {
  const { rows } = await admin.query('SELECT datname FROM pg_database WHERE starts_with(datname, $1)', [
    `${OURS}_`,
  ])
  // A database with a leaked connection stays until the server ends with the run.
  for (const { datname } of rows) await admin.query(`DROP DATABASE ${datname}`).catch(() => undefined)
}
