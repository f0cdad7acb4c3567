import { join } from 'node:path'
import pg from 'pg'
import { migrate } from '../../src/platform/database.ts'
import { startPostgres } from '../../src/platform/embedded-postgres.ts'
import { POT_TABLES } from '../support/pots.ts'
import { node, type Served, serve } from './child.ts'

export const POTS = 1_000
const SECRET = 'dashboard-secret-of-the-bench'

/** Everything that is measured, started and filled. */
export interface Stage {
  readonly databaseUrl: string
  readonly bare: Served
  readonly api: Served
  readonly ownerId: string
  readonly token: string
  readonly policyId: string
  close(): Promise<void>
}

/** A PostgreSQL that keeps what it has confirmed, as in earnest; a service; a bare Express. */
export async function openStage(folder: string): Promise<Stage> {
  const postgres = await startPostgres({ dataDir: folder, port: 0 })
  await migrate(postgres.url)
  const env = {
    DATABASE_URL: postgres.url,
    DASHBOARD_SECRET: SECRET,
    SECRET_KEY: 'a-secret-key-of-the-bench-0123456789',
    RATE_LIMIT_PER_MINUTE: '1000000',
  }
  const api = await serve(node('test/bench/server.ts'), join(folder, 'api.log'), env)
  const bare = await serve(node('test/bench/bare.ts'), join(folder, 'bare.log'), {})
  const { id: ownerId = '', key: token = '' } = await post(api, '/customers', dash, owner)
  const { id: policyId = '' } = await post(api, '/policies', { authorization: `Bearer ${token}` }, policy)
  await fillPots(postgres.url, ownerId)
  return { databaseUrl: postgres.url, bare, api, ownerId, token, policyId, close }

  async function close(): Promise<void> {
    await Promise.all([api.stop(), bare.stop()])
    await postgres.stop()
  }
}

const dash = { 'x-dashboard-secret': SECRET }
const owner = {
  name: 'Bench',
  email: 'bench@example.com',
  type: 'business',
  country: 'DE',
  plan: 'enterprise',
}

export const policy = {
  name: 'Research budget',
  maxTransactionEuros: 250,
  dailyLimitEuros: 500,
  mccCategories: ['software', 'publishing'],
  allowedCountries: ['DE', 'FR'],
  requireIntent: true,
}

async function post(
  { url }: Served,
  path: string,
  headers: Record<string, string>,
  body: unknown,
): Promise<Record<string, string>> {
  const init = { method: 'POST', headers: { ...headers, 'content-type': 'application/json' } }
  const response = await fetch(url + path, { ...init, body: JSON.stringify(body) })
  if (!response.ok) throw new Error(`${path}: ${await response.text()}`)
  return (await response.json()) as Record<string, string>
}

/** Full enough to never be empty. */
async function fillPots(url: string, ownerId: string): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await client.query(POT_TABLES)
  await client.query(
    `insert into pots select 'pot_' || n, $1, 'test', 1000000000 from generate_series(1, ${POTS}) as n`,
    [ownerId],
  )
  await client.query('vacuum analyze pots')
  await client.end()
}
