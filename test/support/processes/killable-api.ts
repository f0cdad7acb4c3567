import pg from 'pg'
import { clientAt } from '../client.ts'
import { cloneDatabase } from '../database.ts'
import type { TestClient } from '../factories.ts'
import { until } from '../until.ts'
import { lastingPort } from './lasting-port.ts'
import { type Api, createOwner, startApi } from './processes.ts'

/** An API process on its own database, which a test kills in the middle of a request and restarts. */
export interface KillableApi {
  readonly databaseUrl: string
  url(): string
  client(token: string): TestClient
  owner(): Promise<string>
  sql<R extends pg.QueryResultRow>(text: string, values?: unknown[]): Promise<R[]>
  /** Kills the process with SIGKILL, and starts another one after `between`. */
  kill(between: () => Promise<unknown>): Promise<void>
  /** Starts a request, kills the process with SIGKILL once `isThere` is true, and starts another one. */
  killDuring(request: () => Promise<unknown>, isThere: () => boolean | Promise<boolean>): Promise<void>
  /** Locks the rows of this statement until released, so that a request waits there. */
  hold(text: string, values: unknown[]): Promise<() => Promise<void>>
  /** Whether a request waits for the lock. */
  isWaiting(): Promise<boolean>
  /** Ends the waiting statements: PostgreSQL would still execute and commit what a killed process sent. */
  endWaiting(): Promise<void>
  stop(): Promise<void>
}

/** Until a terminated session has ended. */
const ENDED_MS = 60_000

export async function killableApi(env: Record<string, string> = {}): Promise<KillableApi> {
  const databaseUrl = await cloneDatabase()
  const database = new pg.Pool({ connectionString: databaseUrl, max: 2 })
  // Payers use the same address after a restart.
  const PORT = String(await lastingPort())
  let api: Api = await startApi(databaseUrl, { ...env, PORT })

  const kill: KillableApi['kill'] = async between => {
    api.kill('SIGKILL')
    await api.exit
    await between()
    api = await startApi(databaseUrl, { ...env, PORT })
  }

  const killDuring: KillableApi['killDuring'] = async (request, isThere) => {
    const asked = request().then(
      () => 'answered',
      () => 'lost',
    )
    await until('the step at which the process is killed', isThere)
    await kill(async () => {
      if ((await asked) === 'answered')
        throw new Error('the request was answered before the process was killed')
    })
  }

  return {
    databaseUrl,
    url: () => api.url,
    client: token => clientAt({ url: api.url, token }),
    owner: () => createOwner(api.url),
    sql: async (text, values = []) => (await database.query(text, values)).rows,
    kill,
    killDuring,
    async hold(text, values) {
      const holder = new pg.Client({ connectionString: databaseUrl })
      await holder.connect()
      await holder.query('begin')
      await holder.query(text, values)
      return () => holder.end()
    },
    async isWaiting() {
      const { rows } = await database.query(
        `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
      )
      return rows.length > 0
    },
    async endWaiting() {
      await database.query(
        `select pg_terminate_backend(pid, ${ENDED_MS}) from pg_stat_activity
         where datname = current_database() and wait_event_type = 'Lock'`,
      )
    },
    async stop() {
      api.kill('SIGTERM')
      await api.exit
      await database.end()
    },
  }
}
