import { existsSync, readFileSync, realpathSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { processesIn } from '../processes/process-table.ts'
import { writePrivateFile } from '../processes/unprivileged-user.ts'
import { minorOf } from './version.ts'

export interface TemporalPorts {
  readonly grpc: number
  readonly ui: number
}

export interface TemporalPaths {
  readonly home: string
  /** A relative path: SQLite gives characters such as `?` in a path another meaning. */
  readonly data: string
  /** Data that the present server cannot read. */
  readonly older: string
  readonly log: string
  readonly ports: string
}

const GRACE_MS = 4_000
const POLL_MS = 20

export function temporalPaths(dataDir: string): TemporalPaths {
  const home = realpathSync(dataDir)
  return {
    home,
    data: 'temporal.db',
    older: 'temporal-older.db',
    log: join(home, 'temporal.log'),
    ports: join(home, 'temporal-ports.json'),
  }
}

/** The last start. Its file also proves that the server was ready once. */
export interface LastStart extends TemporalPorts {
  /** The version of the server. Undefined for data of our version 0.8.0 or earlier. */
  readonly server?: string | undefined
}

export function rememberedStart({ ports }: TemporalPaths): LastStart | undefined {
  return existsSync(ports) ? JSON.parse(readFileSync(ports, 'utf8')) : undefined
}

export function rememberStart({ ports: file }: TemporalPaths, { grpc, ui, server }: LastStart): void {
  writePrivateFile(file, JSON.stringify({ grpc, ui, server }))
}

/** Removes the data of an interrupted first start, whose half-created tables no server can use. */
export function removeUnfinishedTemporal(place: TemporalPaths): void {
  if (!existsSync(place.ports)) removeData(place)
}

/**
 * Tells whether the data was put aside: a development server creates the tables of its version, and never changes those of
 * another one. The runs begin anew from their records.
 */
export function putAsideOtherData(
  { home, data, older }: TemporalPaths,
  before: LastStart,
  server: string,
): boolean {
  if (before.server && minorOf(before.server) === minorOf(server)) return false
  if (!existsSync(join(home, data))) return false
  for (const suffix of SUFFIXES) {
    rmSync(join(home, older + suffix), { force: true })
    if (existsSync(join(home, data + suffix)))
      renameSync(join(home, data + suffix), join(home, older + suffix))
  }
  return true
}

export async function removeTemporal(dataDir: string): Promise<void> {
  const place = temporalPaths(dataDir)
  await endLeftoverTemporal(place)
  removeData(place)
  removeData({ ...place, data: place.older })
  for (const file of [place.ports, place.log]) rmSync(file, { force: true })
}

function removeData({ home, data }: Pick<TemporalPaths, 'home' | 'data'>): void {
  for (const suffix of SUFFIXES) rmSync(join(home, data + suffix), { force: true })
}

/** The files of one SQLite database differ in these. */
const SUFFIXES = ['', '-wal', '-shm', '-journal']

export async function endLeftoverTemporal({ home, data }: TemporalPaths): Promise<void> {
  for (let waited = 0; waited < GRACE_MS; waited += POLL_MS) {
    const leftover = processesIn(home, 'start-dev', data)
    if (leftover.length === 0) return
    leftover.forEach(kill)
    await sleep(POLL_MS)
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It ended by itself in the meantime.
  }
}
