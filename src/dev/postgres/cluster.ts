import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { existsSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { writePrivateFile } from '../private-file.ts'
import { give } from '../processes/unprivileged-user.ts'
import type { Place } from './place.ts'

/** The role of the service, and its database. */
export const NAME = 'agentpay'

export interface Cluster extends Place {
  data: string
  password: string
}

const UNFINISHED = 'unfinished-'

/** The cluster of a place, made at the first call. */
export async function openCluster(place: Place, durable: boolean): Promise<Cluster> {
  removeUnfinished(place.home)
  const cluster = { ...place, data: join(place.home, 'data'), password: passwordOf(place) }
  if (!existsSync(cluster.data)) await makeCluster(cluster, durable)
  return cluster
}

const passwordFile = (home: string) => join(home, 'password')

function passwordOf({ home, user }: Place): string {
  const file = passwordFile(home)
  if (!existsSync(file)) writePrivateFile(file, randomBytes(24).toString('base64url'), user)
  return readFileSync(file, 'utf8')
}

/** Built under another name and renamed at the end, so that an interruption leaves no incomplete cluster. */
async function makeCluster(cluster: Cluster, durable: boolean): Promise<void> {
  const { home, data, user } = cluster
  const unfinished = mkdtempSync(join(home, UNFINISHED))
  give(unfinished, user)
  const auth = [`--username=${NAME}`, `--pwfile=${passwordFile(home)}`, '--auth=scram-sha-256']
  const sync = durable ? [] : ['--no-sync']
  await run(cluster, 'initdb', [`--pgdata=${unfinished}`, ...auth, '--encoding=UTF8', '--locale=C', ...sync])
  await run(cluster, 'postgres', ['--single', '-D', unfinished, 'postgres'], `CREATE DATABASE ${NAME}\n`)
  renameSync(unfinished, data)
}

function removeUnfinished(home: string): void {
  const names = readdirSync(home).filter(name => name.startsWith(UNFINISHED))
  // An `initdb` whose parent was killed may still be writing.
  for (const name of names) rmSync(join(home, name), { recursive: true, force: true, maxRetries: 10 })
}

async function run({ bin, user, home }: Place, command: string, args: string[], input = ''): Promise<void> {
  const running = promisify(execFile)(join(bin, command), args, { ...user, cwd: home, env: {} })
  running.child.stdin?.end(input)
  try {
    await running
  } catch (error) {
    const { stderr = '', message } = error as { stderr?: string; message: string }
    throw new Error(`PostgreSQL could not be set up: ${(stderr || message).trim().split('\n').at(-1)}`)
  }
}
