import { setTimeout as pause } from 'node:timers/promises'

interface Submitted<T, R> {
  readonly item: T
  readonly resolve: (result: R | Promise<R>) => void
  readonly reject: (error: unknown) => void
}

export interface BatchLimits {
  readonly size: number
  readonly inFlight: number
  /** One batch more is started while the others have no more items than this together. */
  readonly spareBelow?: number
  /** The smallest batch worth starting beside others; fewer items wait for more. */
  readonly least?: () => number
}

const FILL_TIMEOUT_MS = 25

export type BatchResult<R> = PromiseSettledResult<R | Promise<R>>

interface Queue<T, R> {
  readonly waiting: Submitted<T, R>[]
  batchesUnderWay: number
  itemsUnderWay: number
  isOverdue: boolean
}

/**
 * Batches the items that arrive while earlier batches run. An idle queue starts at the end of the turn of the
 * event loop, so a single item is a batch of one and does not wait. Beside another batch only a large enough
 * one starts: many small ones would cost more than they save. Queues never wait for each other.
 */
export function batcher<T, R>(
  { size, inFlight, spareBelow = -1, least = () => 1 }: BatchLimits,
  work: (items: readonly T[]) => Promise<readonly BatchResult<R>[]>,
): (queueName: string, item: T) => Promise<R> {
  const queues = new Map<string, Queue<T, R>>()

  async function run(name: string): Promise<void> {
    const queue = queues.get(name)
    if (!queue) return
    while (hasRoom(queue) && queue.waiting.length > 0 && (queue.isOverdue || isLargeEnough(queue, least()))) {
      const batch = queue.waiting.splice(0, size)
      queue.isOverdue = false
      if (queue.waiting.length > 0) startLater(name, queue)
      queue.batchesUnderWay++
      queue.itemsUnderWay += batch.length
      await deliver(batch)
      queue.batchesUnderWay--
      queue.itemsUnderWay -= batch.length
    }
    if (queue.batchesUnderWay === 0 && queue.waiting.length === 0) queues.delete(name)
  }

  const hasRoom = ({ batchesUnderWay, itemsUnderWay }: Queue<T, R>): boolean =>
    batchesUnderWay < inFlight || (batchesUnderWay === inFlight && itemsUnderWay <= spareBelow)

  function startLater(name: string, queue: Queue<T, R>): void {
    const [first] = queue.waiting
    void pause(FILL_TIMEOUT_MS, undefined, { ref: false }).then(() => {
      if (queue.waiting[0] !== first) return
      queue.isOverdue = true
      void run(name)
    })
  }

  async function deliver(batch: readonly Submitted<T, R>[]): Promise<void> {
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
      const queue = queues.get(name) ?? {
        waiting: [],
        batchesUnderWay: 0,
        itemsUnderWay: 0,
        isOverdue: false,
      }
      queues.set(name, queue)
      queue.waiting.push({ item, resolve, reject })
      // The batch takes the items of the whole turn of the event loop.
      setImmediate(() => void run(name))
      if (queue.waiting.length === 1) startLater(name, queue)
    })
}

const isLargeEnough = ({ waiting, itemsUnderWay }: Queue<unknown, never>, least: number): boolean =>
  waiting.length >= least && waiting.length * 2 >= itemsUnderWay
