import { readFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { type GuardedChild, guardedChild } from '../../src/dev/processes/guarded-child.ts'
import type { SystemUser } from '../../src/dev/processes/unprivileged-user.ts'
import type { Start } from './start.ts'

/** How a process runs and is ended: by default in our folder, as our user, with SIGINT. */
export interface Child {
  readonly cwd?: string
  readonly user?: SystemUser
  readonly signal?: 'INT' | 'KILL'
}

const LINES = 10
const COLUMNS = 500

/** The variables of the service and the PATH, and nothing else of this process. */
const environment = ({ env, temporal }: Start) => ({
  ...env,
  PATH: [temporal, process.env.PATH].join(delimiter),
})

const logOf = (folder: string, name: string): string => join(folder, `${name}.log`)

/** The last lines of a service's log, shortened. */
export function lastLogLines(folder: string, name: string): string {
  const lines = readFileSync(logOf(folder, name), 'utf8').trim().split('\n').slice(-LINES)
  return lines.map(line => line.slice(0, COLUMNS)).join('\n')
}

export async function runToEnd(start: Start, command: readonly string[], child: Child = {}): Promise<void> {
  const code = await startChild(start, command, { ...child, signal: 'KILL' }).exit
  if (code !== 0)
    throw new Error(`${start.name} ended with ${code}:\n${lastLogLines(start.folder, start.name)}`)
}

/** Runs a command until the topology ends it; reports an earlier end. */
export function keepRunning(start: Start, command: readonly string[], child: Child = {}): void {
  void startChild(start, command, child).ended.then(() => start.onEnd(start.name))
}

/** Starts a process that ends with this one at the latest. */
function startChild(
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
