import { setTimeout as pause } from 'node:timers/promises'
import { printLine } from '../../../src/platform/output.ts'
import { type Section, wholeNumber } from '../report.ts'
import { usualOrShort } from '../short.ts'
import type { Stage } from '../stage.ts'
import type { Engine } from '../temporal.ts'
import { type Counted, type Counter, openCounter, type Price, type TablePrice } from './counter.ts'
import { openAccount, openFlows } from './flows.ts'

/** Payments of each kind, one after the other. */
const EACH = usualOrShort(20, 2)
/** Windows of an idle instance. Their median counts: one of them may hold a vacuum. */
const IDLE_WINDOWS = usualOrShort(5, 1)
const IDLE_SECONDS = usualOrShort(5, 3)
/** Payments whose size on disk is measured, and how many of them at once. */
const STORED = usualOrShort(200, 4)
const AT_ONCE = 4

interface Priced extends Price {
  readonly name: string
  readonly title: string
  /** Events in the histories of the runs that it has started; 0 where it starts none. */
  readonly history: number
  /** What these runs leave in Temporal's store. */
  readonly storeBytes: number
  /** What stays in PostgreSQL. */
  readonly diskBytes: number
  readonly diskBytesByTable: Readonly<Record<string, number>>
  readonly tables: readonly TablePrice[]
}

/** What one payment of each kind costs PostgreSQL and Temporal on an otherwise idle instance, and what idling costs. */
export async function measurePrice(stage: Stage, engine: Engine): Promise<Section> {
  await Promise.all([engine.run('relay'), engine.run('worker')])
  const counter = await openCounter(stage)
  const flows = openFlows(stage, await openAccount(stage), counter.untilTrue)
  for (const flow of flows) await flow.run()
  await counter.untilQuiet()
  const idle: Price[] = []
  for (let n = 0; n < IDLE_WINDOWS; n++) {
    const window = await counter.priceOf(() => pause(IDLE_SECONDS * 1_000))
    idle.push(each(window, window.seconds))
  }
  const second = mapped(idle[0] as Price, (_, name) => median(idle.map(one => one[name])))
  const priced: Priced[] = []
  for (const { name, title, run } of flows) {
    const began = new Date()
    const price = await counter.priceOf(async () => {
      for (let n = 0; n < EACH; n++) await run()
    })
    const history = (await eventsOfRuns(engine, began)) / EACH
    const { storeBytes, ...onDisk } = await storedBytes({ engine, counter, run })
    const stored = { storeBytes: history > 0 ? storeBytes : 0, ...onDisk }
    const one = { name, title, ...each(withoutIdle(price, second), EACH), history, ...stored }
    priced.push({ ...one, tables: price.tables.map(eachTable) })
    printLine(`  ${lineOf(title, one)}`)
  }
  const text = [
    HEAD,
    RULE,
    ...priced.map(one => lineOf(one.title, one)),
    lineOf('nothing at all, a second', second),
    '',
    ...tablesOf(priced),
  ]
  return { figures: { price: { second, priced } }, text: text.join('\n') }
}

const FIGURES = [
  'statements',
  'inserted',
  'updated',
  'hot',
  'deleted',
  'indexEntries',
  'walBytes',
  'events',
] as const

const mapped = (price: Price, change: (figure: number, name: (typeof FIGURES)[number]) => number): Price =>
  Object.fromEntries(FIGURES.map(name => [name, change(price[name], name)])) as unknown as Price

const each = (price: Price, count: number): Price => mapped(price, figure => figure / count)

const median = (figures: readonly number[]): number =>
  [...figures].sort((one, other) => one - other)[Math.floor(figures.length / 2)] ?? 0

/** The same without what an idle instance would have cost meanwhile. */
const withoutIdle = (price: Counted, second: Price): Price =>
  mapped(price, (figure, name) => Math.max(0, figure - second[name] * price.seconds))

/** The histories of all runs that started since then. Those of an intent that waits for its deadline count as they are. */
async function eventsOfRuns({ client }: Engine, since: Date): Promise<number> {
  let events = 0
  for await (const { workflowId } of client.workflow.list({ query: `StartTime >= '${since.toISOString()}'` }))
    events += (await client.workflow.getHandle(workflowId).describe()).historyLength
  return events
}

const eachTable = ({ table, walBytes, indexes }: TablePrice): TablePrice => ({
  table,
  walBytes: walBytes / EACH,
  indexes: Object.fromEntries(Object.entries(indexes).map(([index, entries]) => [index, entries / EACH])),
})

/** A line for each table with its index entries, its WAL and its bytes on disk, a column for each kind of payment. */
function tablesOf(priced: readonly Priced[]): string[] {
  const names = [...new Set(priced.flatMap(({ tables }) => tables.map(({ table }) => table)))]
  const wal = (table: string): number => Math.max(...priced.map(one => tableOf(one, table)?.walBytes ?? 0))
  return [
    `| index entries, kB of WAL, kB on disk | ${priced.map(({ name }) => name).join(' | ')} |`,
    `|---|${'--:|'.repeat(priced.length)}`,
    ...names
      .filter(table => wal(table) >= 50)
      .toSorted((one, other) => wal(other) - wal(one))
      .map(table => `| ${table} | ${priced.map(one => tableCell(one, table)).join(' | ')} |`),
  ]
}

const tableOf = ({ tables }: Priced, table: string): TablePrice | undefined =>
  tables.find(one => one.table === table)

function tableCell(price: Priced, table: string): string {
  const { walBytes = 0, indexes = {} } = tableOf(price, table) ?? {}
  if (walBytes === 0) return ''
  const entries = Object.values(indexes).reduce((sum, n) => sum + n, 0)
  const onDisk = price.diskBytesByTable[table] ?? 0
  return `${figure(entries)}, ${(walBytes / 1_000).toFixed(1)}, ${(onDisk / 1_000).toFixed(1)}`
}

interface Stored {
  readonly engine: Engine
  readonly counter: Counter
  readonly run: () => Promise<unknown>
}

/** The growth of Temporal's store and of the database by one payment. */
async function storedBytes({
  engine,
  counter,
  run,
}: Stored): Promise<Pick<Priced, 'storeBytes' | 'diskBytes' | 'diskBytesByTable'>> {
  const before = { store: engine.storeBytes(), disk: await counter.bytesOnDisk() }
  const series = Array.from({ length: STORED }, (_, n) => n)
  const repeat = async () => {
    while (series.pop() !== undefined) await run()
  }
  await Promise.all(Array.from({ length: AT_ONCE }, repeat))
  await counter.untilQuiet()
  const grown = [...(await counter.bytesOnDisk())].map(
    ([table, bytes]) => [table, (bytes - (before.disk.get(table) ?? 0)) / STORED] as const,
  )
  return {
    storeBytes: (engine.storeBytes() - before.store) / STORED,
    diskBytes: grown.reduce((sum, [, bytes]) => sum + bytes, 0),
    diskBytesByTable: Object.fromEntries(grown),
  }
}

const HEAD =
  '| one | statements | rows + / ~ (HOT) / − | index entries | WAL, no page images | events | Temporal history | Temporal store | on disk |'
const RULE = '|---|--:|--:|--:|--:|--:|--:|--:|--:|'

const lineOf = (
  title: string,
  price: Price & Partial<Pick<Priced, 'history' | 'storeBytes' | 'diskBytes'>>,
): string => {
  const rows = `${figure(price.inserted)} / ${figure(price.updated)} (${figure(price.hot)}) / ${figure(price.deleted)}`
  const cells = [figure(price.statements), rows, figure(price.indexEntries), kilobytes(price.walBytes)]
  return `| ${[title, ...cells, figure(price.events), figure(price.history ?? 0), kilobytes(price.storeBytes ?? 0), kilobytes(price.diskBytes ?? 0)].join(' | ')} |`
}

const kilobytes = (bytes: number): string => (bytes === 0 ? '0' : `${(bytes / 1_000).toFixed(1)} kB`)

const figure = (value: number): string =>
  value < 10 ? String(Math.round(value * 10) / 10) : wholeNumber(value)
