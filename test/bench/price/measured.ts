import { printLine } from '../../../src/platform/output.ts'
import { type Section, wholeNumber } from '../report.ts'
import { usualOrShort } from '../short.ts'
import type { Stage } from '../stage.ts'
import type { Engine } from '../temporal.ts'
import { openCounter, type Price } from './counter.ts'
import { openFlows } from './flows.ts'

/** Payments of each kind, one after the other. */
const EACH = usualOrShort(20, 2)
const IDLE_SECONDS = usualOrShort(20, 3)

interface Priced extends Price {
  readonly name: string
  readonly title: string
  /** Events in the histories of the runs that it has started; 0 where it starts none. */
  readonly history: number
}

/** What one payment of each kind costs PostgreSQL and Temporal on an otherwise idle instance, and what idling costs. */
export async function measurePrice(stage: Stage, engine: Engine): Promise<Section> {
  await Promise.all([engine.run('relay'), engine.run('worker')])
  const counter = await openCounter(stage)
  const flows = await openFlows(stage, counter)
  for (const flow of flows) await flow.run()
  await counter.untilQuiet()
  const idle = await counter.priceOf(() => new Promise(done => setTimeout(done, IDLE_SECONDS * 1_000)))
  const second = each(idle, idle.seconds)
  const priced: Priced[] = []
  for (const { name, title, run } of flows) {
    const began = new Date()
    const price = await counter.priceOf(async () => {
      for (let n = 0; n < EACH; n++) await run()
    })
    const history = (await eventsOfRuns(engine, began)) / EACH
    priced.push({ name, title, ...each(withoutIdle(price, second), EACH), history })
    printLine(`  ${lineOf(title, { ...each(withoutIdle(price, second), EACH), history })}`)
  }
  const text = [
    HEAD,
    RULE,
    ...priced.map(one => lineOf(one.title, one)),
    lineOf('nothing at all, a second', second),
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

/** The same without what an idle instance would have cost meanwhile. */
const withoutIdle = (price: Price & { readonly seconds: number }, second: Price): Price =>
  mapped(price, (figure, name) => Math.max(0, figure - second[name] * price.seconds))

/** The histories of all runs that started since then. Those of an intent that waits for its deadline count as they are. */
async function eventsOfRuns({ client }: Engine, since: Date): Promise<number> {
  let events = 0
  for await (const { workflowId } of client.workflow.list({ query: `StartTime >= '${since.toISOString()}'` }))
    events += (await client.workflow.getHandle(workflowId).describe()).historyLength
  return events
}

const HEAD =
  '| one | statements | rows + / ~ (HOT) / − | index entries | WAL, no page images | events | Temporal history |'
const RULE = '|---|--:|--:|--:|--:|--:|--:|'

const lineOf = (title: string, price: Price & { readonly history?: number }): string => {
  const rows = `${figure(price.inserted)} / ${figure(price.updated)} (${figure(price.hot)}) / ${figure(price.deleted)}`
  const cells = [
    figure(price.statements),
    rows,
    figure(price.indexEntries),
    `${(price.walBytes / 1_000).toFixed(1)} kB`,
  ]
  return `| ${[title, ...cells, figure(price.events), figure(price.history ?? 0)].join(' | ')} |`
}

const figure = (value: number): string =>
  value < 10 ? String(Math.round(value * 10) / 10) : wholeNumber(value)
