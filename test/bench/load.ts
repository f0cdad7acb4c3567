import { connect } from 'node:net'

/** The work of a load generator, as JSON in its first argument. */
export interface Job {
  readonly url: string
  readonly connections: number
  readonly seconds: number
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH'
  /**
   * `{n}` is the drawn number, in the path and in the body; `{each}` in the body is unique, and `{iban}` is a random one of
   * a German account.
   */
  readonly path: string
  readonly body?: unknown
  readonly numbers?: Numbers
  readonly token: string
  /** Tokens and bodies that the requests of a connection use in turn, in place of token and body. */
  readonly requests?: readonly LoadRequest[]
  /** Whether each request has an idempotency key of its own. */
  readonly keys?: boolean
  /** The maximum number of requests. */
  readonly most?: number
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
  /** The count of which `{other}` in the body is a different number, from 1. */
  readonly others?: number
}

/** The result that it prints; times in milliseconds. */
export interface Measured {
  readonly perSecond: number
  readonly p50: number
  readonly p99: number
  /** Answers that were not 2xx. */
  readonly failed: number
  /** All requests, including those of the warm-up. */
  readonly sent: number
}

const WARM_UP_MS = 700

const job = JSON.parse(process.argv[2] ?? '') as Job
const { hostname, port } = new URL(job.url)
const { from: first, to: last, inOrder = false, others = 2 }: Numbers = job.numbers ?? { from: 1, to: 1 }
const loadRequests: readonly LoadRequest[] = job.requests ?? [{ token: job.token, body: job.body }]
const requests = loadRequests.map(({ token, body }) => ({
  token,
  body: body === undefined ? '' : JSON.stringify(body),
}))
const most = job.most ?? Number.POSITIVE_INFINITY
const run = Math.random().toString(36).slice(2)
const began = performance.now()
const from = began + WARM_UP_MS
const until = from + job.seconds * 1_000
const latencies: number[] = []
let failed = 0
let sent = 0

const below = (limit: number): number => Math.floor(Math.random() * limit)

/** A random IBAN: 131400 is its country in digits, followed by two zeros in place of the check digits. */
function randomIban(): string {
  const account = String(below(1e18)).padStart(18, '0')
  const check = 98n - (BigInt(`${account}131400`) % 97n)
  return `DE${String(check).padStart(2, '0')}${account}`
}

/** Writes HTTP by hand, so that the generator takes as little processor time as possible. */
function request(connection: number, turn: number): string {
  const { token, body } = requests[
    (connection + turn * job.connections) % requests.length
  ] as (typeof requests)[0]
  const number = inOrder ? first + sent : first + below(last - first + 1)
  const other = 1 + ((number + below(others - 1)) % others)
  sent++
  const path = job.path.replace('{n}', String(number))
  const own = `${run}-${sent}`
  const payload = body
    .replace('{n}', String(number))
    .replace('{other}', String(other))
    .replace('{each}', own)
    .replace('{iban}', randomIban)
  const key = job.keys ? `Idempotency-Key: ${own}\r\n` : ''
  const content = payload
    ? `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(payload)}\r\n`
    : ''
  return `${job.method} ${path} HTTP/1.1\r\nHost: ${hostname}\r\nAuthorization: Bearer ${token}\r\n${key}${content}\r\n${payload}`
}

/** Sends requests over one connection, each after the answer to the one before. */
function keepAsking(connection: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: hostname, port: Number(port), noDelay: true })
    let answer = ''
    let sentAt = 0
    let turn = 0
    const ask = () => {
      sentAt = performance.now()
      if (sentAt > until || sent >= most) return void socket.end()
      answer = ''
      socket.write(request(connection, turn++))
    }
    socket.setEncoding('latin1').on('connect', ask).on('error', reject).on('close', resolve)
    socket.on('data', chunk => {
      answer += chunk
      if (!isComplete(answer)) return
      recordAnswer(answer, sentAt)
      ask()
    })
  })
}

function isComplete(answer: string): boolean {
  const end = answer.indexOf('\r\n\r\n')
  return end !== -1 && answer.length >= end + 4 + Number(/content-length: (\d+)/i.exec(answer)?.[1] ?? 0)
}

function recordAnswer(answer: string, sentAt: number): void {
  const now = performance.now()
  // The time of the answer decides: requests that take longer than the measurement would otherwise never count.
  if (now < from || now > until) return
  latencies.push(now - sentAt)
  if (answer[9] !== '2') failed++
}

await Promise.all(Array.from({ length: job.connections }, (_, connection) => keepAsking(connection)))
latencies.sort((a, b) => a - b)
const quantile = (share: number) => latencies[Math.floor((latencies.length - 1) * share)] ?? Number.NaN
const measured: Measured = {
  perSecond: latencies.length / job.seconds,
  p50: quantile(0.5),
  p99: quantile(0.99),
  failed,
  sent,
}
process.stdout.write(JSON.stringify(measured))
