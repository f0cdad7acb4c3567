import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { openSync, readFileSync } from 'node:fs'
import { text } from 'node:stream/consumers'
import { settingVariables } from '../../../src/platform/settings/settings.ts'
import { until } from '../../support/until.ts'

export interface Program {
  untilSays(pattern: RegExp): Promise<void>
  kill(signal: NodeJS.Signals): void
  readonly exit: Promise<unknown>
}

/** A program of a checkout, and its settings. */
export interface ProgramStart {
  readonly name: 'api' | 'worker' | 'relay' | 'start' | 'migrate' | 'namespace' | 'current' | 'agentpay'
  readonly checkout: string
  readonly env: Readonly<Record<string, string>>
}

/** Every setting, empty, so that no local `.env` is used. */
const unset = Object.fromEntries(settingVariables().map(name => [name, '']))

/** The programs end by themselves if this process is killed. */
const environment = (env: ProgramStart['env']): NodeJS.ProcessEnv => {
  const { PATH, HOME, XDG_CACHE_HOME, NODE_COMPILE_CACHE } = process.env
  const ours = { PATH, HOME, XDG_CACHE_HOME, NODE_COMPILE_CACHE, LAUNCHED_BY: String(process.pid) }
  return { ...ours, ...unset, ...env }
}

export function startProgram({ name, checkout, env }: ProgramStart, log: string): Program {
  const output = openSync(log, 'w')
  const child = spawn(process.execPath, [`src/bin/${name}.ts`], {
    cwd: checkout,
    env: environment(env),
    stdio: ['ignore', output, output],
  })
  const exit = once(child, 'exit')
  const said = () => readFileSync(log, 'utf8')
  return {
    exit,
    kill: signal => void child.kill(signal),
    async untilSays(pattern) {
      await until(`${name} says ${pattern}`, () => {
        if (child.exitCode !== null) throw new Error(`${name} has ended:\n${said()}`)
        return pattern.test(said())
      })
    },
  }
}

/** Runs a program to its end, and returns what it has written. */
export async function runProgram(
  { name, checkout, env }: ProgramStart,
  args: readonly string[] = [],
): Promise<string> {
  const child = spawn(process.execPath, [`src/bin/${name}.ts`, ...args], {
    cwd: checkout,
    env: environment(env),
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const exit = once(child, 'exit')
  const [said, error] = await Promise.all([text(child.stdout), text(child.stderr)])
  const [code] = await exit
  if (code !== 0) throw new Error(`${name} ${args.join(' ')} ended with ${code}:\n${said}${error}`)
  return said
}
