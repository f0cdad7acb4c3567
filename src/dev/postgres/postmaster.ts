import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { commandOf } from '../processes/process-table.ts'

const GRACE_MS = 4_000
const POLL_MS = 20

/** The server that runs on a cluster, as its `postmaster.pid` tells. */
export function postmaster(data: string): { pid: number; ready: boolean } | null {
  const lines = contents(pidFile(data)).split('\n')
  const pid = Number(lines[0])
  return commandOf(pid)?.has(data) ? { pid, ready: lines[7]?.trim() === 'ready' } : null
}

/** Ends the server that an earlier, killed process left behind; as a rule it is already about to end. */
export async function endLeftover(data: string): Promise<void> {
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

/** After a reboot the number may be that of another program, and PostgreSQL would refuse to start. */
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
