import { spawn } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { giveOwnership, type SystemUser } from './unprivileged-user.ts'

export interface GuardedChild {
  ended: Promise<void>
  exit: Promise<number | null>
  end(): void
}

/**
 * The shell holds one end of a pipe and this process the other. However this process ends, `kill -9`
 * included, the pipe closes and the shell signals the child. This needs no privilege and leaves nothing
 * behind.
 */
const GUARD = `
  umask 077
  signal=$1; shift
  exec 3<&0
  "$@" </dev/null 3<&- &
  child=$!
  { read -r _ <&3; kill -s $signal $child; } 2>/dev/null &
  watch=$!
  wait $child
  code=$?
  kill $watch 2>/dev/null
  exit $code
`

/**
 * Runs a child that must not outlive this process. It has its own process group, so that Ctrl-C reaches only
 * this process.
 */
export function guardedChild(
  command: string[],
  options: { user: SystemUser; cwd: string; log: string; env?: NodeJS.ProcessEnv; signal?: 'INT' | 'KILL' },
): GuardedChild {
  const { signal = 'INT', env } = options
  const log = openSync(options.log, 'w', 0o600)
  giveOwnership(options.log, options.user)
  const shell = spawn('/bin/sh', ['-c', GUARD, 'guard', signal, ...command], {
    ...options.user,
    cwd: options.cwd,
    env: { PATH: process.env.PATH, TZ: 'UTC', ...env },
    stdio: ['pipe', log, log],
    detached: true,
  })
  closeSync(log)
  const exit = new Promise<number | null>(resolve => {
    shell.once('exit', resolve).once('error', () => resolve(null))
  })
  return { exit, ended: exit.then(() => undefined), end: () => shell.stdin?.end() }
}

export interface RestartedServer {
  ended: Promise<void>
  stop(): Promise<void>
}

const RETRY_MS = 250
const RETRIES = 20

export function keepServerRunning(first: GuardedChild, again: () => Promise<GuardedChild>): RestartedServer {
  let server = first
  let stopping = false
  async function watch(): Promise<void> {
    await server.ended
    if (stopping) return
    server = await retryStart(again)
    if (stopping) server.end()
    return watch()
  }
  const ended = watch()
  const stop = () => {
    stopping = true
    server.end()
    return ended
  }
  return { ended, stop }
}

/** The remains of a killed server may block the start for a moment. */
async function retryStart(start: () => Promise<GuardedChild>): Promise<GuardedChild> {
  for (let tries = 1; ; tries++) {
    try {
      return await start()
    } catch (error) {
      if (tries === RETRIES) throw error
      await sleep(RETRY_MS)
    }
  }
}
