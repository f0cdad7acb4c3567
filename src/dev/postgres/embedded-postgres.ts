import { existsSync, readFileSync, realpathSync } from 'node:fs'
import { join } from 'node:path'
import { freePort } from '../processes/free-port.ts'
import { type GuardedChild, type KeptServer, keepRunning } from '../processes/guarded-child.ts'
import { writePrivateFile } from '../processes/unprivileged-user.ts'
import { postgresPaths, removePostgresPaths } from './paths.ts'
import {
  type Cluster,
  endLeftover,
  NAME,
  openCluster,
  PortTaken,
  type ServerOptions,
  signalPostmaster,
  startServer,
} from './server.ts'

export interface EmbeddedPostgres extends KeptServer {
  url: string
}

interface Options extends Partial<ServerOptions> {
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
  const cluster = await openCluster(postgresPaths(realpathSync(dataDir)), durable)
  await endLeftover(cluster.data)
  const options = { port: rememberedPort(cluster) ?? port, durable }
  const server = await startOnFreePort(cluster, options)
  writePrivateFile(portFile(cluster), String(server.port), cluster.user)
  const kept = keepRunning(server.child, () => startAgain(cluster, { ...options, port: server.port }))
  return {
    url: `postgres://${NAME}:${cluster.password}@127.0.0.1:${server.port}/${NAME}`,
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
  if (existsSync(home)) await endLeftover(join(realpathSync(home), 'data'))
  removePostgresPaths(dataDir)
}

const portFile = ({ home }: Cluster) => join(home, 'port')

function rememberedPort(cluster: Cluster): number | undefined {
  const file = portFile(cluster)
  return existsSync(file) ? Number(readFileSync(file, 'utf8')) : undefined
}

/** Another program may take the port between the check and the server's start. */
async function startOnFreePort(cluster: Cluster, options: ServerOptions) {
  for (let port = await freePort(options.port); ; port = await freePort(port + 1)) {
    try {
      return { child: await startServer(cluster, { ...options, port }), port }
    } catch (error) {
      if (!(error instanceof PortTaken)) throw error
    }
  }
}

async function startAgain(cluster: Cluster, options: ServerOptions): Promise<GuardedChild> {
  await endLeftover(cluster.data)
  return startServer(cluster, options)
}
