import { realpathSync } from 'node:fs'
import { join } from 'node:path'
import { startPostgres } from '../../../src/dev/postgres/embedded-postgres.ts'
import { signalPostmaster } from '../../../src/dev/postgres/server.ts'
import type { RestartedServer } from '../../../src/dev/processes/guarded-child.ts'
import { installedTemporal } from '../../../src/dev/temporal/binary.ts'
import { startTemporal } from '../../../src/dev/temporal/server.ts'
import { migrateDatabase } from '../../../src/platform/schema.ts'
import { beforeRemoval, temporaryFolder } from './folders.ts'
import { lastingPort } from './lasting-port.ts'

/** A server of one test file, which can stop and restart it. */
interface OwnServer {
  stop(): Promise<void>
  /** Starts it again with its data and address, unless it is running. */
  start(): Promise<void>
}

export interface OwnPostgres extends OwnServer {
  readonly url: string
  readonly dataDir: string
  /** SIGQUIT is `pg_ctl stop -m immediate`. */
  kill(signal: 'SIGQUIT' | 'SIGKILL'): Promise<void>
}

export interface OwnTemporal extends OwnServer {
  readonly address: string
  readonly dataDir: string
  kill(): Promise<void>
}

export async function ownPostgres(): Promise<OwnPostgres> {
  const dataDir = temporaryFolder()
  const port = await lastingPort()
  const start = () => startPostgres({ dataDir, port })
  const first = await start()
  const server = restartable(first, start)
  await migrateDatabase(first.url)
  return {
    ...server,
    url: first.url,
    dataDir,
    kill(signal) {
      signalPostmaster(join(realpathSync(join(dataDir, 'postgres')), 'data'), signal)
      return server.stop()
    },
  }
}

export async function ownTemporal({ durable = true } = {}): Promise<OwnTemporal> {
  const binary = (await installedTemporal({ env: process.env, tell: () => undefined })) ?? ''
  const dataDir = temporaryFolder()
  const ports = { grpc: await lastingPort(), ui: await lastingPort() }
  const start = () => startTemporal({ binary, dataDir, ports, durable })
  const first = await start()
  const server = restartable(first, start)
  // Its keeper always ends it with SIGKILL.
  return { ...server, address: first.address, dataDir, kill: server.stop }
}

function restartable(first: RestartedServer, start: () => Promise<RestartedServer>): OwnServer {
  let running: RestartedServer | undefined = first
  const server = {
    async stop() {
      await running?.stop()
      running = undefined
    },
    async start() {
      running ??= await start()
    },
  }
  beforeRemoval(server.stop)
  return server
}
