import { existsSync, readFileSync, realpathSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { processesIn } from '../processes/process-table.ts'
import { writePrivateFile } from '../processes/unprivileged-user.ts'

export interface TemporalPorts {
  readonly grpc: number
  readonly ui: number
}

export interface TemporalPaths {
  readonly home: string
  /** A relative path: SQLite gives characters such as `?` in a path another meaning. */
  readonly data: string
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
    log: join(home, 'temporal.log'),
    ports: join(home, 'temporal-ports.json'),
  }
}

/** The ports of the last start. Their file also proves that the server was ready once. */
export function rememberedPorts({ ports }: TemporalPaths): TemporalPorts | undefined {
  return existsSync(ports) ? JSON.parse(readFileSync(ports, 'utf8')) : undefined
}

export function rememberPorts({ ports: file }: TemporalPaths, ports: TemporalPorts): void {
  writePrivateFile(file, JSON.stringify(ports))
}

/** Removes the data of an interrupted first start, whose half-created tables no server can use. */
export function removeUnfinishedTemporal(place: TemporalPaths): void {
  if (!existsSync(place.ports)) removeData(place)
}

export async function removeTemporal(dataDir: string): Promise<void> {
  const place = temporalPaths(dataDir)
  await endLeftoverTemporal(place)
  removeData(place)
  for (const file of [place.ports, place.log]) rmSync(file, { force: true })
}

function removeData({ home, data }: TemporalPaths): void {
  for (const suffix of ['', '-wal', '-shm', '-journal']) rmSync(join(home, data + suffix), { force: true })
}

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
