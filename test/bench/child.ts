import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync, readFileSync } from 'node:fs'
import { until } from '../support/until.ts'

/** A program under measurement, in a process of its own. */
export interface Running {
  /** What it says when it is ready. */
  readonly said: string
  /** What the process has used of the processor until now. */
  cpuSeconds(): number
  memoryMegabytes(): number
  stop(): Promise<void>
}

/** One that listens. */
export interface Served extends Running {
  readonly url: string
}

const TICKS_A_SECOND = 100

/** Node's own flags, as for a profile: `BENCH_NODE='--cpu-prof --cpu-prof-dir=.data/profiles' npm run bench`. */
const flags = process.env.BENCH_NODE?.split(' ') ?? []

/** None of them outlives the bench, however that ends. */
const children = new Set<ChildProcess>()
process.once('exit', () => children.forEach(child => void child.kill('SIGKILL')))

function tracked<T extends ChildProcess>(child: T): T {
  children.add(child)
  return child.once('exit', () => children.delete(child))
}

type Env = Readonly<Record<string, string>>

interface Start {
  readonly command: readonly string[]
  readonly log: string
  readonly env: Env
}

/** Starts a program, its output going to a file as a service's would, and waits until it says that it is ready. */
export async function start({ command, log, env }: Start, ready: RegExp): Promise<Running> {
  const output = openSync(log, 'w')
  const [program = '', ...args] = command
  const all = { PATH: process.env.PATH, ...env }
  const child = tracked(spawn(program, args, { env: all, stdio: ['ignore', output, output] }))
  closeSync(output)
  const written = () => readFileSync(log, 'utf8')
  const [said] = await until(`${ready} in ${log}`, () => {
    if (child.exitCode !== null) throw new Error(written())
    return ready.exec(written())
  })
  return {
    said,
    cpuSeconds: () => cpuOf(child.pid),
    memoryMegabytes: () => memoryOf(child.pid),
    async stop() {
      if (child.exitCode !== null) return
      child.kill('SIGTERM')
      await once(child, 'exit')
    },
  }
}

/** Starts a server and waits until it says where it listens. */
export async function serve(command: readonly string[], log: string, env: Env): Promise<Served> {
  const running = await start({ command, log, env }, /http:\S+/)
  return { ...running, url: running.said }
}

/** Linux alone shows them so: measuring is done there. */
const proc = (pid: number | undefined, name: string) => readFileSync(`/proc/${pid}/${name}`, 'utf8')

/** The fields of `/proc/<pid>/stat` behind the name, which is in brackets: from the third on. */
const statOf = (pid: number | undefined): number[] =>
  (proc(pid, 'stat').split(') ')[1]?.split(' ') ?? []).map(Number)

/** What a process has used of the processor, in seconds. */
export function cpuOf(pid: number | undefined): number {
  const fields = statOf(pid)
  return ((fields[11] ?? 0) + (fields[12] ?? 0)) / TICKS_A_SECOND
}

/** What those children of a process that have ended had used of the processor, in seconds. */
export function endedChildrenCpuOf(pid: number | undefined): number {
  const fields = statOf(pid)
  return ((fields[13] ?? 0) + (fields[14] ?? 0)) / TICKS_A_SECOND
}

export const parentOf = (pid: number | undefined): number => statOf(pid)[1] ?? 0

/** What a process has in memory, in megabytes. */
export const memoryOf = (pid: number | undefined): number =>
  Number(/VmRSS:\s+(\d+)/.exec(proc(pid, 'status'))?.[1]) / 1024

/** A program of ours under the Node that we run on. */
export const node = (file: string): string[] => [process.execPath, ...flags, file]

/** What a program says from its start to its end. */
export function outputOf(command: string, args: readonly string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    tracked(execFile(command, [...args], (error, stdout) => (error ? reject(error) : resolve(stdout))))
  })
}

/** What one of ours prints in the end, told what to do in its argument; both as JSON. */
export async function answerOf<T>(file: string, input: unknown): Promise<T> {
  const [program = '', ...args] = node(file)
  return JSON.parse(await outputOf(program, [...args, JSON.stringify(input)]))
}
