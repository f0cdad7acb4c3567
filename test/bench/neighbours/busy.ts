import { readFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { Agent } from 'undici'

/** The work of this program, in the file that it is given: what one owner sends at once, in a process of its own. */
export interface Burst {
  readonly url: string
  readonly afterMs: number
  /** Sent in order, this many at a time. */
  readonly requests: readonly BurstRequest[]
  readonly connections: number
  /** Instead of requests: how long two threads only count, which is what the machine alone does to a neighbour. */
  readonly countMs?: number
}

export interface BurstRequest {
  readonly method: 'GET' | 'POST'
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
}

/** What became of the requests: how many were answered with each status, and after how long the last one was. */
export interface BurstResult {
  readonly statuses: Readonly<Record<string, number>>
  readonly milliseconds: number
}

const { file } = JSON.parse(process.argv[2] ?? '') as { readonly file: string }
const { url, afterMs, requests, connections, countMs } = JSON.parse(readFileSync(file, 'utf8')) as Burst
const agent = new Agent({ connections, headersTimeout: 0, bodyTimeout: 0 })
const waiting = [...requests]
const statuses: Record<string, number> = {}

async function converse(): Promise<void> {
  for (let next = waiting.shift(); next; next = waiting.shift()) {
    const { statusCode, body } = await agent.request({ origin: url, ...next, body: next.body ?? null })
    await body.dump({ limit: Number.POSITIVE_INFINITY })
    statuses[statusCode] = (statuses[statusCode] ?? 0) + 1
  }
}

const COUNT = `const end = Date.now() + require('node:worker_threads').workerData; while (Date.now() < end);`

const count = (): Promise<unknown> =>
  new Promise(resolve => new Worker(COUNT, { eval: true, workerData: countMs }).once('exit', resolve))

await pause(afterMs)
const began = performance.now()
await Promise.all(countMs ? [count(), count()] : Array.from({ length: connections }, converse))
const result: BurstResult = { statuses, milliseconds: performance.now() - began }
process.stdout.write(JSON.stringify(result))
await agent.close()
