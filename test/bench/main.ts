import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { say } from '../../src/bin/say.ts'
import { removePostgres } from '../../src/platform/embedded-postgres.ts'
import { casesOf, measure, type Result } from './cases.ts'
import { hasPgbench, type Manner, pgbench } from './pgbench.ts'
import { openStage, POTS, type Stage } from './stage.ts'
import { table } from './table.ts'
import { warmStart } from './warm-start.ts'

const CONNECTIONS = [1, 8, 32, 128]
const SECONDS = 4
const FILE = 'bench-latest.json'

/** One call at a time, in the same run and the same database. */
export interface OneAtATime {
  readonly manner: Manner
  readonly pots: number
  readonly perSecond: number
}

async function loads(stage: Stage): Promise<Result[]> {
  const results: Result[] = []
  for (const connections of CONNECTIONS)
    for (const one of casesOf(stage)) {
      const result = await measure(one, connections, SECONDS)
      if (result.failed > 0) throw new Error(`${one.name}: ${result.failed} answers were failures`)
      say(`  ${one.name} at ${connections}: ${Math.round(result.perSecond)} a second`)
      results.push(result)
    }
  return results
}

async function oneAtATime({ databaseUrl, ownerId }: Stage, folder: string): Promise<OneAtATime[]> {
  if (!hasPgbench()) {
    say('  pgbench is not on the PATH: its part is left out.')
    return []
  }
  const results: OneAtATime[] = []
  for (const manner of ['statements', 'one statement'] as const)
    for (const pots of [POTS, 1]) {
      const perSecond = await pgbench(manner, { databaseUrl, ownerId, folder, pots, seconds: SECONDS })
      results.push({ manner, pots, perSecond })
    }
  return results
}

async function bench(folder: string): Promise<string> {
  say('Warm start')
  const startSeconds = await warmStart(folder)
  say('Loads')
  const stage = await openStage(folder)
  try {
    const memoryBefore = stage.api.memoryMegabytes()
    const results = await loads(stage)
    const memoryAfter = stage.api.memoryMegabytes()
    say('One call at a time')
    const calls = await oneAtATime(stage, folder)
    const machine = { cpus: availableParallelism(), node: process.version }
    const report = { machine, startSeconds, memoryBefore, memoryAfter, results, calls }
    writeFileSync(FILE, `${JSON.stringify(report, null, 2)}\n`)
    return table(report)
  } finally {
    await stage.close()
  }
}

const folder = mkdtempSync(join(tmpdir(), 'agentpay-bench-'))
try {
  say(`\n${await bench(folder)}\n\nAs JSON: ${FILE}`)
} finally {
  await removePostgres(folder)
  rmSync(folder, { recursive: true, force: true })
}
