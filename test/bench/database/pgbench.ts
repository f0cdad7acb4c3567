import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { outputOf } from '../child.ts'
import type { Stage } from '../stage.ts'

/** How it is done, one call at a time: as most would write it, as one statement, or a part of it that may not be missing. */
export type Manner = 'statements' | 'one statement' | 'only the posting'

/** An operation without us: what each call draws, in pgbench's own words, and its SQL in some manners. */
export interface Alone {
  readonly draw: readonly string[]
  readonly scripts: Readonly<Partial<Record<Manner, string>>>
}

/** One call at a time, in the same run and the same database. */
export interface OneAtATime {
  readonly name: string
  readonly manner: Manner
  readonly perSecond: number
  /** Processor time of PostgreSQL for one transaction. */
  readonly databaseMicroseconds: number
}

const CLIENTS = 8
const THREADS = 2

export const hasPgbench = (): boolean => spawnSync('pgbench', ['--version']).status === 0

type Where = Pick<Stage, 'databaseUrl' | 'databaseSeconds' | 'ownerId' | 'folder'>

/** Transactions a second of so many clients, each with one call under way, and what one costs PostgreSQL. */
export async function pgbench(
  { draw, scripts }: Alone,
  manner: Manner,
  { databaseUrl, databaseSeconds, ownerId, folder }: Where,
  seconds: number,
): Promise<Pick<OneAtATime, 'perSecond' | 'databaseMicroseconds'>> {
  const script = join(folder, 'pgbench.sql')
  writeFileSync(script, `${draw.map(line => `\\set ${line}\n`).join('')}${scripts[manner]};\n`)
  const load = ['-c', CLIENTS, '-j', THREADS, '-T', Math.round(seconds)].map(String)
  const variables = ['-D', `owner=${ownerId}`, '-D', 'turn=0']
  const how = ['-n', '-M', 'prepared', ...load, ...variables, '-f', script]
  const before = databaseSeconds()
  const output = await outputOf('pgbench', [...how, databaseUrl])
  const transactions = Number(/actually processed: (\d+)/.exec(output)?.[1])
  return {
    perSecond: Number(/tps = ([\d.]+)/.exec(output)?.[1]),
    databaseMicroseconds: ((databaseSeconds() - before) * 1e6) / transactions,
  }
}

/** A key of its own for every call. */
export const KEY = 'key random(1, 9000000000000000)'
/** A number for every call, each drawn once by one of the clients. */
export const inOrder = (first: number): string[] => [
  `n ${first} + :turn * ${CLIENTS} + :client_id`,
  'turn :turn + 1',
]
