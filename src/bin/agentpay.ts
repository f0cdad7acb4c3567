import { setTimeout as wait } from 'node:timers/promises'
import { exitCodes, fileError } from '../command/io.ts'
import { runAgentpay } from '../command/main.ts'

const interruption = new AbortController()
const { signal } = interruption

/** A reader such as `head` may close the pipe first, which is not an error. */
process.stdout.on('error', ({ code = '' }: NodeJS.ErrnoException) => {
  if (code === 'EPIPE') process.exit(exitCodes.done)
  process.stderr.write(`${fileError('The output', 'written', code)}\n`)
  process.exit(exitCodes.refused)
})
process.stderr.on('error', () => {})

for (const [name, code] of [
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const)
  process.once(name, () => {
    process.exitCode = code
    interruption.abort()
    // A command that reads its input would wait for the end of it.
    process.stdin.destroy()
  })

try {
  process.exitCode = await runAgentpay(process.argv.slice(2), {
    get stdin() {
      return process.stdin
    },
    stdout: process.stdout,
    stderr: process.stderr,
    env: process.env,
    cwd: process.cwd(),
    signal,
    wait: milliseconds => wait(milliseconds, undefined, { signal }),
  })
} catch (error) {
  if (!signal.aborted) throw error
}
