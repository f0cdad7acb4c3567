import { existsSync, readFileSync, realpathSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type GuardedChild, guardedChild } from './guarded-child.ts'
import { freePort } from './ports.ts'
import { type Cluster, NAME, openCluster } from './postgres-cluster.ts'
import { placePostgres, removePlace } from './postgres-place.ts'
import { endLeftover, postmaster, signalPostmaster } from './postmaster.ts'

export interface EmbeddedPostgres {
  url: string
  /** Resolves after `stop`; rejects if the server ended by itself and did not start again. */
  ended: Promise<void>
  stop(): Promise<void>
}

export interface EmbeddedPostgresOptions {
  dataDir: string
  /** The first port to try at the first start; later ones try the port used before. 0 is any free one. */
  port?: number
  /** False where the data may be lost with the machine, as in tests. */
  durable?: boolean
}

const STOP_MS = 3_000
const RETRY_MS = 250
const RETRIES = 20

/** Starts the PostgreSQL of a data directory, made at the first start, and keeps it running. */
export async function startPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const { dataDir, port: first = 15_432, durable = true } = options
  const cluster = await openCluster(placePostgres(realpathSync(dataDir)), durable)
  await endLeftover(cluster.data)
  const { server, port } = await startOnFreePort(cluster, first, durable)
  const kept = keepRunning(server, () => startAgain(cluster, port, durable))
  return {
    url: `postgres://${NAME}:${cluster.password}@127.0.0.1:${port}/${NAME}`,
    ended: kept.ended,
    async stop() {
      const hurry = setTimeout(() => signalPostmaster(cluster.data, 'SIGQUIT'), STOP_MS)
      await kept.stop()
      clearTimeout(hurry)
    },
  }
}

/** Removes the PostgreSQL of a data directory, wherever it is. */
export async function removePostgres(dataDir: string): Promise<void> {
  const home = join(dataDir, 'postgres')
  if (existsSync(home)) await endLeftover(join(realpathSync(home), 'data'))
  removePlace(dataDir)
}

function keepRunning(first: GuardedChild, startAgain: () => Promise<GuardedChild>) {
  let server = first
  let stopping = false
  async function watch(): Promise<void> {
    await server.ended
    if (stopping) return
    server = await startAgain()
    if (stopping) server.end()
    return watch()
  }
  const ended = watch()
  const stop = () => {
    stopping = true
    server.end()
    return ended
  }
  return { ended, stop }
}

/** On the same port, where the connections expect it, once what a killed server left behind is gone. */
async function startAgain(cluster: Cluster, port: number, durable: boolean): Promise<GuardedChild> {
  for (let tries = 1; ; tries++) {
    try {
      return await launch(cluster, port, durable)
    } catch (error) {
      if (tries === RETRIES) throw error
      await sleep(RETRY_MS)
    }
  }
}

/** Another program may take the port between our look and the server's start. */
async function startOnFreePort(cluster: Cluster, first: number, durable: boolean) {
  const memory = join(cluster.home, 'port')
  const wanted = existsSync(memory) ? Number(readFileSync(memory, 'utf8')) : first
  for (let port = await freePort(wanted); ; port = await freePort(port + 1)) {
    try {
      const server = await launch(cluster, port, durable)
      writeFileSync(memory, String(port))
      return { server, port }
    } catch (error) {
      if (!(error instanceof PortTaken)) throw error
    }
  }
}

class PortTaken extends Error {}

async function launch(cluster: Cluster, port: number, durable: boolean): Promise<GuardedChild> {
  const { bin, data, home, user } = cluster
  const log = join(home, 'server.log')
  const command = [join(bin, 'postgres'), '-D', data, ...flags(port, durable)]
  const server = guardedChild(command, { user, cwd: home, log })
  let over = false
  void server.ended.then(() => {
    over = true
  })
  while (!postmaster(data)?.ready) {
    if (over) throw failure(readFileSync(log, 'utf8'))
    await sleep(10)
  }
  return server
}

function flags(port: number, durable: boolean): string[] {
  const settings = {
    port,
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    max_connections: 250,
    shared_buffers: '256MB',
    log_checkpoints: 'off',
    ...(durable ? {} : { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off' }),
  }
  return Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
}

function failure(log: string): Error {
  if (log.includes('could not bind')) return new PortTaken()
  const fatal =
    log
      .split('\n')
      .filter(line => line.includes('FATAL'))
      .at(-1) ?? log.trim().split('\n').at(-1)
  return new Error(`PostgreSQL did not start: ${fatal}`)
}
