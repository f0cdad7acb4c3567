import { spawn, spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { host } from '../../dev/host.mjs'
import { changedFiles, testsOf } from './changed-tests.mjs'
import { hasCommandTable } from './command-table.mjs'
import { handOver, projectNode } from './hand-over.mjs'
import { install } from './install.mjs'

const JEST = [
  '--experimental-vm-modules',
  // Modules are loaded anew for each file: collecting small heaps would take a tenth of the processor time.
  '--max-semi-space-size=64',
  '--initial-old-space-size=700',
  '--disable-warning=ExperimentalWarning',
  'node_modules/jest/bin/jest.js',
]

const tasks = {
  start: args => handOver(['src/bin/start.ts', ...args]),
  test: args => handOver([...JEST, ...args, ...parts(args)]),
  'test:changed': testChanged,
  'test:slow': args => handOver([...JEST, '--config=test/slow.config.js', ...args]),
  'test:peers': args => handOver([...JEST, '--config=test/peers.config.js', ...args]),
  bench: args => handOver(['test/bench/main.ts', ...args]),
  verify: args => handOver(['test/verify/main.ts', ...args]),
  topology: args => handOver(['test/production/topology.ts', ...args]),
  builds: args => handOver(['test/production/builds.ts', ...args]),
  drill: args => handOver(['test/production/drill.ts', ...args]),
  commands: args => handOver(['src/bin/commands.ts', ...args]),
  openapi: args => handOver(['src/bin/openapi.ts', ...args]),
  packages: args => handOver(['src/bin/packages.ts', ...args]),
  reset: args => handOver(['src/bin/reset.ts', ...args]),
  check,
}

/** They run on the packages of the service alone. */
const withoutDevelopment = new Set(['start', 'reset', 'commands', 'packages'])

/** They write the table of commands themselves, or need none. */
const withoutTable = new Set(['reset', 'commands', 'openapi'])

/** Jest finds only whole test files, so a part of one that is named by its path is passed separately. */
function parts(args) {
  const named = args.filter(arg => /^test\/.*(?<!\.test)\.ts$/.test(arg) && existsSync(arg))
  const patterns = named.length === 0 ? [] : ['**/*.test.ts', ...named.map(path => `<rootDir>/${path}`)]
  return patterns.map(pattern => `--testMatch=${pattern}`)
}

function testChanged(args) {
  const { changed, files } = changedFiles()
  const { tests, nouns, untested } = testsOf(changed, files)
  if (untested.length > 0)
    process.stdout.write(`No test of its own, so run npm test: ${untested.join(', ')}\n`)
  if (tests.length === 0) return
  const called = nounsOf(JSON.parse(readFileSync('commands.json', 'utf8')).operations)
  const own = nouns.filter(noun => called.has(noun))
  process.env.NOUNS = own.join()
  const all = [...tests, ...(own.length > 0 ? ['test/contract/of-nouns.ts'] : [])]
  process.stdout.write(`${all.join('\n')}\n`)
  handOver([...JEST, ...args, ...all.map(path => `--testMatch=<rootDir>/${path}`)])
}

const nounsOf = operations => new Set(Object.keys(operations).map(key => key.split('.')[0]))

function writeCommandTable() {
  const { status } = spawnSync(projectNode(), ['src/bin/commands.ts'], { stdio: 'inherit' })
  if (status !== 0) throw new Error('commands.json could not be written.')
}

export async function run(name, args) {
  try {
    process.chdir(join(dirname(fileURLToPath(import.meta.url)), '../../..'))
    if (host.refusal) throw new Error(host.refusal)
    if (!Object.hasOwn(tasks, name)) throw new Error(`Say one of: ${Object.keys(tasks).join(', ')}.`)
    await install({ dev: !withoutDevelopment.has(name) })
    if (!withoutTable.has(name) && !hasCommandTable('.')) writeCommandTable()
    await tasks[name](args)
  } catch (error) {
    process.stderr.write(`${error.message}\n`)
    process.exitCode = 1
  }
}

/**
 * Runs all parts to their end, concurrently: a forgotten registration fails several parts, and one of them
 * names the remedy.
 */
async function check() {
  const parts = [
    part('Types', ['node_modules/typescript/bin/tsc', '--checkers', '1']),
    part('Types of scripts in pages', [
      'node_modules/typescript/bin/tsc',
      '--project',
      'tsconfig.scripts.json',
    ]),
    part('Lint and format', ['node_modules/@biomejs/biome/bin/biome', 'check', '.']),
    part('Tidiness, and what is written twice', [...JEST, '--config=test/drift.config.js', '--runInBand']),
  ]
  const failed = (await Promise.all(parts)).filter(({ isInOrder }) => !isInOrder)
  if (failed.length > 0) throw new Error(`Not in order: ${failed.map(({ name }) => name).join('; ')}.`)
}

/** Buffers the output of a part until its end, so that parts do not mix. */
function part(name, args) {
  const child = spawn(projectNode(), args, { stdio: ['ignore', 'pipe', 'pipe'] })
  const output = []
  for (const stream of [child.stdout, child.stderr]) stream.on('data', chunk => output.push(chunk))
  return new Promise(resolve => {
    child.once('close', code => {
      process.stdout.write(`${name}\n`)
      process.stdout.write(Buffer.concat(output))
      resolve({ name, isInOrder: code === 0 })
    })
  })
}
