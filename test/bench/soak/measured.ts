import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { freePort } from '../../../src/dev/processes/free-port.ts'
import { printLine } from '../../../src/platform/output.ts'
import { until } from '../../support/until.ts'
import { node, serve, tracked } from '../child.ts'
import { type MemoryUse, memoryUses } from '../memory-limits.ts'
import { openAccount } from '../price/flows.ts'
import { type Section, tableLine, wholeNumber } from '../report.ts'
import { isShort, usualOrShort } from '../short.ts'
import { bearer, newOwner, post, type Stage } from '../stage.ts'
import type { Engine } from '../temporal.ts'
import { contradictions } from './books.ts'
import type { PaidLine, Payer, PaymentLoad, Tally } from './payments.ts'
import { type Figure, LATENCY, memoryFigures, openWatch, type Watch, type WatchedProcess } from './samples.ts'
import { type Series, type Trend, trendOf } from './trend.ts'

function positive(name: string): number | undefined {
  const text = process.env[name]
  if (!text) return undefined
  const value = Number(text)
  if (!Number.isFinite(value) || value <= 0) throw new Error(`${name} must be a number above 0.`)
  return value
}

const MINUTES = positive('SOAK_MINUTES') ?? usualOrShort(120, 1)
/** Payments a second; without it, a share of the most that the service and all its followers keep up with. */
const RATE = positive('SOAK_RATE') ?? usualOrShort(undefined, 5)
const SHARE = 0.7
const EVERY_SECONDS = usualOrShort(30, 5)
const PROBE_SECONDS = usualOrShort(60, 5)
const OWNERS = usualOrShort(100, 5)
const AT_ONCE = 32
const PATIENCE_MS = 600_000
const SUBSCRIBED = ['transaction.completed', 'transfer.completed']

/** Keeps a load of mixed payments on all processes of the service, and looks for what grows meanwhile. */
export async function measureSoak(stage: Stage, engine: Engine): Promise<Section> {
  const receiver = await serve(node('test/bench/receiver.ts'), `${stage.folder}/receiver.log`, {})
  stage.closeLater(receiver.stop)
  const metricsOf = async (program: 'relay' | 'worker', from: number): Promise<WatchedProcess> => {
    const port = await freePort(from)
    const running = await engine.run(program, { METRICS_PORT: String(port) })
    return { ...running, name: program, metricsUrl: `http://127.0.0.1:${port}/metrics` }
  }
  const processes: WatchedProcess[] = [
    { ...stage.api, name: 'API', metricsUrl: `${stage.api.url}/metrics` },
    await metricsOf('relay', 19_100),
    await metricsOf('worker', 19_200),
    { ...receiver, name: 'receiver' },
    { name: 'Temporal', memoryMegabytes: () => engine.memoryMegabytes() },
  ]
  const payers: Payer[] = []
  for (let n = 1; n <= OWNERS; n++) payers.push(await newPayer(stage, `${receiver.url}/`, n))
  const watch = openWatch(stage)
  const load = { url: stage.api.url, payers, atOnce: AT_ONCE }
  const probe = RATE === undefined ? await mostPerSecond(watch, load) : { most: RATE / SHARE, tally: {} }
  const perSecond = SHARE * probe.most
  const keeping = { ...load, perSecond, seconds: MINUTES * 60, everySeconds: EVERY_SECONDS }
  const { series, failed, declined, tally } = await keep(watch, processes, keeping)
  await caughtUp(watch)
  const wrong = await contradictions(stage, watch.sql, payers, [probe.tally, tally])
  const trends = series.filter(({ points }) => points.length > 3).map(trendOf)
  if (trends.length === 0)
    throw new Error('The soak was too short to tell what grows: SOAK_MINUTES=10 at least.')
  const growing = trends.filter(({ grows }) => grows)
  // A short form says that every payment ends right, on any machine: everything still warms up, and a machine with
  // other work answers the card network too late.
  const isSlow = declined > 0 || growing.length > 0
  if (failed > 0 || wrong.length > 0 || (isSlow && !isShort)) process.exitCode = 1
  const uses = memoryUses()
  return {
    figures: { soak: { perSecond, failed, declined, wrong, trends, series, uses } },
    text: [textOf(perSecond, { failed, declined, wrong }, trends), ...uses.map(useLine)].join('\n'),
  }
}

async function newPayer(stage: Stage, url: string, number: number): Promise<Payer> {
  const { ownerId, token } = await newOwner(stage.api, number)
  await post(stage.api, '/webhooks', { url, events: SUBSCRIBED }, bearer({ token }))
  return { ownerId, token, account: await openAccount({ ...stage, token }) }
}

/** A rate counts only as far as the followers keep up: their time afterwards counts, too. */
async function mostPerSecond(
  watch: Watch,
  load: Omit<PaymentLoad, 'seconds' | 'everySeconds'>,
): Promise<{ readonly most: number; readonly tally: Tally }> {
  let paid = 0
  let tally: Tally = {}
  const began = performance.now()
  await paying({ ...load, seconds: PROBE_SECONDS, everySeconds: EVERY_SECONDS }, async line => {
    paid += line.paid
    tally = line.tally
    if (line.failed > 0) throw new Error(`${line.failed} payments failed: ${line.failure}`)
  })
  await caughtUp(watch)
  const most = (paid * 1_000) / (performance.now() - began)
  printLine(
    `  at most ${most.toFixed(0)} payments a second with all that follows; kept: ${(SHARE * most).toFixed(0)}`,
  )
  return { most, tally }
}

const caughtUp = (watch: Watch): Promise<unknown> =>
  until(
    'the followers of the payments',
    async () => Object.values(await watch.lags()).every(lag => lag < 1),
    PATIENCE_MS,
  )

/** Runs the payments in a process of their own, and hands on each line that it prints. */
async function paying(load: PaymentLoad, onLine: (line: PaidLine) => Promise<void>): Promise<void> {
  const [program = '', ...args] = node('test/bench/soak/payments.ts')
  const child = tracked(
    spawn(program, [...args, JSON.stringify(load)], { stdio: ['ignore', 'pipe', 'inherit'] }),
  )
  const exit = once(child, 'exit')
  for await (const line of createInterface({ input: child.stdout })) await onLine(JSON.parse(line))
  const [code] = await exit
  if (code !== 0) throw new Error(`The payments ended with ${code}.`)
}

async function keep(watch: Watch, processes: readonly WatchedProcess[], load: PaymentLoad) {
  const series = new Map<
    string,
    { name: string; bound: Series['bound']; points: { minute: number; value: number }[] }
  >()
  const began = performance.now()
  let failed = 0
  let declined = 0
  let tally: Tally = {}
  await paying(load, async line => {
    failed += line.failed
    declined += line.declined
    tally = line.tally
    const minute = (performance.now() - began) / 60_000
    // The last line comes when no process is left to look at.
    if (minute >= load.seconds / 60) return
    const figures: Figure[] = [
      { name: 'p50 of a payment, ms', value: line.p50, bound: LATENCY },
      { name: 'p99 of a payment, ms', value: line.p99, bound: LATENCY },
      { name: 'payments that wait', value: line.waiting, bound: { share: 0.3, least: 20 } },
      ...(await memoryFigures(processes)),
      ...(await watch.figures()),
    ]
    for (const { name, value, bound } of figures) {
      const one = series.get(name) ?? { name, bound, points: [] }
      series.set(name, one)
      one.points.push({ minute, value })
    }
    printLine(progressOf(minute, line, figures))
  })
  return { series: [...series.values()], failed, declined, tally }
}

function progressOf(minute: number, line: PaidLine, figures: readonly Figure[]): string {
  const some = (start: string) =>
    figures
      .filter(({ name }) => name.startsWith(start))
      .map(
        ({ name, value }) =>
          `${name.slice(start.length).replace(', MiB', '')} ${value.toFixed(start === 'behind: ' ? 1 : 0)}`,
      )
      .join(', ')
  const paid = `${line.paid} paid, ${line.declined} declined, ${line.failed} failed${line.failure ? ` (${line.failure})` : ''}, ${line.p50.toFixed(0)}/${line.p99.toFixed(0)} ms, ${line.waiting} wait`
  return `  ${minute.toFixed(1)} min: ${paid}; MiB ${some('memory of ')}; behind ${some('behind: ')}`
}

interface Ends {
  readonly failed: number
  readonly declined: number
  readonly wrong: readonly string[]
}

function textOf(perSecond: number, { failed, declined, wrong }: Ends, trends: readonly Trend[]): string {
  const cell = (value: number) => (Math.abs(value) < 100 ? value.toFixed(1) : wholeNumber(value))
  return [
    `${MINUTES} minutes of ${perSecond.toFixed(0)} payments a second by ${OWNERS} owners; ${failed} failed, ${declined} declined for a late answer`,
    wrong.length === 0 ? 'The books agree with the answers.' : `The books contradict: ${wrong.join('; ')}`,
    tableLine(['by a line through the last three quarters', 'first', 'last', 'an hour', '']),
    ...trends
      .toSorted((one, other) => Number(other.grows) - Number(one.grows))
      .map(({ name, first, last, perHour, grows }) =>
        tableLine([name, cell(first), cell(last), cell(perHour), grows ? 'grows' : 'flat']),
      ),
  ].join('\n')
}

const useLine = ({ service, limitMib, peakMib, kills }: MemoryUse): string =>
  tableLine([
    `${service}: the most of its ${wholeNumber(limitMib)} MiB`,
    `${wholeNumber(peakMib)} MiB`,
    `${kills} killed`,
  ])
