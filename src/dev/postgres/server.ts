import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { existsSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { type GuardedChild, guardedChild } from '../processes/guarded-child.ts'
import { commandOf } from '../processes/process-table.ts'
import { giveOwnership, writePrivateFile } from '../processes/unprivileged-user.ts'
import type { PostgresPaths } from './paths.ts'

export const DATABASE_NAME = 'agentpay'

export interface PostgresCluster extends PostgresPaths {
  data: string
  password: string
}

const UNFINISHED = 'unfinished-'

export async function openPostgresCluster(place: PostgresPaths, durable: boolean): Promise<PostgresCluster> {
  removeUnfinished(place.home)
  const cluster = { ...place, data: join(place.home, 'data'), password: passwordOf(place) }
  if (!existsSync(cluster.data)) await makeCluster(cluster, durable)
  return cluster
}

const passwordFile = (home: string) => join(home, 'password')

function passwordOf({ home, user }: PostgresPaths): string {
  const file = passwordFile(home)
  if (!existsSync(file)) writePrivateFile(file, randomBytes(24).toString('base64url'), user)
  return readFileSync(file, 'utf8')
}

/** Created under another name and renamed at the end, so that an interruption leaves no incomplete cluster. */
async function makeCluster(cluster: PostgresCluster, durable: boolean): Promise<void> {
  const { home, data, user } = cluster
  const unfinished = mkdtempSync(join(home, UNFINISHED))
  giveOwnership(unfinished, user)
  const auth = [`--username=${DATABASE_NAME}`, `--pwfile=${passwordFile(home)}`, '--auth=scram-sha-256']
  const sync = durable ? [] : ['--no-sync']
  await run(cluster, 'initdb', [`--pgdata=${unfinished}`, ...auth, '--encoding=UTF8', '--locale=C', ...sync])
  await run(
    cluster,
    'postgres',
    ['--single', '-D', unfinished, 'postgres'],
    `CREATE DATABASE ${DATABASE_NAME}\n`,
  )
  renameSync(unfinished, data)
}

function removeUnfinished(home: string): void {
  const names = readdirSync(home).filter(name => name.startsWith(UNFINISHED))
  // An `initdb` whose parent was killed may still be writing.
  for (const name of names) rmSync(join(home, name), { recursive: true, force: true, maxRetries: 10 })
}

async function run(
  { bin, user, home }: PostgresPaths,
  command: string,
  args: string[],
  input = '',
): Promise<void> {
  const running = promisify(execFile)(join(bin, command), args, { ...user, cwd: home, env: {} })
  running.child.stdin?.end(input)
  try {
    await running
  } catch (error) {
    const { stderr = '', message } = error as { stderr?: string; message: string }
    throw new Error(`PostgreSQL could not be set up: ${(stderr || message).trim().split('\n').at(-1)}`)
  }
}

const GRACE_MS = 4_000
const POLL_MS = 20

function postmaster(data: string): { pid: number; ready: boolean } | null {
  const lines = contents(pidFile(data)).split('\n')
  const pid = Number(lines[0])
  return commandOf(pid)?.has(data) ? { pid, ready: lines[7]?.trim() === 'ready' } : null
}

export async function endLeftoverPostgres(data: string): Promise<void> {
  forgetForeignPid(data)
  for (const signal of ['SIGINT', 'SIGQUIT', 'SIGKILL'] as const) {
    signalPostmaster(data, signal)
    for (let waited = 0; postmaster(data) && waited < GRACE_MS; waited += POLL_MS) await sleep(POLL_MS)
  }
}

export function signalPostmaster(data: string, signal: NodeJS.Signals): void {
  const running = postmaster(data)
  try {
    if (running) process.kill(running.pid, signal)
  } catch {
    // It ended by itself in the meantime.
  }
}

/** After a reboot the pid may belong to another program, and PostgreSQL would refuse to start. */
function forgetForeignPid(data: string): void {
  const command = commandOf(Number.parseInt(contents(pidFile(data)), 10))
  if (command && command.program !== 'postgres') rmSync(pidFile(data))
}

const pidFile = (data: string) => join(data, 'postmaster.pid')

function contents(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}

export interface PostgresServerOptions {
  port: number
  /** False if the data may be lost with the machine, as in tests. */
  durable: boolean
}

export class PortTakenError extends Error {}

export async function startPostgresServer(
  cluster: PostgresCluster,
  options: PostgresServerOptions,
): Promise<GuardedChild> {
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

/** For tests: their data is disposable, and a statement's plan must not depend on when autovacuum ran. */
const DISPOSABLE = { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off', autovacuum: 'off' }

function flags({ port, durable }: PostgresServerOptions): string[] {
  const settings = {
    port,
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    max_connections: 250,
    shared_buffers: '256MB',
    log_checkpoints: 'off',
    ...(durable ? {} : DISPOSABLE),
  }
  return Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
}

function failure(log: string): Error {
  if (log.includes('could not bind')) return new PortTakenError()
  const lines = log.trim().split('\n')
  return new Error(
    `PostgreSQL did not start: ${lines.findLast(line => line.includes('FATAL')) ?? lines.at(-1)}`,
  )
}
