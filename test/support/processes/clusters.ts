import pg from 'pg'
import { until } from '../until.ts'
import { beforeRemoval, temporaryFolder } from './folders.ts'
import type { OwnPostgres } from './own-servers.ts'
import { startStandbyServer } from './standby.ts'

export type RunSql = (text: string) => Promise<Record<string, unknown>[]>

async function connect(connectionString: string): Promise<RunSql> {
  const client = new pg.Client({ connectionString })
  client.on('error', () => undefined)
  await client.connect()
  beforeRemoval(() => client.end())
  return async text => (await client.query(text)).rows
}

export interface Standby {
  readonly url: string
  readonly sql: RunSql
  stop(): Promise<void>
}

/** A streaming replica of a test file's cluster. */
export async function startStandby(primary: OwnPostgres): Promise<Standby> {
  const { url, stop } = await startStandbyServer(primary, temporaryFolder())
  beforeRemoval(stop)
  return {
    url,
    sql: await until('the standby takes connections', () => connect(url).catch(() => undefined)),
    stop,
  }
}
