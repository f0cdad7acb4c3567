import { spawn } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import { give, type User } from './unprivileged-user.ts'

export interface GuardedChild {
  /** Settles when the child has ended, whoever ended it. */
  ended: Promise<void>
  /** The exit code; null where the child could not be started. */
  exit: Promise<number | null>
  /** Signals the child to end, as the end of this process would. */
  end(): void
}

/**
 * The shell holds one end of a pipe whose other end only we hold. However we end, `kill -9` included, the
 * pipe closes and the shell signals the child. It needs no privilege and leaves nothing behind.
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

/** Runs a child that must not outlive this process, in a process group of its own, so that Ctrl-C reaches only us. */
export function guardedChild(
  command: string[],
  options: { user: User; cwd: string; log: string; env?: NodeJS.ProcessEnv; signal?: 'INT' | 'KILL' },
): GuardedChild {
  const { signal = 'INT', env } = options
  const log = openSync(options.log, 'w', 0o600)
  give(options.log, options.user)
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
