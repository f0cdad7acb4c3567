import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { openSync, readFileSync } from 'node:fs'
import { promisify } from 'node:util'
import { until } from '../support/until.ts'

/** A server under measurement, in a process of its own. */
export interface Served {
  readonly url: string
  /** What the process has used of the processor until now. */
  cpuSeconds(): number
  memoryMegabytes(): number
  stop(): Promise<void>
}

const TICKS_A_SECOND = 100

/** Node's own flags, as for a profile: `BENCH_NODE='--cpu-prof --cpu-prof-dir=.data/profiles' npm run bench`. */
const flags = process.env.BENCH_NODE?.split(' ') ?? []

/** Starts a server, its output going to a file as a service's would, and waits until it says where it listens. */
export async function serve(command: readonly string[], log: string, env: Env): Promise<Served> {
  const output = openSync(log, 'w')
  const [program = '', ...args] = command
  const child = spawn(program, args, {
    env: { PATH: process.env.PATH, ...env },
    stdio: ['ignore', output, output],
  })
  const written = () => readFileSync(log, 'utf8')
  const [url] = await until(`an address in ${log}`, () => {
    if (child.exitCode !== null) throw new Error(written())
    return /http:\S+/.exec(written())
  })
  const proc = (name: string) => readFileSync(`/proc/${child.pid}/${name}`, 'utf8')
  return {
    url,
    cpuSeconds() {
      // Behind the name, which is in brackets, come the fields from the third on.
      const fields = proc('stat').split(') ')[1]?.split(' ') ?? []
      return (Number(fields[11]) + Number(fields[12])) / TICKS_A_SECOND
    },
    memoryMegabytes: () => Number(/VmRSS:\s+(\d+)/.exec(proc('status'))?.[1]) / 1024,
    async stop() {
      child.kill('SIGTERM')
      await once(child, 'exit')
    },
  }
}

type Env = Readonly<Record<string, string>>

/** A program of ours under the Node that we run on. */
export const node = (file: string): string[] => [process.execPath, ...flags, file]

/** What a program says from its start to its end. */
export async function outputOf(command: string, args: readonly string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(command, [...args])
  return stdout
}
