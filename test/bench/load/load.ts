import { readFileSync } from 'node:fs'
import { type LoadConnection, openConnection } from './connection.ts'
import { type MessageLoad, signedRequests } from './signed-messages.ts'

export interface Job {
  readonly url: string
  readonly connections: number
  readonly seconds: number
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH'
  /**
   * `{n}` is the drawn number, in the path and in the body; `{each}` in the body is unique, `{now}` the time in
   * milliseconds, and `{iban}` a random German one.
   */
  readonly path: string
  readonly body?: unknown
  readonly numbers?: Numbers
  readonly token: string
  /** Tokens and bodies that the requests of a connection use in turn, instead of token and body. */
  readonly requests?: readonly LoadRequest[]
  readonly keys?: boolean
  readonly most?: number
  /** Signed messages instead of bodies and tokens, each sent once and in order. */
  readonly messages?: MessageLoad
  /** Words that each answer must contain; otherwise it counts as failed. */
  readonly expects?: string
  /** A file with one body per line, each sent once and in order. */
  readonly bodies?: string
  readonly headers?: Readonly<Record<string, string>>
  /** A person's console cookie, instead of the token. */
  readonly cookie?: string
  readonly status?: number
  /**
   * Requests start at this constant rate, however slow the answers are, and each is timed from its planned
   * instant. By default each connection sends the next one after the previous answer.
   */
  readonly arrivalsPerSecond?: number
}

export interface LoadRequest {
  readonly token: string
  readonly body: unknown
}

/** The numbers to draw: at random, or each once in order. */
export interface Numbers {
  readonly from: number
  readonly to: number
  readonly inOrder?: boolean
  /** `{other}` in the body is a different number from 1 to this count. */
  readonly others?: number
}

/** The printed result; times in milliseconds. */
export interface Measured {
  readonly perSecond: number
  readonly p50: number
  readonly p99: number
  readonly p999: number
  readonly longest: number
  /** Answers of another status, or without the expected words. */
  readonly failed: number
  /** The first of them: its status line and body. */
  readonly failure?: string | null
  /** All requests, including those of the warm-up. */
  readonly sent: number
}

const WARM_UP_MS = 700

const job = JSON.parse(process.argv[2] ?? '') as Job
const url = new URL(job.url)
const { from: first, to: last, inOrder = false, others = 2 }: Numbers = job.numbers ?? { from: 1, to: 1 }
const loadRequests: readonly LoadRequest[] = job.requests ?? [{ token: job.token, body: job.body }]
const requests = loadRequests.map(({ token, body }) => ({
  token,
  body: body === undefined ? '' : JSON.stringify(body),
}))
const signed = job.messages ? signedRequests(job.messages) : undefined
const bodies = job.bodies ? readFileSync(job.bodies, 'utf8').trimEnd().split('\n') : undefined
const prepared = signed?.length ?? bodies?.length
const most = job.most ?? prepared ?? Number.POSITIVE_INFINITY
const ofPerson = `Cookie: ${job.cookie}\r\nSec-Fetch-Site: same-origin\r\n`
const ownHeaders = Object.entries(job.headers ?? {})
  .map(([name, value]) => `${name}: ${value}\r\n`)
  .join('')
const run = Math.random().toString(36).slice(2)
const latencies: number[] = []
let failed = 0
let failure: string | null = null
let sent = 0

const below = (limit: number): number => Math.floor(Math.random() * limit)

/** A random IBAN: 131400 is its country in digits, followed by two zeros in place of the check digits. */
function randomIban(): string {
  const account = String(below(1e18)).padStart(18, '0')
  const check = 98n - (BigInt(`${account}131400`) % 97n)
  return `DE${String(check).padStart(2, '0')}${account}`
}

/** Writes HTTP by hand, so that the generator uses as little processor time as possible. */
function request(connection: number, turn: number): string {
  const { token, body } = requests[
    (connection + turn * job.connections) % requests.length
  ] as (typeof requests)[0]
  const number = inOrder ? first + sent : first + below(last - first + 1)
  const other = 1 + ((number + below(others - 1)) % others)
  const message = signed?.[sent]
  const own = bodies?.[sent]
  sent++
  const path = job.path.replace('{n}', String(number))
  const start = `${job.method} ${path} HTTP/1.1\r\nHost: ${url.host}\r\n`
  if (message) return start + message
  const name = `${run}-${sent}`
  const payload =
    own ??
    body
      .replace('{n}', String(number))
      .replace('{other}', String(other))
      .replace('{each}', name)
      .replace('{now}', () => String(Date.now()))
      .replace('{iban}', randomIban)
  const key = job.keys ? `Idempotency-Key: ${name}\r\n` : ''
  const content = payload
    ? `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(payload)}\r\n`
    : ''
  const credential = job.cookie ? ofPerson : `Authorization: Bearer ${token}\r\n`
  return `${start}${credential}${ownHeaders}${key}${content}\r\n${payload}`
}

function keepAsking(connection: LoadConnection, index: number): Promise<void> {
  return new Promise(resolve => {
    let turn = 0
    const ask = () => {
      const sentAt = performance.now()
      if (sentAt > until || sent >= most) return resolve()
      connection.ask(request(index, turn++), answer => {
        // The time of the answer decides: requests longer than the measurement would otherwise never count.
        recordAnswer(answer, sentAt, performance.now())
        ask()
      })
    }
    ask()
  })
}

/** Starts requests at a constant rate. One that finds no free connection waits for it, and this time counts, too. */
function keepPace(connections: readonly LoadConnection[], perSecond: number): Promise<void> {
  return new Promise(resolve => {
    const idle = connections.map((connection, index) => ({ connection, index }))
    const waiting: number[] = []
    let planned = 0
    const sendWaiting = () => {
      while (waiting.length > 0 && idle.length > 0 && sent < most) {
        const plannedAt = waiting.shift() as number
        const free = idle.pop() as (typeof idle)[0]
        free.connection.ask(request(free.index, planned), answer => {
          recordAnswer(answer, plannedAt, plannedAt)
          idle.push(free)
          sendWaiting()
        })
      }
    }
    const plan = () => {
      const now = performance.now()
      const nextAt = () => began + (planned * 1_000) / perSecond
      for (; nextAt() <= Math.min(now, until); planned++) waiting.push(nextAt())
      sendWaiting()
      const isOver = nextAt() > until && waiting.length === 0 && idle.length === connections.length
      if (isOver || sent >= most) resolve()
      else setTimeout(plan, 1)
    }
    plan()
  })
}

function recordAnswer(answer: string, since: number, at: number): void {
  if (at < from || at > until) return
  latencies.push(performance.now() - since)
  const isGood = job.status ? answer.startsWith(String(job.status), 9) : answer[9] === '2'
  if (isGood && answer.includes(job.expects ?? '')) return
  failed++
  failure ??= `${answer.slice(0, answer.indexOf('\r\n'))} ${answer.slice(answer.indexOf('\r\n\r\n') + 4)}`
}

const connections = Array.from({ length: job.connections }, () => openConnection(url))
const began = performance.now()
const from = began + WARM_UP_MS
const until = from + job.seconds * 1_000
if (job.arrivalsPerSecond) await keepPace(connections, job.arrivalsPerSecond)
else await Promise.all(connections.map(keepAsking))
for (const connection of connections) connection.end()
if (prepared !== undefined && job.most === undefined && sent >= most)
  throw new Error(`${most} messages are not enough.`)
latencies.sort((a, b) => a - b)
const quantile = (share: number) => latencies[Math.floor((latencies.length - 1) * share)] ?? Number.NaN
const measured: Measured = {
  perSecond: latencies.length / job.seconds,
  p50: quantile(0.5),
  p99: quantile(0.99),
  p999: quantile(0.999),
  longest: quantile(1),
  failed,
  failure,
  sent,
}
process.stdout.write(JSON.stringify(measured))
