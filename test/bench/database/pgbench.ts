import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { outputOf } from '../child.ts'

/** A variant of the SQL: as most would write it, as one statement, or only the indispensable part. */
export type Variant = 'statements' | 'one statement' | 'only the posting'

/** An operation in SQL alone: the variables drawn for each call, in pgbench's syntax, and its variants. */
export interface SqlEquivalent {
  readonly draw: readonly string[]
  readonly scripts: Readonly<Partial<Record<Variant, string>>>
}

/** The rate of the SQL alone, measured in the same run on the same database. */
export interface SqlRate {
  readonly name: string
  readonly variant: Variant
  readonly perSecond: number
}

const CLIENTS = 8
const THREADS = 2

export const hasPgbench = (): boolean => spawnSync('pgbench', ['--version']).status === 0

interface Where {
  readonly databaseUrl: string
  readonly ownerId: string
  readonly folder: string
}

/** Transactions a second with this many clients, each with one call under way. */
export async function pgbench(
  { draw, scripts }: SqlEquivalent,
  variant: Variant,
  { databaseUrl, ownerId, folder }: Where,
  seconds: number,
): Promise<number> {
  const script = join(folder, 'pgbench.sql')
  writeFileSync(script, `${draw.map(line => `\\set ${line}\n`).join('')}${scripts[variant]};\n`)
  const load = ['-c', CLIENTS, '-j', THREADS, '-T', Math.round(seconds)].map(String)
  const variables = ['-D', `owner=${ownerId}`, '-D', 'turn=0']
  const how = ['-n', '-M', 'prepared', ...load, ...variables, '-f', script]
  const output = await outputOf('pgbench', [...how, databaseUrl])
  return Number(/tps = ([\d.]+)/.exec(output)?.[1])
}

/** An idempotency key for each call. */
export const KEY = 'key random(1, 9000000000000000)'
/** A number for each call, drawn once by one of the clients. */
export const inOrder = (first: number): string[] => [
  `n ${first} + :turn * ${CLIENTS} + :client_id`,
  'turn :turn + 1',
]
