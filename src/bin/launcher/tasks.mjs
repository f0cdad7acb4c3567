import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { host } from '../../dev/host.mjs'
import { handOver, projectNode } from './hand-over.mjs'
import { install } from './install.mjs'

const JEST = [
  '--experimental-vm-modules',
  '--disable-warning=ExperimentalWarning',
  'node_modules/jest/bin/jest.js',
]

const tasks = {
  start: args => handOver(['src/bin/start.ts', ...args]),
  test: args => handOver([...JEST, ...args, ...parts(args)]),
  bench: args => handOver(['test/bench/main.ts', ...args]),
  topology: args => handOver(['test/production/topology.ts', ...args]),
  openapi: args => handOver(['src/bin/openapi.ts', ...args]),
  reset: args => handOver(['src/bin/reset.ts', ...args]),
  check,
}

/**
 * A part of a test file is run alone when it is named by its path. Jest looks for whole test files only, so it is told
 * of the part.
 */
function parts(args) {
  const named = args.filter(arg => /^test\/.*(?<!\.test)\.ts$/.test(arg) && existsSync(arg))
  const patterns = named.length === 0 ? [] : ['**/*.test.ts', ...named.map(path => `<rootDir>/${path}`)]
  return patterns.map(pattern => `--testMatch=${pattern}`)
}

/** Does what a script of `package.json` names, in the checkout, with everything installed. */
export async function run(name, args) {
  try {
    process.chdir(join(dirname(fileURLToPath(import.meta.url)), '../../..'))
    if (host.refusal) throw new Error(host.refusal)
    if (!Object.hasOwn(tasks, name)) throw new Error(`Say one of: ${Object.keys(tasks).join(', ')}.`)
    await install()
    tasks[name](args)
  } catch (error) {
    process.stderr.write(`${error.message}\n`)
    process.exitCode = 1
  }
}

function check() {
  step('Types', ['node_modules/typescript/bin/tsc', '--checkers', '1'])
  step('Lint and format', ['node_modules/@biomejs/biome/bin/biome', 'check', '.'])
  step('Tidiness, and what is written twice', [...JEST, '--config=test/drift.config.js', '--runInBand'])
}

function step(what, args) {
  process.stdout.write(`${what}\n`)
  if (spawnSync(projectNode(), args, { stdio: 'inherit' }).status !== 0)
    throw new Error(`${what}: not in order.`)
}
