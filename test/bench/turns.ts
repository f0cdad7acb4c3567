import { join, resolve } from 'node:path'
import { printLine } from '../../src/platform/output.ts'
import { type Case, measure, type Result } from './case.ts'
import { hasPgbench, pgbench } from './database/pgbench.ts'
import { openMerchant } from './machine/payments.ts'
import { ratio, type Section, wholeNumber } from './report.ts'
import { usualOrShort } from './short.ts'
import { onStage, type Stage } from './stage.ts'

/** A checkout of the older version, with its packages. */
const OLDER = process.env.BENCH_OLDER
const CONNECTIONS = usualOrShort([1, 32], [1])
const ROUNDS = usualOrShort(5, 1)
const SECONDS = usualOrShort(1, 0.5)
const PGBENCH_CLIENTS = 8

type CasesOf = (stage: Stage, checkout: string) => Promise<readonly Case[]>

/** The cases are those of the version: its schema may refuse the rows and the SQL of another one. */
const casesIn: Readonly<Record<'transfers' | 'intents' | 'approvals' | 'plain' | 'machine', CasesOf>> = {
  async transfers(stage, checkout) {
    const { fillWallets, transferCases }: typeof import('./cases/transfer-cases.ts') = await import(
      join(checkout, 'test/bench/cases/transfer-cases.ts')
    )
    await fillWallets(stage)
    return transferCases(stage)
  },
  async intents(stage, checkout) {
    const { intentCases }: typeof import('./cases/intent-cases.ts') = await import(
      join(checkout, 'test/bench/cases/intent-cases.ts')
    )
    return intentCases(stage)
  },
  async approvals(stage, checkout) {
    const { addPerson, approvalCases }: typeof import('./cases/approval-cases.ts') = await import(
      join(checkout, 'test/bench/cases/approval-cases.ts')
    )
    const [ofOnePerson = []] = await approvalCases(stage, await addPerson(stage))
    return ofOnePerson
  },
  async plain(stage, checkout) {
    const { plainCases }: typeof import('./cases/plain-cases.ts') = await import(
      join(checkout, 'test/bench/cases/plain-cases.ts')
    )
    return plainCases(stage)
  },
  async machine(stage, checkout) {
    const { fillPayers, openApi, payingCase }: typeof import('./machine/payments.ts') = await import(
      join(checkout, 'test/bench/machine/payments.ts')
    )
    const merchant = await openMerchant(stage, 'merchant')
    await fillPayers(stage)
    const here = process.cwd()
    process.chdir(checkout)
    const open = await openApi(stage)
    process.chdir(here)
    return [
      payingCase(stage, open, `${merchant.url}/report`, 'paid by card'),
      payingCase(stage, open, `${merchant.url}/shared`, 'paid by stripe'),
    ]
  },
}

interface Version {
  readonly stage: Stage
  readonly cases: readonly Case[]
}

/**
 * The requests a second of this version, of the older one, and of pgbench in each one’s database; and the processor time
 * of each server for a request, in microseconds; and the 99th percentile of the answers, in milliseconds.
 */
type Rates = Readonly<
  Record<'now' | 'before' | 'sqlNow' | 'sqlBefore' | 'cpuNow' | 'cpuBefore' | 'p99Now' | 'p99Before', number>
>

/** The medians of the rounds. */
interface Turns extends Rates {
  readonly name: string
  readonly connections: number
}

/**
 * Two versions on one machine at one time, each with a PostgreSQL of its own. They are measured in turns of a second,
 * since other load, and a virtual machine, vary from minute to minute by more than versions do.
 */
export async function measureInTurns(folder: string, part: keyof typeof casesIn): Promise<Section> {
  if (!OLDER || !hasPgbench())
    throw new Error('BENCH_OLDER must name a checkout of the older version, and pgbench be on the PATH.')
  const [here, there] = [process.cwd(), resolve(OLDER)]
  const { onStage: onOlderStage }: { onStage: typeof onStage } = await import(
    join(there, 'test/bench/stage.ts')
  )
  const { turns, memory } = await onStage(folder, `${part}-now`, async now => {
    // Programs are started by relative paths.
    process.chdir(there)
    return onOlderStage(folder, `${part}-before`, async before => {
      process.chdir(here)
      const cases = casesIn[part]
      const measured = await measureTurns(
        { stage: now, cases: await cases(now, here) },
        { stage: before, cases: await cases(before, there) },
      )
      const memory = `memory of the API after it: ${wholeNumber(before.api.memoryMegabytes())} MB before, ${wholeNumber(now.api.memoryMegabytes())} now`
      return { turns: measured, memory }
    })
  })
  return {
    figures: { [`turns-${part}`]: turns },
    text: [HEAD, RULE, ...turns.map(lineOf), '', memory].join('\n'),
  }
}

async function measureTurns(now: Version, before: Version): Promise<Turns[]> {
  const turns: Turns[] = []
  for (const connections of CONNECTIONS)
    for (const [n, { name }] of now.cases.entries()) {
      const rounds: Rates[] = []
      for (let round = 0; round < ROUNDS; round++) {
        const ofNow = await resultOf(now, n, connections)
        const ofBefore = await resultOf(before, n, connections)
        rounds.push({
          now: ofNow.perSecond,
          before: ofBefore.perSecond,
          cpuNow: ofNow.cpuMicroseconds,
          cpuBefore: ofBefore.cpuMicroseconds,
          p99Now: ofNow.p99,
          p99Before: ofBefore.p99,
          sqlNow: await sqlRateOf(now, n, connections),
          sqlBefore: await sqlRateOf(before, n, connections),
        })
      }
      const middle = (of: keyof Rates): number => median(rounds.map(round => round[of]))
      turns.push({
        ...{ name, connections, now: middle('now'), before: middle('before') },
        ...{ cpuNow: middle('cpuNow'), cpuBefore: middle('cpuBefore') },
        ...{ p99Now: middle('p99Now'), p99Before: middle('p99Before') },
        ...{ sqlNow: middle('sqlNow'), sqlBefore: middle('sqlBefore') },
      })
      printLine(`  ${lineOf(turns.at(-1) as Turns)}`)
    }
  return turns
}

const resultOf = ({ stage, cases }: Version, n: number, connections: number): Promise<Result> =>
  measure(stage, cases[n] as Case, connections, SECONDS)

async function sqlRateOf({ stage, cases }: Version, n: number, connections: number): Promise<number> {
  const equivalent = await cases[n]?.sqlEquivalent?.()
  if (!equivalent) return Number.NaN
  const clients = connections === 1 ? 1 : PGBENCH_CLIENTS
  return (await pgbench(equivalent, 'statements', stage, SECONDS, clients)).perSecond
}

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN

const HEAD =
  '| case | connections | before, /s | now, /s | now / before | processor time, now / before | p99, now / before | of pgbench before | of pgbench now |'
const RULE = '|---|--:|--:|--:|--:|--:|--:|--:|--:|'

const lineOf = ({ name, connections, ...turns }: Turns): string => {
  const { now, before, cpuNow, cpuBefore, p99Now, p99Before, sqlNow, sqlBefore } = turns
  const rates = `${wholeNumber(before)} | ${wholeNumber(now)} | ${ratio(now, before)} | ${ratio(cpuNow, cpuBefore)} | ${ratio(p99Now, p99Before)}`
  return `| ${name} | ${connections} | ${rates} | ${ratio(before, sqlBefore)} | ${ratio(now, sqlNow)} |`
}
