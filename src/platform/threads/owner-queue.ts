import { Problem } from '../../kernel/contract/problem.ts'

export interface TurnLimits {
  /** How many tasks run at once, of one owner and of all owners together. */
  readonly atOnceOfOne: number
  readonly atOnce: number
  /** How many tasks may wait, of one owner and of all owners together. */
  readonly waitingOfOne: number
  readonly waiting: number
  readonly waitMs: number
}

interface Waiting {
  readonly owner: string
  readonly begin: () => void
}

/** A bounded queue that runs few tasks of each owner at a time, several owners side by side. */
export class Turns {
  readonly #limits: TurnLimits
  /** How many tasks of each owner are at work. */
  readonly #atWork = new Map<string, number>()
  #allAtWork = 0
  readonly #waiting = new Set<Waiting>()

  constructor(limits: TurnLimits) {
    this.#limits = limits
  }

  /**
   * Waits for the owner's turn and gives the function that ends it; throws a Problem when the queue is full or slow.
   */
  async take(owner: string): Promise<() => void> {
    if (!this.#mayBegin(owner)) await this.#wait(owner)
    else this.#count(owner, 1)
    return once(() => this.#release(owner))
  }

  #mayBegin(owner: string): boolean {
    const { atOnce, atOnceOfOne } = this.#limits
    return this.#allAtWork < atOnce && (this.#atWork.get(owner) ?? 0) < atOnceOfOne
  }

  #count(owner: string, more: number): void {
    this.#allAtWork += more
    const ofOwner = (this.#atWork.get(owner) ?? 0) + more
    if (ofOwner === 0) this.#atWork.delete(owner)
    else this.#atWork.set(owner, ofOwner)
  }

  #wait(owner: string): Promise<void> {
    this.#refuseTooMany(owner)
    const { waitMs } = this.#limits
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const waiting = { owner, begin: resolve }
    this.#waiting.add(waiting)
    const limit = setTimeout(() => {
      this.#waiting.delete(waiting)
      reject(
        busy(`This has waited ${waitMs / 1_000} seconds for its turn, behind others of yours or of others.`),
      )
    }, waitMs)
    return promise.finally(() => clearTimeout(limit))
  }

  #refuseTooMany(owner: string): void {
    const { waiting, waitingOfOne } = this.#limits
    const own = [...this.#waiting].filter(task => task.owner === owner).length
    if (own >= waitingOfOne)
      throw new Problem(
        'rate_limited',
        `${own} requests of yours wait already for one that is at work. Send the next one when they have been answered.`,
        RETRY,
      )
    if (this.#waiting.size >= waiting) throw busy('Too many wait for their turn.')
  }

  #release(owner: string): void {
    this.#count(owner, -1)
    for (const waiting of this.#waiting) {
      if (!this.#mayBegin(waiting.owner)) continue
      this.#waiting.delete(waiting)
      this.#count(waiting.owner, 1)
      waiting.begin()
    }
  }
}

const RETRY = { 'Retry-After': '5' }

const busy = (why: string): Problem => new Problem('busy', `${why} Try again.`, RETRY)

/** The function, which does nothing when it is called again. */
export function once(work: () => void): () => void {
  let isDone = false
  return () => {
    if (!isDone) work()
    isDone = true
  }
}
