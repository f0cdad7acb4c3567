import { spawn } from 'node:child_process'

/**
 * When this process ends, the pipe closes, `read` returns, and the shell ends with its group. The pipe stays
 * open as long as this process lives, so no other process with a reused pid is killed.
 */
const WATCH = `
  { sleep "$2" && kill -s KILL "$1"; } </dev/null &
  read -r _
  kill 0
`

/**
 * Kills this process if it still lives after this many seconds. On a busy machine Node may hang in native
 * code while it ends, and then none of its timers fires. As after any kill, the guards stop PostgreSQL and
 * Temporal.
 */
export function killSelfAfter(seconds: number): void {
  spawn('/bin/sh', ['-c', WATCH, 'deadline', String(process.pid), String(seconds)], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  })
    .on('error', () => undefined)
    .unref()
}
