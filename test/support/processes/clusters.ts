import { chownSync, cpSync, readdirSync, realpathSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { startPostgres } from '../../../src/dev/postgres/embedded-postgres.ts'
import { postgresPaths } from '../../../src/dev/postgres/paths.ts'
import { freePort } from '../../../src/dev/processes/free-port.ts'
import { guardedChild } from '../../../src/dev/processes/guarded-child.ts'
import { until } from '../until.ts'
import { beforeRemoval, temporaryFolder } from './folders.ts'
import type { OwnPostgres } from './own-servers.ts'

export const clusterOf = (dataDir: string): string => realpathSync(join(dataDir, 'postgres'))

/** Copies a running cluster over another one, except for its process id, for the same user; returns its data. */
export function copyCluster(fromDir: string, toDir: string): string {
  const [from, to] = [clusterOf(fromDir), clusterOf(toDir)]
  const { uid, gid } = statSync(from)
  cpSync(from, to, { recursive: true, filter: path => !path.endsWith('postmaster.pid') })
  for (const entry of ['', ...readdirSync(to, { recursive: true, encoding: 'utf8' })])
    chownSync(join(to, entry), uid, gid)
  return join(to, 'data')
}

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

/** A streaming replica of a running cluster, as `pg_basebackup --write-recovery-conf` makes it. */
export async function startStandby(primary: OwnPostgres): Promise<Standby> {
  const dataDir = temporaryFolder()
  // Creates the folder and its user; the copy replaces its content.
  await (await startPostgres({ dataDir, port: 0 })).stop()
  const ofPrimary = await connect(primary.url)
  await ofPrimary(`select pg_backup_start('standby', true)`)
  const data = copyCluster(primary.dataDir, dataDir)
  const [backup] = await ofPrimary('select labelfile from pg_backup_stop(false)')
  const { uid, gid } = statSync(data)
  const files = {
    backup_label: String(backup?.labelfile),
    'standby.signal': '',
    'postgresql.auto.conf': `primary_conninfo = '${primary.url}'\n`,
  }
  for (const [name, text] of Object.entries(files)) {
    writeFileSync(join(data, name), text)
    chownSync(join(data, name), uid, gid)
  }
  const { bin, user, home } = postgresPaths(realpathSync(dataDir))
  const port = await freePort(0)
  const settings = [
    `port=${port}`,
    'listen_addresses=127.0.0.1',
    'unix_socket_directories=',
    'max_connections=250',
  ]
  const command = [join(bin, 'postgres'), '-D', data, ...settings.flatMap(setting => ['-c', setting])]
  const server = guardedChild(command, { user, cwd: home, log: join(home, 'standby.log'), signal: 'INT' })
  const stop = async () => {
    server.end()
    await server.ended
  }
  beforeRemoval(stop)
  const url = new URL(primary.url)
  url.port = String(port)
  return {
    url: url.href,
    sql: await until('the standby takes connections', () => connect(url.href).catch(() => undefined)),
    stop,
  }
}
