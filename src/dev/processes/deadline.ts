import { spawn } from 'node:child_process'

/**
 * Our end closes the pipe, `read` returns, and the shell ends with its group. The pipe is open for as long as this process
 * lives, so no other process that has got its id is killed.
 */
const WATCH = `
  { sleep "$2" && kill -s KILL "$1"; } </dev/null &
  read -r _
  kill 0
`

/**
 * Kills this process if it still lives after so many seconds. On a busy machine Node may hang in native code while it ends,
 * where none of its timers fires. As after any kill, PostgreSQL and Temporal are stopped by their guards.
 */
export function endWithin(seconds: number): void {
  spawn('/bin/sh', ['-c', WATCH, 'deadline', String(process.pid), String(seconds)], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  })
    .on('error', () => undefined)
    .unref()
}
