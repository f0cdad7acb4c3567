import { spawn } from 'node:child_process'
import { buffer } from 'node:stream/consumers'

/** Runs another vendor's program and returns its output; says what to install if it is missing. */
export async function runPeer(command: string, args: readonly string[], input: string): Promise<string> {
  const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'pipe'] })
  const started = new Promise<void>((resolve, reject) => {
    child.once('spawn', resolve)
    child.once('error', () =>
      reject(new Error(`${command} is missing. Install it: npm run test:peers needs go and python3.`)),
    )
  })
  await started
  const ended = new Promise<number | null>(resolve => child.once('close', resolve))
  // A program may end before it has read its input: its exit code says how.
  child.stdin.on('error', () => undefined)
  child.stdin.end(input)
  const [output, errors, code] = await Promise.all([buffer(child.stdout), buffer(child.stderr), ended])
  if (code !== 0) throw new Error(`${command} ${args.join(' ')} failed: ${errors.toString()}`)
  return output.toString()
}
