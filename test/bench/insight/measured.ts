import pg from 'pg'
import { countSpend } from '../../../src/insight/spend/index.ts'
import { printLine } from '../../../src/platform/output.ts'
import { type Case, measure } from '../case.ts'
import { intentCases } from '../cases/intent-cases.ts'
import { fillWallets, transferCases } from '../cases/transfer-cases.ts'
import { onSizes, secondsSince } from '../database/sizes.ts'
import { besideProcess, median, type Pair, sharesOf, shareText } from '../load/beside.ts'
import { type Section, tableLine, wholeNumber } from '../report.ts'
import { usualOrShort } from '../short.ts'
import { onStage, type Stage } from '../stage.ts'
import { millisecondsOfOne } from './forecast.ts'
import { REPORTS, type Reading, type Report, readPlain, readReport } from './reports.ts'
import { addPayments, fillPayments } from './rows.ts'

const SIZES = usualOrShort([10_000, 10_000_000], [1_000, 10_000])
const TIMES = usualOrShort(40, 3)
const BATCHES = usualOrShort(500, 5)
const IN_EACH = 100
const SECONDS = usualOrShort(3, 0.5)
const CONNECTIONS = 32

const reports = Object.keys(REPORTS) as Report[]

interface Sized {
  readonly payments: number
  readonly readings: Readonly<Record<string, Reading>>
  readonly plain: { readonly costs: number; readonly merchants: number }
}

async function measureSizes(stages: readonly Stage[]): Promise<Sized[]> {
  const readings = stages.map((): Record<string, Reading> => ({}))
  for (const report of reports)
    for (const [n, reading] of (await readReport(stages, report, TIMES)).entries()) {
      ;(readings[n] as Record<string, Reading>)[report] = reading
      const { milliseconds, blocks } = reading
      printLine(
        `  ${report} of ${wholeNumber(SIZES[n] as number)}: ${milliseconds.toFixed(1)} ms, ${wholeNumber(blocks)} blocks`,
      )
    }
  const sized: Sized[] = []
  for (const [n, stage] of stages.entries()) {
    const plain = { costs: await readPlain(stage, 'costs'), merchants: await readPlain(stage, 'merchants') }
    sized.push({ payments: SIZES[n] as number, readings: readings[n] as Record<string, Reading>, plain })
  }
  return sized
}

/** Payments per second of the follower, with all of them there from the beginning. */
async function followerRate(stage: Stage): Promise<number> {
  await addPayments(stage, BATCHES, IN_EACH)
  const pool = new pg.Pool({ connectionString: stage.databaseUrl, max: 1 })
  const began = performance.now()
  await countSpend({ pool })
  const rate = (BATCHES * IN_EACH) / secondsSince(began)
  await pool.end()
  return rate
}

const besideFollower = (stage: Stage, load: Case): Promise<Pair[]> =>
  besideProcess(stage, 'test/bench/insight/follower.ts', () => measure(stage, load, CONNECTIONS, SECONDS))

/** Transfers and intents, each on its own database, as elsewhere in the bench. */
async function measureFollower(folder: string) {
  const [counted, transfers] = await onStage(folder, 'follower', async stage => {
    const rate = await followerRate(stage)
    await fillWallets(stage)
    return [rate, await besideFollower(stage, caseNamed('transfers', transferCases(stage)))] as const
  })
  const intents = await onStage(folder, 'followed-intents', async stage =>
    besideFollower(stage, caseNamed('intents', await intentCases(stage))),
  )
  const paid = median(transfers.map(({ alone }) => alone.perSecond))
  return {
    counted,
    paid,
    transfers: sharesOf(transfers),
    intents: sharesOf(intents),
    pairs: { transfers, intents },
  }
}

function caseNamed(wanted: string, cases: readonly Case[]): Case {
  const found = cases.find(({ name }) => name === wanted)
  if (!found) throw new Error(`${wanted} is no case of the other parts`)
  return found
}

function textOf(
  sizes: readonly Sized[],
  follower: Awaited<ReturnType<typeof measureFollower>>,
  forecastMs: number,
): string {
  const [few, many] = sizes as [Sized, Sized]
  const cell = ({ milliseconds, blocks }: Reading) =>
    `${milliseconds.toFixed(1)} ms ${wholeNumber(blocks)} blocks`
  const rows = reports.map(name => {
    const [one, other] = [few.readings[name] as Reading, many.readings[name] as Reading]
    const times = `${(other.milliseconds / one.milliseconds).toFixed(2)} of time, ${(other.blocks / one.blocks).toFixed(2)} of blocks`
    return tableLine([REPORTS[name], cell(one), cell(other), times])
  })
  const plain = (['costs', 'merchants'] as const).map(name => {
    const reading = many.readings[name] as Reading
    return tableLine([
      `the sum of ${name} by plain SQL, and how many times faster the report is; 50 is meant`,
      `${few.plain[name].toFixed(1)} ms`,
      `${many.plain[name].toFixed(1)} ms`,
      (many.plain[name] / reading.milliseconds).toFixed(0),
    ])
  })
  return [
    'reports of thirty days by HTTP, one after the other: median time, and pages of PostgreSQL; at most 1.3 is meant',
    tableLine(['payments in the year', ...sizes.map(({ payments }) => wholeNumber(payments)), 'ratio']),
    ...rows,
    ...plain,
    '',
    `the follower counts ${wholeNumber(follower.counted)} payments a second; transfers alone make ${wholeNumber(follower.paid)}: ${(follower.counted / follower.paid).toFixed(2)}, 1.5 is meant`,
    `with the follower beside it: POST /transfers ${shareText(follower.transfers)}, POST /intents ${shareText(follower.intents)}; 0.97 is meant`,
    `a forecast of a year of days with its backtest: ${forecastMs.toFixed(0)} ms; at most 50 is meant`,
  ].join('\n')
}

/** The cost of reports with few and with many payments, and the cost of their sums for payers. */
export async function measureInsight(folder: string): Promise<Section> {
  const sizes = await onSizes(folder, SIZES, { what: 'payments', fill: fillPayments }, measureSizes)
  const follower = await measureFollower(folder)
  const forecastMs = millisecondsOfOne()
  return { figures: { insight: { sizes, follower, forecastMs } }, text: textOf(sizes, follower, forecastMs) }
}
