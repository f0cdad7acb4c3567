import { readFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { type GuardedChild, guardedChild } from '../../src/dev/processes/guarded-child.ts'
import type { User } from '../../src/dev/processes/unprivileged-user.ts'
import type { Start } from './start.ts'

/** How a process runs and how it is ended; by itself as we run, and gently. */
export interface Child {
  readonly cwd?: string
  readonly user?: User
  readonly signal?: 'INT' | 'KILL'
}

const LINES = 10
const COLUMNS = 500

/** Only what the service is told, and where programs are. */
const environment = ({ env, temporal }: Start) => ({
  ...env,
  PATH: [temporal, process.env.PATH].join(delimiter),
})

const logOf = (folder: string, name: string): string => join(folder, `${name}.log`)

/** What a service has said last. */
export function lastWords(folder: string, name: string): string {
  const lines = readFileSync(logOf(folder, name), 'utf8').trim().split('\n').slice(-LINES)
  return lines.map(line => line.slice(0, COLUMNS)).join('\n')
}

/** Runs to its end, and well. */
export async function job(start: Start, command: readonly string[], child: Child = {}): Promise<void> {
  const code = await begin(start, command, { ...child, signal: 'KILL' }).exit
  if (code !== 0) throw new Error(`${start.name} ended with ${code}:\n${lastWords(start.folder, start.name)}`)
}

/** Runs until it is ended. */
export function stay(start: Start, command: readonly string[], child: Child = {}): void {
  void begin(start, command, child).ended.then(() => start.onEnd(start.name))
}

/** At the latest it ends with us. */
function begin(
  start: Start,
  command: readonly string[],
  { cwd = process.cwd(), user = {}, signal = 'INT' }: Child,
): GuardedChild {
  const log = logOf(start.folder, start.name)
  const child = guardedChild([...command], { cwd, user, signal, log, env: environment(start) })
  start.closeLater(() => {
    child.end()
    return child.ended
  })
  return child
}
