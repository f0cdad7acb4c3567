import { callOnce, OwnerQueue, type OwnerQueueLimits } from '../../kernel/run/owner-queue.ts'
import type { Threads, ThreadTask } from '../../ports/threads.ts'
import { type ThreadJob, type ThreadOptions, WorkerThread } from './thread.ts'

/** Two threads are enough: each interleaves the steps of several jobs. */
const THREADS = 2
const IDLE_MS = 60_000
/** A client that reads its document more slowly than this is cut off, to free the place. */
const JOB_LIMIT_MS = 600_000
const LIMITS: OwnerQueueLimits = {
  atOnceOfOne: 1,
  atOnce: 16,
  waitingOfOne: 20,
  waiting: 100,
  waitMs: 30_000,
}
/** Jobs with input mostly wait for their sender, and their memory is already reserved. */
const INPUT_LIMITS: Partial<OwnerQueueLimits> = { atOnceOfOne: 8, atOnce: 256 }

export interface ThreadPoolOptions extends ThreadOptions {
  readonly limits?: Partial<OwnerQueueLimits>
  readonly jobLimitMs?: number
}

async function* none(): AsyncGenerator<never> {}

export class ThreadPool implements Threads {
  readonly #options: ThreadPoolOptions
  /** Separate queues: a transaction may wait for a result while a stream waits for a connection. */
  readonly #turns: { readonly run: OwnerQueue; readonly stream: OwnerQueue; readonly feed: OwnerQueue }
  readonly #idle = new Map<WorkerThread, NodeJS.Timeout>()
  #threads: WorkerThread[] = []

  constructor(options: ThreadPoolOptions) {
    this.#options = options
    const limits = { ...LIMITS, ...options.limits }
    this.#turns = {
      run: new OwnerQueue(limits),
      stream: new OwnerQueue(limits),
      feed: new OwnerQueue({ ...limits, ...INPUT_LIMITS }),
    }
  }

  run: Threads['run'] = async (task, ...args) => {
    for await (const result of this.#work(this.#turns.run, task, args, none())) return result as never
    throw new Error(`${task.name} has no result`)
  }

  stream: Threads['stream'] = (task, args, pages) =>
    this.#work(this.#turns.stream, task, args, pages) as AsyncIterable<Uint8Array>

  async stop(): Promise<void> {
    for (const timer of this.#idle.values()) clearTimeout(timer)
    await Promise.all(this.#threads.map(thread => thread.end()))
  }

  /** The job may take as long as its upload, so several jobs of one owner run at once. */
  feed: Threads['feed'] = async (task, args, pages) => {
    const { job, end } = await this.#begin(this.#turns.feed, task, args, true)
    const pieces = job.pieces(pages)
    return {
      add: bytes => job.add(bytes),
      end: () => job.bytes.end(),
      breakOff: () => job.bytes.breakOff(),
      next: async () => (await pieces.next()).value,
      close: () => {
        job.close()
        end()
      },
    }
  }

  async *#work(
    turns: OwnerQueue,
    task: ThreadTask,
    args: readonly unknown[],
    pages: AsyncIterable<unknown>,
  ): AsyncGenerator<unknown> {
    const { job, end } = await this.#begin(turns, task, args, false)
    try {
      yield* job.pieces(pages)
    } finally {
      end()
    }
  }

  async #begin(turns: OwnerQueue, task: ThreadTask, args: readonly unknown[], hasInput: boolean) {
    const endTurn = await turns.acquire(task.owner)
    const thread = this.#thread()
    thread.jobs++
    // A timer, because a caller that never asks for the next piece triggers no other check.
    const limit = setTimeout(() => {
      job?.close()
      end()
    }, this.#options.jobLimitMs ?? JOB_LIMIT_MS).unref()
    const end = callOnce(() => {
      clearTimeout(limit)
      thread.jobs--
      this.#restSoon(thread)
      endTurn()
    })
    let job: ThreadJob | undefined
    try {
      job = thread.begin(task, args, hasInput)
      return { job, end }
    } catch (error) {
      end()
      throw error
    }
  }

  #thread(): WorkerThread {
    this.#threads = this.#threads.filter(({ hasEnded }) => !hasEnded)
    const [least] = this.#threads.toSorted((a, b) => a.jobs - b.jobs)
    if (least && (least.jobs === 0 || this.#threads.length >= THREADS)) {
      clearTimeout(this.#idle.get(least))
      return least
    }
    const thread = new WorkerThread(this.#options)
    this.#threads.push(thread)
    return thread
  }

  #restSoon(thread: WorkerThread): void {
    clearTimeout(this.#idle.get(thread))
    this.#idle.delete(thread)
    if (thread.hasEnded || thread.jobs > 0) return
    const timer = setTimeout(() => void thread.end(), IDLE_MS).unref()
    this.#idle.set(thread, timer)
  }
}
