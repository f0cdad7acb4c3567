import type { ApiCall } from '../../src/kernel/contract/call.ts'
import { withDatabaseRetries } from '../../src/kernel/database/retry.ts'
import { inSpanOfTransaction } from '../../src/kernel/run/spans.ts'
import { usualOrShort } from './short.ts'

const ROUNDS = usualOrShort(9, 1)
const TIMES = 100_000

/** The rows of the journal that a request writes: events, and one message for Temporal. */
const ROWS = 3

const row = {
  id: 'event_01jd8x2m4yf0r5s8a6b1c7d9xk',
  ownerId: 'customer_01jd8x2m4yf0r5s8a6b1c7d9xk',
  mode: 'test',
  event: 'intent.created',
  data: { intentId: 'intent_01jd8x2m4yf0r5s8a6b1c7d9xk' },
  requestId: 'a request',
}

const untraced = { ports: { systems: { tracing: null } } } as unknown as Parameters<
  typeof inSpanOfTransaction
>[0]
const calls = [{ requestId: 'a request' }] as unknown as readonly ApiCall[]
const work = async (): Promise<number> => 1

/** What is left of tracing in a request if no collector is configured, each beside the same without it. */
const PAIRS = [
  {
    times: 1,
    now: () => inSpanOfTransaction(untraced, calls, work),
    before: () => withDatabaseRetries(work),
  },
  {
    times: ROWS,
    now: () => JSON.stringify({ ...row, traceparent: undefined }),
    before: () => JSON.stringify({ ...row }),
  },
] as const

async function nanosecondsOf(work: () => unknown): Promise<number> {
  const before = process.cpuUsage()
  for (let n = 0; n < TIMES; n++) await work()
  const { user, system } = process.cpuUsage(before)
  return ((user + system) * 1_000) / TIMES
}

/** The processor time of these, in nanoseconds for each request, in turns: the best round of each counts. */
export async function nanosecondsUntraced(): Promise<number> {
  let sum = 0
  for (const { times, now, before } of PAIRS) {
    const best = { now: Number.POSITIVE_INFINITY, before: Number.POSITIVE_INFINITY }
    for (let round = 0; round < ROUNDS; round++) {
      best.before = Math.min(best.before, await nanosecondsOf(before))
      best.now = Math.min(best.now, await nanosecondsOf(now))
    }
    sum += times * Math.max(0, best.now - best.before)
  }
  return sum
}
