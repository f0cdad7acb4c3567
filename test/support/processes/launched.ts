import { type ChildProcess, spawn } from 'node:child_process'
import { afterAll } from '@jest/globals'
import { until } from '../until.ts'

export interface Launched {
  pid: number
  output(): string
  untilOutput(pattern: RegExp): Promise<RegExpExecArray>
  kill(signal: NodeJS.Signals): void
  exit: Promise<number | null>
}

const children: ChildProcess[] = []

/**
 * Runs a command in a clean environment, with nothing of this run but Node's compile cache. It ends on a
 * deprecation.
 */
export function launch(command: string, args: string[], env: Record<string, string> = {}): Launched {
  const { PATH, HOME, XDG_CACHE_HOME, NODE_COMPILE_CACHE } = process.env
  const child = spawn(command, args, {
    env: { PATH, HOME, XDG_CACHE_HOME, NODE_COMPILE_CACHE, NODE_OPTIONS: '--throw-deprecation', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  children.push(child)
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', text => {
      output += text
    })
  }
  return {
    pid: child.pid ?? 0,
    output: () => output,
    untilOutput: pattern => until(`${pattern} in ${output}`, () => pattern.exec(output)),
    kill: signal => child.kill(signal),
    exit: new Promise(resolve => child.once('close', resolve)),
  }
}

afterAll(() => {
  for (const child of children) child.kill('SIGKILL')
})
