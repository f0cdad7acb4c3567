import { execFile } from 'node:child_process'
import { chownSync, cpSync, readdirSync, realpathSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { startPostgres } from '../../../src/dev/postgres/embedded-postgres.ts'
import { postgresPaths } from '../../../src/dev/postgres/paths.ts'
import { freePort } from '../../../src/dev/processes/free-port.ts'
import { guardedChild } from '../../../src/dev/processes/guarded-child.ts'
import { withConnection } from '../rows.ts'
import type { OwnPostgres } from './own-servers.ts'

export type Primary = Pick<OwnPostgres, 'url' | 'dataDir'>

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

export interface StandbyServer {
  readonly url: string
  /** Makes it a primary, and returns when it is one. */
  promote(): Promise<void>
  stop(): Promise<void>
}

/** Starts a streaming replica of a running cluster, as `pg_basebackup --write-recovery-conf` makes it. */
export async function startStandbyServer(
  primary: Primary,
  dataDir: string,
  settings: readonly string[] = [],
): Promise<StandbyServer> {
  // Creates the folder and its user; the copy replaces its content.
  await (await startPostgres({ dataDir, port: 0 })).stop()
  const data = await copyAsStandby(primary, dataDir)
  const { bin, user, home } = postgresPaths(realpathSync(dataDir))
  const port = await freePort(0)
  const all = [
    `port=${port}`,
    'listen_addresses=127.0.0.1',
    'unix_socket_directories=',
    'max_connections=250',
    ...settings,
  ]
  const command = [join(bin, 'postgres'), '-D', data, ...all.flatMap(setting => ['-c', setting])]
  const server = guardedChild(command, { user, cwd: home, log: join(home, 'standby.log'), signal: 'INT' })
  const url = new URL(primary.url)
  url.port = String(port)
  return {
    url: url.href,
    async promote() {
      await promisify(execFile)(join(bin, 'pg_ctl'), ['promote', '-D', data], { ...user, cwd: home, env: {} })
    },
    async stop() {
      server.end()
      await server.ended
    },
  }
}

/** Returns its data. */
async function copyAsStandby(primary: Primary, dataDir: string): Promise<string> {
  return withConnection(primary.url, async client => {
    await client.query(`select pg_backup_start('standby', true)`)
    const data = copyCluster(primary.dataDir, dataDir)
    const { rows } = await client.query('select labelfile from pg_backup_stop(false)')
    const { uid, gid } = statSync(data)
    const files = {
      backup_label: String(rows[0]?.labelfile),
      'standby.signal': '',
      'postgresql.auto.conf': `primary_conninfo = '${primary.url}'\n`,
    }
    for (const [name, text] of Object.entries(files)) {
      writeFileSync(join(data, name), text)
      chownSync(join(data, name), uid, gid)
    }
    return data
  })
}
