import { printLine } from '../../src/platform/output.ts'
import { type Case, measure, type Result } from './case.ts'
import { hasPgbench, type Manner, type OneAtATime, pgbench } from './database/pgbench.ts'
import type { Stage } from './stage.ts'

export const CONNECTIONS = [1, 8, 32, 128]
/** At this load a hot operation is compared with PostgreSQL by itself, one measured right after the other. */
const COMPARED_AT = 32
const SECONDS = 1.5
/** Everything in turn, twice: the better one counts, as the machine may have had other things to do. */
const ROUNDS = 2

const MANNERS: readonly Manner[] = ['statements', 'one statement']

export interface Loads {
  readonly results: readonly Result[]
  readonly calls: readonly OneAtATime[]
}

/** All cases at every number of connections, and where it is the one to compare at, PostgreSQL by itself. */
export async function measureLoads(stage: Stage, cases: readonly Case[], seconds = SECONDS): Promise<Loads> {
  const results: Result[] = []
  const calls: OneAtATime[] = []
  if (!hasPgbench()) printLine('  pgbench is not on the PATH: what it would be compared with is left out.')
  const compared = hasPgbench() ? cases.filter(({ alone }) => alone) : []
  for (const connections of CONNECTIONS) {
    const rounds = { results: [] as Result[][], calls: [] as OneAtATime[][] }
    for (let round = 0; round < ROUNDS; round++) {
      rounds.results.push(await loadAll(stage, cases, connections, seconds))
      if (connections === COMPARED_AT) rounds.calls.push(await callAll(stage, compared))
    }
    results.push(...bestOf(rounds.results))
    calls.push(...bestOf(rounds.calls))
  }
  return { results, calls }
}

async function loadAll(
  stage: Stage,
  cases: readonly Case[],
  connections: number,
  seconds: number,
): Promise<Result[]> {
  const results: Result[] = []
  for (const benchCase of cases) results.push(await measure(stage, benchCase, connections, seconds))
  printLine(`  ${connections} connections: ${summary(results)}`)
  return results
}

async function callAll(stage: Stage, cases: readonly Case[]): Promise<OneAtATime[]> {
  const calls: OneAtATime[] = []
  for (const benchCase of cases)
    for (const manner of benchCase.manners ?? MANNERS) calls.push(await call(stage, benchCase, manner))
  printLine(`  pgbench: ${summary(calls)}`)
  return calls
}

/** A version with another schema may refuse the statements: what does not depend on them is measured all the same. */
async function call(stage: Stage, { name, alone }: Case, manner: Manner): Promise<OneAtATime> {
  try {
    // Asked for each time: what one manner has approved does not wait for the other.
    const measured = alone && (await pgbench(await alone(), manner, stage, SECONDS))
    return { name, manner, ...(measured ?? UNMEASURED) }
  } catch (error) {
    printLine(`  ${name} by pgbench is left out: ${/ERROR: .*/.exec(String(error))?.[0] ?? error}`)
    return { name, manner, ...UNMEASURED }
  }
}

const UNMEASURED = { perSecond: 0, databaseMicroseconds: 0 }

interface Rate {
  readonly name: string
  readonly perSecond: number
}

const summary = (rates: readonly Rate[]): string =>
  rates.map(({ name, perSecond }) => `${name} ${Math.round(perSecond)}`).join(', ')

/** Of several rounds over the same list, the better figure at each place. */
const bestOf = <T extends Rate>(rounds: readonly (readonly T[])[]): T[] =>
  rounds.reduce<T[]>(
    (best, round) =>
      round.map((rate, n) => (rate.perSecond > (best[n]?.perSecond ?? 0) ? rate : (best[n] ?? rate))),
    [],
  )
