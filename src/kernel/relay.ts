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
  let stopped = false
  let failures = 0
  let poke = (): void => undefined

  const idle = (): Promise<unknown> => {
    const poked = new Promise<void>(resolve => {
      poke = resolve
    })
    return Promise.race([poked, pause(POLL, undefined, { ref: false })])
  }

  async function handOver(rows: readonly Due[]): Promise<void> {
    try {
      await deliver(rows[0] as Due)
      failures = 0
      await Promise.all(rows.map(({ id }) => outbox.done(id)))
    } catch (error) {
      failures++
      onFailure(error)
      await Promise.all(rows.map(({ id }) => outbox.postpone(id))).catch(() => undefined)
    }
  }

  function begin(rows: readonly Due[]): void {
    const work: Promise<void> = handOver(rows).finally(() => underWay.delete(work))
    underWay.add(work)
  }

  /** False where there is nothing to do just now. */
  async function round(): Promise<boolean> {
    const rows = await outbox.take(CONCURRENCY - underWay.size)
    for (const same of Map.groupBy(rows, ({ workflowId }) => workflowId).values()) begin(same)
    if (underWay.size >= CONCURRENCY) await Promise.race(underWay)
    return rows.length > 0
  }

  async function run(): Promise<void> {
    while (!stopped) {
      const busy = await round().catch(error => {
        failures++
        onFailure(error)
        return false
      })
      if (failures > 0) await pause(Math.min(LONGEST_PAUSE, 100 * 2 ** failures), undefined, { ref: false })
      else if (!busy) await idle()
    }
    await Promise.all(underWay)
  }

  const running = run()
  return {
    wake: () => poke(),
    async stop() {
      stopped = true
      poke()
      await running
    },
  }
}
