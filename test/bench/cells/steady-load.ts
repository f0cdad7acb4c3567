import { setTimeout as sleep } from 'node:timers/promises'
import { Pool } from 'undici'

export interface SteadyJob {
  readonly url: string
  readonly perSecond: number
  readonly seconds: number
  /** Begins the merchant of each intent, so that it is found. */
  readonly run: string
  /** The owners, in turn. */
  readonly owners: readonly { readonly token: string; readonly agents: number }[]
}

/** Times in milliseconds, from the planned instant to the last answer. */
export interface OwnerTimes {
  readonly sent: number
  readonly p50: number
  readonly p99: number
  readonly longest: number
}

/** The printed result. */
export interface Steady {
  readonly owners: readonly OwnerTimes[]
  readonly all: OwnerTimes
  /** Answers that asked to repeat, by status; 0 is a lost connection. */
  readonly repeats: Readonly<Record<string, number>>
}

const CONNECTIONS = 128
const AGAIN_MS = 250
const PATIENCE_MS = 60_000

const job = JSON.parse(process.argv[2] ?? '') as SteadyJob
const pool = new Pool(job.url, { connections: CONNECTIONS })
const latencies = job.owners.map(() => [] as number[])
const repeats: Record<string, number> = {}

/** Declares an intent, and repeats it with its Idempotency-Key until it is answered: as a careful client does. */
async function declare(n: number, plannedAt: number): Promise<void> {
  const owner = n % job.owners.length
  for (let waitMs = await attempt(n, owner); waitMs !== null; waitMs = await attempt(n, owner)) {
    if (performance.now() - plannedAt > PATIENCE_MS) throw new Error(`no answer to intent ${n}`)
    await sleep(waitMs)
  }
  latencies[owner]?.push(performance.now() - plannedAt)
}

/** Returns after how long to repeat it, or null. */
async function attempt(n: number, owner: number): Promise<number | null> {
  const { token = '', agents = 1 } = job.owners[owner] ?? {}
  const name = `${job.run}-${n}`
  const intent = { agentId: `agent_bench_${1 + (n % agents)}`, amountEuros: 9.5, merchant: name }
  const headers = {
    authorization: `Bearer ${token}`,
    'content-type': 'application/json',
    'idempotency-key': name,
  }
  const body = JSON.stringify({ ...intent, purpose: 'A paper on caching' })
  try {
    const answer = await pool.request({ path: '/intents', method: 'POST', headers, body })
    const text = await answer.body.text()
    if (answer.statusCode === 201) return null
    if (answer.statusCode < 500 && answer.statusCode !== 409) throw new Refused(text)
    count(answer.statusCode)
    return Number(answer.headers['retry-after'] ?? 0) * 1_000 || AGAIN_MS
  } catch (error) {
    if (error instanceof Refused) throw error
    count(0)
    return AGAIN_MS
  }
}

class Refused extends Error {}

function count(status: number): void {
  repeats[status] = (repeats[status] ?? 0) + 1
}

function timesOf(values: readonly number[]): OwnerTimes {
  const sorted = values.toSorted((a, b) => a - b)
  const quantile = (share: number) => sorted[Math.floor((sorted.length - 1) * share)] ?? Number.NaN
  return { sent: sorted.length, p50: quantile(0.5), p99: quantile(0.99), longest: quantile(1) }
}

const began = performance.now()
const all: Promise<void>[] = []
for (let n = 0; n < job.perSecond * job.seconds; n++) {
  const plannedAt = began + (n * 1_000) / job.perSecond
  const wait = plannedAt - performance.now()
  if (wait > 0) await sleep(wait)
  all.push(declare(n, plannedAt))
}
await Promise.all(all)
await pool.close()
const steady: Steady = { owners: latencies.map(timesOf), all: timesOf(latencies.flat()), repeats }
process.stdout.write(JSON.stringify(steady))
