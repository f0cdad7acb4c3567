import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type GuardedChild, guardedChild } from '../processes/guarded-child.ts'
import type { Cluster } from './cluster.ts'
import { postmaster } from './postmaster.ts'

export interface ServerOptions {
  port: number
  /** False where the data may be lost with the machine, as in tests. */
  durable: boolean
}

export class PortTaken extends Error {}

/** Starts the server of a cluster and waits until it takes connections. */
export async function startServer(cluster: Cluster, options: ServerOptions): Promise<GuardedChild> {
  const { bin, data, home, user } = cluster
  const log = join(home, 'server.log')
  const command = [join(bin, 'postgres'), '-D', data, ...flags(options)]
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

function flags({ port, durable }: ServerOptions): string[] {
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
  const lines = log.trim().split('\n')
  return new Error(
    `PostgreSQL did not start: ${lines.findLast(line => line.includes('FATAL')) ?? lines.at(-1)}`,
  )
}
