import { setTimeout as pause } from 'node:timers/promises'

interface Waiting<T, R> {
  readonly item: T
  readonly resolve: (result: R) => void
  readonly reject: (error: unknown) => void
}

export interface Limits {
  /** How many items one batch takes. */
  readonly size: number
  /** How many batches of one lane are under way at once. */
  readonly inFlight: number
  /** For how many it is worth to begin one; fewer wait for others to come. */
  readonly least?: () => number
}

/** Nobody waits longer for others to come, whatever holds up the batch under way: milliseconds. */
const PATIENCE = 25

/** What became of an item: its result, or why it has none. */
export type Settled<R> = PromiseSettledResult<R>

interface Lane<T, R> {
  readonly queue: Waiting<T, R>[]
  /** Batches under way, and how many items they have. */
  running: number
  underWay: number
  /** Somebody has waited long enough. */
  isUrgent: boolean
}

/**
 * Gathers what arrives while work is under way. An idle lane starts at the end of the turn: a single item is a
 * batch of one and waits for nobody. Beside another batch one starts when it is worth it: many small ones would cost
 * more than they save. Lanes never wait for each other.
 */
export function batcher<T, R>(
  { size, inFlight, least = () => 1 }: Limits,
  work: (items: readonly T[]) => Promise<readonly Settled<R>[]>,
): (lane: string, item: T) => Promise<R> {
  const lanes = new Map<string, Lane<T, R>>()

  async function run(name: string): Promise<void> {
    const lane = lanes.get(name)
    if (!lane || lane.running >= inFlight) return
    while (lane.queue.length > 0 && (lane.isUrgent || isWorthIt(lane, least()))) {
      const batch = lane.queue.splice(0, size)
      lane.isUrgent = false
      if (lane.queue.length > 0) hurryLater(name, lane)
      lane.running++
      lane.underWay += batch.length
      await deliver(batch)
      lane.running--
      lane.underWay -= batch.length
    }
    if (lane.running === 0 && lane.queue.length === 0) lanes.delete(name)
  }

  /** For what is too little to begin at once. */
  function hurryLater(name: string, lane: Lane<T, R>): void {
    const [first] = lane.queue
    void pause(PATIENCE, undefined, { ref: false }).then(() => {
      if (lane.queue[0] !== first) return
      lane.isUrgent = true
      void run(name)
    })
  }

  async function deliver(batch: readonly Waiting<T, R>[]): Promise<void> {
    try {
      const results = await work(batch.map(({ item }) => item))
      batch.forEach(({ resolve, reject }, index) => {
        const result = results[index]
        if (result?.status === 'fulfilled') resolve(result.value)
        else reject(result?.reason)
      })
    } catch (error) {
      for (const { reject } of batch) reject(error)
    }
  }

  return (name, item) =>
    new Promise((resolve, reject) => {
      const lane = lanes.get(name) ?? { queue: [], running: 0, underWay: 0, isUrgent: false }
      lanes.set(name, lane)
      lane.queue.push({ item, resolve, reject })
      // After what else this turn of the event loop brings.
      setImmediate(() => void run(name))
      if (lane.queue.length === 1) hurryLater(name, lane)
    })
}

/** At least half as many as are under way; what is fewer goes with the next one. */
const isWorthIt = ({ queue, underWay }: Lane<unknown, never>, least: number): boolean =>
  queue.length >= least && queue.length * 2 >= underWay
