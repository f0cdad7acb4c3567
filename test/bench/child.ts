import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync, readFileSync } from 'node:fs'
import { settingVariables } from '../../src/platform/settings/settings.ts'
import { DEADLINE_MS, until } from '../support/until.ts'
import { inMemoryGroup } from './memory-limits.ts'

export interface Running {
  /** The program's ready line. */
  readonly said: string
  cpuSeconds(): number
  memoryMegabytes(): number
  stop(): Promise<void>
  /** With SIGKILL. */
  kill(): Promise<void>
}

export interface Served extends Running {
  readonly url: string
}

const TICKS_A_SECOND = 100

/** Node's own flags, as for a profile: `BENCH_NODE='--cpu-prof --cpu-prof-dir=.data/profiles' npm run bench`. */
const flags = process.env.BENCH_NODE?.split(' ') ?? []

/** The child processes, which are killed when the bench ends. */
const children = new Set<ChildProcess>()
process.once('exit', () => children.forEach(child => void child.kill('SIGKILL')))

export function tracked<T extends ChildProcess>(child: T): T {
  children.add(child)
  return child.once('exit', () => children.delete(child))
}

type Env = Readonly<Record<string, string>>

interface Start {
  readonly command: readonly string[]
  readonly log: string
  readonly env: Env
  readonly cwd?: string
  readonly patienceMs?: number
}

/** Every setting, empty: a local `.env` may name a real bank's folder or a real database. */
const unset = Object.fromEntries(settingVariables().map(name => [name, '']))

/** Starts a program with its output in a log file, and waits for its ready line. One that is not ready in time is ended. */
export async function start(
  { command, log, env, cwd, patienceMs = DEADLINE_MS }: Start,
  ready: RegExp,
): Promise<Running> {
  const output = openSync(log, 'w')
  const [program = '', ...args] = command
  const all = { PATH: process.env.PATH, ...unset, ...env }
  const child = tracked(spawn(program, args, { env: all, cwd, stdio: ['ignore', output, output] }))
  closeSync(output)
  const written = () => readFileSync(log, 'utf8')
  const isReady = () => {
    if (child.exitCode !== null) throw new Error(written())
    return ready.exec(written())
  }
  const [said] = await until(`${ready} in ${log}`, isReady, patienceMs).catch(async error => {
    await end(child, 'SIGKILL')
    throw error
  })
  return {
    said,
    cpuSeconds: () => cpuOf(child.pid),
    memoryMegabytes: () => memoryOf(child.pid),
    stop: () => end(child, 'SIGTERM'),
    kill: () => end(child, 'SIGKILL'),
  }
}

async function end(child: ChildProcess, signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  child.kill(signal)
  await once(child, 'exit')
}

export async function serve(command: readonly string[], log: string, env: Env): Promise<Served> {
  const running = await start({ command, log, env }, /http:\S+/)
  return { ...running, url: running.said }
}

/** Reads a file of /proc, which exists only on Linux: the bench runs there. */
const proc = (pid: number | undefined, name: string) => readFileSync(`/proc/${pid}/${name}`, 'utf8')

/** The fields of a process in `/proc` from the third on, after the process name in parentheses. */
const statOf = (pid: number | undefined): number[] =>
  (proc(pid, 'stat').split(') ')[1]?.split(' ') ?? []).map(Number)

export function cpuOf(pid: number | undefined): number {
  const fields = statOf(pid)
  return ((fields[11] ?? 0) + (fields[12] ?? 0)) / TICKS_A_SECOND
}

export function endedChildrenCpuOf(pid: number | undefined): number {
  const fields = statOf(pid)
  return ((fields[13] ?? 0) + (fields[14] ?? 0)) / TICKS_A_SECOND
}

export const parentOf = (pid: number | undefined): number => statOf(pid)[1] ?? 0

export const memoryOf = (pid: number | undefined): number =>
  Number(/VmRSS:\s+(\d+)/.exec(proc(pid, 'status'))?.[1]) / 1024

export const node = (file: string): string[] => [...inMemoryGroup(file), process.execPath, ...flags, file]

export function outputOf(command: string, args: readonly string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    tracked(execFile(command, [...args], (error, stdout) => (error ? reject(error) : resolve(stdout))))
  })
}

export async function answerOf<T>(file: string, input: unknown): Promise<T> {
  const [program = '', ...args] = node(file)
  return JSON.parse(await outputOf(program, [...args, JSON.stringify(input)]))
}
