import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { outputOf } from '../child.ts'
import type { Stage } from '../stage.ts'

/** A variant of the SQL: as usually written, as one statement, or only the indispensable part. */
export type Variant = 'statements' | 'one statement' | 'only the posting'

/** An operation in SQL: the variables drawn for each call, in pgbench's syntax, and its variants. */
export interface SqlEquivalent {
  readonly draw: readonly string[]
  readonly scripts: Readonly<Partial<Record<Variant, string>>>
}

export interface SqlRate {
  readonly name: string
  readonly variant: Variant
  readonly clients: number
  readonly perSecond: number
  readonly databaseMicroseconds: number
}

/**
 * Statements in functions are planned once, as on the connections of the service; otherwise each call may
 * plan them anew.
 */
const PLANNED_ONCE = 'options=-c%20plan_cache_mode%3Dforce_generic_plan'

/** As many as PostgreSQL serves best on a small machine. */
const CLIENTS = 8
const THREADS = 2

export const hasPgbench = (): boolean => spawnSync('pgbench', ['--version']).status === 0

type Where = Pick<Stage, 'databaseUrl' | 'databaseSeconds' | 'ownerId' | 'folder'>

/** Measures the rate with this many clients, each with one call in progress, and PostgreSQL's time for each call. */
export async function pgbench(
  { draw, scripts }: SqlEquivalent,
  variant: Variant,
  { databaseUrl, databaseSeconds, ownerId, folder }: Where,
  seconds: number,
  clients = CLIENTS,
): Promise<Pick<SqlRate, 'perSecond' | 'databaseMicroseconds'>> {
  const script = join(folder, 'pgbench.sql')
  writeFileSync(script, `${draw.map(line => `\\set ${line}\n`).join('')}${scripts[variant]};\n`)
  const load = ['-c', clients, '-j', Math.min(clients, THREADS), '-T', Math.max(1, Math.round(seconds))].map(
    String,
  )
  const variables = ['-D', `owner=${ownerId}`, '-D', 'turn=0']
  const how = ['-n', '-M', 'prepared', ...load, ...variables, '-f', script]
  const before = databaseSeconds()
  const output = await outputOf('pgbench', [...how, `${databaseUrl}?${PLANNED_ONCE}`])
  const transactions = Number(/actually processed: (\d+)/.exec(output)?.[1])
  return {
    perSecond: Number(/tps = ([\d.]+)/.exec(output)?.[1]),
    databaseMicroseconds: ((databaseSeconds() - before) * 1e6) / transactions,
  }
}

export const KEY = 'key random(1, 9000000000000000)'
/** A number for each call, drawn once by one of the clients. */
export const inOrder = (first: number): string[] => [
  `n ${first} + :turn * ${CLIENTS} + :client_id`,
  'turn :turn + 1',
]
