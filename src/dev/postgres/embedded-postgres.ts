import { existsSync, readFileSync, realpathSync } from 'node:fs'
import { join } from 'node:path'
import { freePort } from '../processes/free-port.ts'
import { type GuardedChild, keepServerRunning, type RestartedServer } from '../processes/guarded-child.ts'
import { writePrivateFile } from '../processes/unprivileged-user.ts'
import { postgresPaths, removePostgresPaths } from './paths.ts'
import {
  DATABASE_NAME,
  endLeftoverPostgres,
  openPostgresCluster,
  PortTakenError,
  type PostgresCluster,
  type PostgresServerOptions,
  signalPostmaster,
  startPostgresServer,
} from './server.ts'

export interface EmbeddedPostgres extends RestartedServer {
  url: string
}

interface Options extends Partial<PostgresServerOptions> {
  dataDir: string
}

const STOP_MS = 3_000

/**
 * Starts the PostgreSQL of a data directory, creating it if needed, and keeps it running. It keeps its port
 * between starts. The first start takes the requested port or the next free one; 0 takes any.
 */
export async function startPostgres({
  dataDir,
  port = 15_432,
  durable = true,
}: Options): Promise<EmbeddedPostgres> {
  const cluster = await openPostgresCluster(postgresPaths(realpathSync(dataDir)), durable)
  await endLeftoverPostgres(cluster.data)
  const options = { port: rememberedPort(cluster) ?? port, durable }
  const server = await startOnFreePort(cluster, options)
  writePrivateFile(portFile(cluster), String(server.port), cluster.user)
  const kept = keepServerRunning(server.child, () => startAgain(cluster, { ...options, port: server.port }))
  return {
    url: `postgres://${DATABASE_NAME}:${cluster.password}@127.0.0.1:${server.port}/${DATABASE_NAME}`,
    ended: kept.ended,
    async stop() {
      const hurry = setTimeout(() => signalPostmaster(cluster.data, 'SIGQUIT'), STOP_MS)
      await kept.stop()
      clearTimeout(hurry)
    },
  }
}

export async function removePostgres(dataDir: string): Promise<void> {
  const home = join(dataDir, 'postgres')
  if (existsSync(home)) await endLeftoverPostgres(join(realpathSync(home), 'data'))
  removePostgresPaths(dataDir)
}

const portFile = ({ home }: PostgresCluster) => join(home, 'port')

function rememberedPort(cluster: PostgresCluster): number | undefined {
  const file = portFile(cluster)
  return existsSync(file) ? Number(readFileSync(file, 'utf8')) : undefined
}

/** Another program may take the port between the check and the server's start. */
async function startOnFreePort(cluster: PostgresCluster, options: PostgresServerOptions) {
  for (let port = await freePort(options.port); ; port = await freePort(port + 1)) {
    try {
      return { child: await startPostgresServer(cluster, { ...options, port }), port }
    } catch (error) {
      if (!(error instanceof PortTakenError)) throw error
    }
  }
}

async function startAgain(cluster: PostgresCluster, options: PostgresServerOptions): Promise<GuardedChild> {
  await endLeftoverPostgres(cluster.data)
  return startPostgresServer(cluster, options)
}
