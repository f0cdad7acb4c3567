import { realpathSync } from 'node:fs'
import { join } from 'node:path'
import { startPostgres } from '../../../src/dev/postgres/embedded-postgres.ts'
import { signalPostmaster } from '../../../src/dev/postgres/postmaster.ts'
import type { KeptServer } from '../../../src/dev/processes/kept-server.ts'
import { temporalAtHand } from '../../../src/dev/temporal/binary.ts'
import { startTemporal } from '../../../src/dev/temporal/server.ts'
import { migrate } from '../../../src/platform/database.ts'
import { endBefore, temporaryFolder } from './folders.ts'

/** A server of the test file's own, to be ended as often as it likes. */
interface OwnServer {
  stop(): Promise<void>
  /** With its data, at its address; nothing where it runs already. */
  start(): Promise<void>
}

export interface OwnPostgres extends OwnServer {
  readonly url: string
  /** As by `pg_ctl stop -m immediate`, or worse. */
  kill(signal: 'SIGQUIT' | 'SIGKILL'): Promise<void>
}

export interface OwnTemporal extends OwnServer {
  readonly address: string
  kill(): Promise<void>
}

/** Its first database is migrated. */
export async function ownPostgres(): Promise<OwnPostgres> {
  const dataDir = temporaryFolder()
  const start = () => startPostgres({ dataDir, port: 0 })
  const first = await start()
  const server = own(first, start)
  await migrate(first.url)
  return {
    ...server,
    url: first.url,
    kill(signal) {
      signalPostmaster(join(realpathSync(join(dataDir, 'postgres')), 'data'), signal)
      return server.stop()
    },
  }
}

export async function ownTemporal({ durable = true } = {}): Promise<OwnTemporal> {
  const binary = (await temporalAtHand({ env: process.env, tell: () => undefined })) ?? ''
  const dataDir = temporaryFolder()
  const start = () => startTemporal({ binary, dataDir, ports: { grpc: 0, ui: 0 }, durable })
  const first = await start()
  const server = own(first, start)
  // No gentler end than SIGKILL is known to its keeper.
  return { ...server, address: first.address, kill: server.stop }
}

function own(first: KeptServer, again: () => Promise<KeptServer>): OwnServer {
  let running: KeptServer | undefined = first
  const server = {
    async stop() {
      await running?.stop()
      running = undefined
    },
    async start() {
      running ??= await again()
    },
  }
  endBefore(server.stop)
  return server
}
