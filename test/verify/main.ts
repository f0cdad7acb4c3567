import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { printError, printLine } from '../../src/platform/output.ts'
import { parts } from './parts.ts'
import { hasPassed, type Outcome, runPart, type Try } from './run-part.ts'

/** The last outcome of each part, for `--failed`. */
const FILE = 'verify-latest.json'

const readLatest = (): Record<string, Outcome> =>
  existsSync(FILE) ? JSON.parse(readFileSync(FILE, 'utf8')) : {}

const failedLately = (): string[] =>
  Object.values(readLatest())
    .filter(outcome => !hasPassed(outcome))
    .map(({ part }) => part)

/** Runs parts one after the other, each to its end, and says after each how far it is. */
async function verify(names: readonly string[]): Promise<Outcome[]> {
  const outcomes: Outcome[] = []
  for (const [index, name] of names.entries()) {
    printLine(`\nverify: ${name}, part ${index + 1} of ${names.length}${soFar(outcomes)}`)
    const part = parts[name]
    if (!part) continue
    const outcome = await runPart(name, part)
    outcomes.push(outcome)
    writeFileSync(FILE, `${JSON.stringify({ ...readLatest(), [name]: outcome }, null, 2)}\n`)
  }
  return outcomes
}

const sum = (tries: readonly Try[]): number => tries.reduce((minutes, one) => minutes + one.minutes, 0)

function soFar(outcomes: readonly Outcome[]): string {
  if (outcomes.length === 0) return ''
  const failed = outcomes.filter(outcome => !hasPassed(outcome)).map(({ part }) => part)
  const minutes = sum(outcomes.flatMap(({ tries }) => tries)).toFixed(1)
  return `, after ${minutes} minutes; failed: ${failed.join(', ') || 'none'}`
}

function row(outcome: Outcome): string {
  const { part, tries, load } = outcome
  const minutes = tries.map(one => one.minutes.toFixed(1)).join(' + ')
  const result = hasPassed(outcome) ? `passed at the ${tries.length > 1 ? 'second' : 'first'} try` : 'FAILED'
  const failures = tries.map(one => one.failures.join('; ')).filter(Boolean)
  return `| ${part} | ${minutes} | ${load.toFixed(1)} | ${result} | ${failures.join(' / then: ')} |`
}

function printTable(outcomes: readonly Outcome[]): void {
  const commit = spawnSync('git', ['describe', '--always', '--dirty'], { encoding: 'utf8' }).stdout.trim()
  printLine(`\nCommit ${commit}, ${availableParallelism()} processors, ${process.version}`)
  printLine('\n| part | minutes | load at its end | result | what failed |\n|---|--:|--:|---|---|')
  for (const outcome of outcomes) printLine(row(outcome))
  const passed = outcomes.filter(hasPassed).length
  const minutes = sum(outcomes.flatMap(({ tries }) => tries)).toFixed(1)
  printLine(`\n${passed} of ${outcomes.length} parts passed, in ${minutes} minutes.`)
}

const requested = process.argv.slice(2)
const all = Object.keys(parts)
const names = requested[0] === '--failed' ? failedLately() : requested.length > 0 ? requested : all
const unknown = names.filter(name => !all.includes(name))
if (unknown.length > 0) {
  printError(`There is no part ${unknown.join(', ')}. Say --failed, or some of: ${all.join(', ')}.`)
  process.exitCode = 1
} else {
  const outcomes = await verify(names)
  printTable(outcomes)
  process.exitCode = outcomes.every(hasPassed) ? 0 : 1
}
