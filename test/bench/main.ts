import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { printError, printLine } from '../../src/platform/output.ts'
import { defaultParts, parts } from './parts.ts'
import type { Section } from './report.ts'

const FILE = 'bench-latest.json'
const MACHINE = { cpus: availableParallelism(), node: process.version }

async function bench(names: readonly string[], folder: string): Promise<string> {
  const sections: Section[] = []
  for (const name of names) {
    printLine(name)
    const section = await parts[name]?.(folder)
    if (section) sections.push(section)
  }
  const report = Object.assign({ machine: MACHINE }, ...sections.map(({ figures }) => figures))
  writeFileSync(FILE, `${JSON.stringify(report, null, 2)}\n`)
  return [
    `${MACHINE.cpus} processors shared by server, PostgreSQL (fsync on) and load; Node ${MACHINE.node}`,
    ...sections.map(({ text }) => text),
  ].join('\n\n')
}

/** Ends at once; the child processes end with it. */
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130))

const requested = process.argv.slice(2)
const all = Object.keys(parts)
if (requested.every(name => all.includes(name))) {
  const folder = mkdtempSync(join(tmpdir(), 'agentpay-bench-'))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  printLine(`\n${await bench(requested.length > 0 ? requested : defaultParts, folder)}\n\nAs JSON: ${FILE}`)
} else {
  printError(`Say some of: ${all.join(', ')}.`)
  process.exitCode = 1
}
