import { randomBytes } from 'node:crypto'
import pg from 'pg'

const TEMPLATE = 'agentpay'
const OURS = `test_${process.env.JEST_WORKER_ID}_`

/** Once for each test file, as Jest loads this module anew for each. */
let swept = false

/** A migrated, empty database of its own, given back when the same worker takes up its next file. */
export async function cloneDatabase(): Promise<string> {
  const admin = new pg.Client({ connectionString: urlOf('postgres') })
  await admin.connect()
  try {
    if (!swept) await sweep(admin)
    swept = true
    const name = `${OURS}${randomBytes(6).toString('hex')}`
    await admin.query(`CREATE DATABASE ${name} TEMPLATE ${TEMPLATE} STRATEGY FILE_COPY`)
    return urlOf(name)
  } finally {
    await admin.end()
  }
}

function urlOf(database: string): string {
  const url = new URL(process.env.TEST_POSTGRES_URL ?? '')
  url.pathname = `/${database}`
  return url.href
}

/** Not in `afterAll`: it would run before that of the file, which still has connections to close. */
async function sweep(admin: pg.Client): Promise<void> {
  const { rows } = await admin.query('SELECT datname FROM pg_database WHERE starts_with(datname, $1)', [OURS])
  // One with a forgotten connection stays; it goes with the server at the end of the run.
  await Promise.allSettled(rows.map(({ datname }) => admin.query(`DROP DATABASE ${datname}`)))
}
