import { join } from 'node:path'
import { removePostgres } from '../../../src/dev/postgres/embedded-postgres.ts'
import { signalPostmaster } from '../../../src/dev/postgres/server.ts'
import type { FlakyProxy } from '../flaky-proxy.ts'
import { queryValues } from '../rows.ts'
import { until } from '../until.ts'
import { beforeRemoval, temporaryFolder } from './folders.ts'
import type { OwnPostgres } from './own-servers.ts'
import { clusterOf, type Primary, startStandbyServer } from './standby.ts'

/** What does not wait for the disk stays in memory until a commit that waits takes it along: a crash loses as much as it can. */
const LAZY = { wal_writer_delay: '10s', wal_writer_flush_after: '1GB' }

/** A PostgreSQL at an address that stays. */
export interface CrashingPostgres {
  readonly url: string
  /** Crashes it; it takes connections again once this has ended. */
  crash(): Promise<void>
}

type Crash = (postgres: OwnPostgres, proxy: FlakyProxy) => Promise<CrashingPostgres>

export const crashes: Readonly<Record<string, Crash>> = {
  'the postmaster is killed': killedPostmaster,
  'one backend is killed': killedBackend,
  'a synchronous standby is promoted': promotedStandby,
}

async function configure(url: string, settings: Readonly<Record<string, string>>): Promise<void> {
  for (const [name, value] of Object.entries(settings))
    await queryValues(url, `alter system set ${name} = '${value}'`)
  await queryValues(url, 'select pg_reload_conf()')
}

async function killedPostmaster(postgres: OwnPostgres): Promise<CrashingPostgres> {
  await configure(postgres.url, LAZY)
  return {
    url: postgres.url,
    async crash() {
      await postgres.kill('SIGKILL')
      await postgres.start()
    },
  }
}

const BACKEND = `
select pid from pg_stat_activity
where backend_type = 'client backend' and datname = current_database() and pid <> pg_backend_pid()
order by random() limit 1`
const STARTED = 'select pg_postmaster_start_time()::text'

/** All other backends end with it, and their shared memory is lost; the postmaster lives on. */
async function killedBackend({ url }: OwnPostgres): Promise<CrashingPostgres> {
  await configure(url, LAZY)
  const started = await queryValues(url, STARTED)
  return {
    url,
    async crash() {
      const [pid] = await queryValues(url, BACKEND)
      process.kill(Number(pid), 'SIGKILL')
      const now = await until('it is back', () => queryValues(url, STARTED).catch(() => undefined))
      if (String(now) !== String(started)) throw new Error('the postmaster has ended, too')
    },
  }
}

/** Another cluster takes over at the same address. It has each commit that waited for it, and lacks others. */
async function promotedStandby(first: OwnPostgres, proxy: FlakyProxy): Promise<CrashingPostgres> {
  await configure(first.url, LAZY)
  let kill = () => first.kill('SIGKILL')
  let standby = await standbyOf(first)
  return {
    url: proxy.url,
    async crash() {
      await kill()
      proxy.cutAll()
      await standby.promote()
      proxy.leadTo(standby.url)
      kill = standby.kill
      standby = await standbyOf(standby)
    },
  }
}

const IS_SYNC = `select exists (select from pg_stat_replication where sync_state = 'sync')`

async function standbyOf(primary: Primary) {
  const dataDir = temporaryFolder()
  const settings = Object.entries(LAZY).map(([name, value]) => `${name}=${value}`)
  const server = await startStandbyServer(primary, dataDir, settings)
  beforeRemoval(server.stop)
  await configure(primary.url, { synchronous_standby_names: 'walreceiver' })
  await until('it is synchronous', async () => (await queryValues(primary.url, IS_SYNC))[0])
  const kill = async () => {
    signalPostmaster(join(clusterOf(dataDir), 'data'), 'SIGKILL')
    await server.stop()
    await removePostgres(dataDir)
  }
  return { ...server, dataDir, kill }
}
