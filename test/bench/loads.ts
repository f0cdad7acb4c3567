import { printLine } from '../../src/platform/output.ts'
import { type Case, measure, type Result } from './case.ts'
import { hasPgbench, pgbench, type SqlRate, type Variant } from './database/pgbench.ts'
import { usualOrShort } from './short.ts'
import type { Stage } from './stage.ts'

export const CONNECTIONS = usualOrShort([1, 8, 32, 128], [1, 8])
/**
 * The numbers of connections at which a hot operation is compared with its SQL, one right after the other, and how
 * many clients of pgbench run it then: one request alone beside one client, many beside as many as are best.
 */
const COMPARED_AT: ReadonlyMap<number, number> = new Map([
  [1, 1],
  [usualOrShort(32, 8), 8],
])
export const SECONDS = usualOrShort(1.5, 0.5)
/** How often everything is measured in turn; the better round counts, as other load varies. */
const ROUNDS = usualOrShort(2, 1)

const VARIANTS: readonly Variant[] = ['statements', 'one statement']

export interface Loads {
  readonly results: readonly Result[]
  readonly calls: readonly SqlRate[]
}

/** Measures all cases at each number of connections, and their SQL at one of these. */
export async function measureLoads(stage: Stage, cases: readonly Case[], seconds = SECONDS): Promise<Loads> {
  const results: Result[] = []
  const calls: SqlRate[] = []
  if (!hasPgbench()) printLine('  pgbench is not on the PATH: what it would be compared with is left out.')
  const compared = hasPgbench() ? cases.filter(({ sqlEquivalent }) => sqlEquivalent) : []
  for (const connections of CONNECTIONS) {
    const rounds = { results: [] as Result[][], calls: [] as SqlRate[][] }
    for (let round = 0; round < ROUNDS; round++) {
      rounds.results.push(await loadAll(stage, cases, connections, seconds))
      const clients = COMPARED_AT.get(connections)
      if (clients !== undefined) rounds.calls.push(await callAll(stage, compared, clients))
    }
    results.push(...bestOf(rounds.results, betterResult))
    calls.push(...bestOf(rounds.calls, betterCall))
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

async function callAll(stage: Stage, cases: readonly Case[], clients: number): Promise<SqlRate[]> {
  const calls: SqlRate[] = []
  for (const benchCase of cases)
    for (const variant of benchCase.variants ?? VARIANTS)
      calls.push(await call(stage, benchCase, variant, clients))
  printLine(`  pgbench, ${clients} clients: ${summary(calls)}`)
  return calls
}

/** Measures the SQL. Another version's schema may refuse it; then the rest is still measured. */
async function call(
  stage: Stage,
  { name, sqlEquivalent }: Case,
  variant: Variant,
  clients: number,
): Promise<SqlRate> {
  try {
    // A new variant for each measurement, as the intents of the previous one are approved already.
    const measured = sqlEquivalent && (await pgbench(await sqlEquivalent(), variant, stage, SECONDS, clients))
    return { name, variant, clients, ...(measured ?? UNMEASURED) }
  } catch (error) {
    printLine(`  ${name} by pgbench is left out: ${/ERROR: .*/.exec(String(error))?.[0] ?? error}`)
    return { name, variant, clients, ...UNMEASURED }
  }
}

const UNMEASURED = { perSecond: 0, databaseMicroseconds: 0 }

interface Rate {
  readonly name: string
  readonly perSecond: number
  readonly databaseMicroseconds: number
}

const summary = (rates: readonly Rate[]): string =>
  rates.map(({ name, perSecond }) => `${name} ${Math.round(perSecond)}`).join(', ')

const faster = <T extends Rate>(one: T, other: T): T => (other.perSecond > one.perSecond ? other : one)

/** The least processor time counts, whichever round is faster: a vacuum may have run in the other one. */
const betterResult = (one: Result, other: Result): Result => ({
  ...faster(one, other),
  cpuMicroseconds: Math.min(one.cpuMicroseconds, other.cpuMicroseconds),
  databaseMicroseconds: Math.min(one.databaseMicroseconds, other.databaseMicroseconds),
})

const betterCall = (one: SqlRate, other: SqlRate): SqlRate => ({
  ...faster(one, other),
  databaseMicroseconds: Math.min(one.databaseMicroseconds, other.databaseMicroseconds),
})

/** The better figures of several rounds at each position of the list. */
const bestOf = <T>(rounds: readonly (readonly T[])[], better: (one: T, other: T) => T): T[] =>
  rounds.reduce<T[]>(
    (best, round) => round.map((figures, n) => (best[n] === undefined ? figures : better(best[n], figures))),
    [],
  )
