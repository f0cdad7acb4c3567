import { setTimeout as pause } from 'node:timers/promises'
import type { Database } from './database.ts'
import { type Deliver, type Due, outboxOf } from './outbox.ts'

/** How many calls to Temporal are under way at once: it takes no more a second from more of them. */
const CONCURRENCY = 32
const POLL = 1_000
const LONGEST_PAUSE = 5_000

export interface Relay {
  /** There is something to do. */
  wake(): void
  /** Takes nothing more and finishes what is under way. */
  stop(): Promise<void>
}

/** Brings the outbox to Temporal, from as many processes side by side as there are. */
export function relay(database: Database, deliver: Deliver, onFailure: (error: unknown) => void): Relay {
  const outbox = outboxOf(database)
  const underWay = new Set<Promise<void>>()
  const stopping = new AbortController()
  let idling = new AbortController()
  let woken = false
  let failures = 0

  function failed(error: unknown): void {
    failures ||= 1
    onFailure(error)
  }

  async function handOver(rows: readonly Due[]): Promise<void> {
    try {
      await deliver(rows[0] as Due)
      failures = 0
      await Promise.all(rows.map(({ id }) => outbox.done(id)))
    } catch (error) {
      failed(error)
      await Promise.all(rows.map(({ id }) => outbox.postpone(id))).catch(() => undefined)
    }
  }

  function begin(rows: readonly Due[]): void {
    const work: Promise<void> = handOver(rows).finally(() => underWay.delete(work))
    underWay.add(work)
  }

  /** False where there is nothing to do just now. */
  async function round(): Promise<boolean> {
    woken = false
    const rows = await outbox.take(CONCURRENCY - underWay.size)
    for (const same of Map.groupBy(rows, ({ workflowId }) => workflowId).values()) begin(same)
    if (underWay.size >= CONCURRENCY) await Promise.race(underWay)
    if (rows.length === 0) failures = 0
    return rows.length > 0
  }

  /** Until there is something to do, or it is time to look for it. */
  async function idle(): Promise<void> {
    idling = new AbortController()
    if (!woken) await rest(POLL, idling.signal)
  }

  /** What is in trouble is tried again later, and later still each time, whatever arrives meanwhile. */
  async function recover(): Promise<void> {
    await rest(Math.min(LONGEST_PAUSE, 100 * 2 ** failures), stopping.signal)
    if (failures > 0) failures++
  }

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      const busy = await round().catch(failed)
      if (failures > 0) await recover()
      else if (!busy) await idle()
    }
    await Promise.all(underWay)
  }

  const wake = (): void => {
    woken = true
    idling.abort()
  }
  const running = run()
  return {
    wake,
    async stop() {
      stopping.abort()
      wake()
      await running
    },
  }
}

const rest = (milliseconds: number, signal: AbortSignal): Promise<unknown> =>
  pause(milliseconds, undefined, { signal, ref: false }).catch(() => undefined)
