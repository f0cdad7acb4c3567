import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { loadavg } from 'node:os'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { stripVTControlCharacters } from 'node:util'
import { printLine } from '../../src/platform/output.ts'
import type { Part } from './parts.ts'

export interface Try {
  readonly minutes: number
  readonly hasPassed: boolean
  /** The tests, checks or programs that failed, by name. */
  readonly failures: readonly string[]
}

export interface Outcome {
  readonly part: string
  readonly tries: readonly Try[]
  /** The load of the machine in the last minute of the part. */
  readonly load: number
}

export const hasPassed = ({ tries }: Outcome): boolean => tries.at(-1)?.hasPassed ?? false

/** Runs a part to its end, and a program that failed once more. */
export async function runPart(name: string, part: Part): Promise<Outcome> {
  const first = await tryPart(part)
  const tries = first.hasPassed || !part.isProgram ? [first] : [first, await tryPart(part)]
  return { part: name, tries, load: loadavg()[0] ?? 0 }
}

async function tryPart({ script, args = [], env }: Part): Promise<Try> {
  const began = performance.now()
  const child = spawn('npm', ['run', '--silent', script, '--', ...args], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const stop = () => void child.kill()
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, stop)
  const failures = new Set<string>()
  let lastLine = ''
  const follow = (stream: Readable) =>
    createInterface({ input: stream }).on('line', line => {
      printLine(line)
      const text = stripVTControlCharacters(line)
      const failure = failureIn(text)
      if (failure) failures.add(failure)
      lastLine = text.trim() || lastLine
    })
  follow(child.stdout)
  follow(child.stderr)
  const [code] = await once(child, 'close')
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.off(signal, stop)
  const minutes = (performance.now() - began) / 60_000
  if (code === 0) return { minutes, hasPassed: true, failures: [] }
  return { minutes, hasPassed: false, failures: failures.size > 0 ? [...failures] : [lastLine] }
}

/** A file or test of Jest, or a check of a rehearsal. */
const failureIn = (line: string): string | undefined =>
  /^(?:FAIL | {2}● |Failed: )(.+?)(?: \([\d.]+ s\))?$/.exec(line)?.[1]
