import { setTimeout as sleep } from 'node:timers/promises'
import { TOO_LATE_MESSAGE } from '../../../src/cards/authorizations/card-checks.ts'
import { type Account, type Flow, openFlows } from '../price/flows.ts'

/** An owner whose wallets, agent and card pay. */
export interface Payer {
  readonly ownerId: string
  readonly token: string
  readonly account: Account
}

export interface PaymentLoad {
  readonly url: string
  readonly payers: readonly Payer[]
  /** Without a rate, as many as `atOnce` make one after the other. */
  readonly perSecond?: number
  readonly atOnce: number
  readonly seconds: number
  readonly everySeconds: number
}

/** How often payments of a kind have ended in a way: `card paid`, `machine declined`. */
export type Tally = Readonly<Record<string, number>>

/** What was paid since the line before; a line each `everySeconds`, and times in milliseconds. */
export interface PaidLine {
  readonly paid: number
  /** Card payments whose decision came too late for the network, which got a decline. */
  readonly declined: number
  readonly tally: Tally
  readonly failed: number
  readonly failure?: string
  readonly p50: number
  readonly p99: number
  /** Payments that were due and have not begun. */
  readonly waiting: number
}

/** The kinds of twenty payments. */
const MIX: Readonly<Record<string, number>> = {
  wallets: 8,
  intentTransfer: 5,
  card: 5,
  sepa: 1,
  machine: 1,
}

const load = JSON.parse(process.argv[2] ?? '') as PaymentLoad
const kinds = Object.entries(MIX).flatMap(([name, count]) => Array<string>(count).fill(name))
const flows = load.payers.map(({ token, account }) => {
  const all = openFlows({ api: { url: load.url }, token }, account)
  return kinds.map(kind => all.find(({ name }) => name === kind) as Flow)
})

const times: number[] = []
const tally: Record<string, number> = {}
let declined = 0
let failed = 0
let failure: string | undefined
let begun = 0
const began = performance.now()
const endsAt = began + load.seconds * 1_000
/** The payments that are due by then; as many as have begun, where there is no rate. */
const dueBy = (now: number): number =>
  load.perSecond === undefined
    ? begun
    : Math.floor(((Math.min(now, endsAt) - began) * load.perSecond) / 1_000)

/** Only the books know why a machine payment was declined: every other reason than a late answer contradicts them. */
const isDeclineByNetwork = (error: unknown): boolean =>
  [TOO_LATE_MESSAGE, 'The card network declined the payment: it is not paid'].some(text =>
    String(error).includes(text),
  )

async function payOne(dueAt: number): Promise<void> {
  const nth = begun++
  const mine = flows[nth % flows.length] as Flow[]
  const flow = mine[(nth * 7) % mine.length] as Flow
  const end = await flow.run().then(
    () => 'paid',
    error => (isDeclineByNetwork(error) ? 'declined' : `${flow.name}: ${error}`),
  )
  if (end === 'paid') times.push(performance.now() - dueAt)
  else if (end === 'declined') declined++
  else {
    failed++
    failure = end
    return
  }
  const kind = `${flow.name} ${end}`
  tally[kind] = (tally[kind] ?? 0) + 1
}

const quantile = (sorted: readonly number[], share: number): number =>
  sorted[Math.floor((sorted.length - 1) * share)] ?? 0

function tell(): void {
  const sorted = times.splice(0).sort((a, b) => a - b)
  const line: PaidLine = {
    paid: sorted.length,
    declined,
    tally,
    failed,
    ...(failure === undefined ? {} : { failure }),
    p50: quantile(sorted, 0.5),
    p99: quantile(sorted, 0.99),
    waiting: Math.max(0, dueBy(performance.now()) - begun),
  }
  declined = 0
  failed = 0
  failure = undefined
  process.stdout.write(`${JSON.stringify(line)}\n`)
}

const telling = setInterval(tell, load.everySeconds * 1_000)

/** Each payment is timed from its planned instant. */
async function keepPace(perSecond: number): Promise<void> {
  for (let now = performance.now(); now < endsAt; now = performance.now()) {
    const dueAt = began + (begun * 1_000) / perSecond
    if (dueAt > now) await sleep(Math.min(dueAt - now, 20))
    else await payOne(dueAt)
  }
}

async function keepPaying(): Promise<void> {
  while (performance.now() < endsAt) await payOne(performance.now())
}

const each = () => (load.perSecond === undefined ? keepPaying() : keepPace(load.perSecond))
await Promise.all(Array.from({ length: load.atOnce }, each))
clearInterval(telling)
tell()
