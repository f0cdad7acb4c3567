import { clock } from '../../values/clock.ts'
import { Problem } from '../contract/problem.ts'

export interface OwnerQueueLimits {
  readonly atOnceOfOne: number
  readonly atOnce: number
  readonly waitingOfOne: number
  readonly waiting: number
  readonly waitMs: number
}

/**
 * A bounded queue that runs few tasks of each owner at a time, several owners side by side. Waiting owners
 * take turns: one with many tasks delays another by one task.
 */
export class OwnerQueue {
  readonly #limits: OwnerQueueLimits
  readonly #atWork = new Map<string, number>()
  #allAtWork = 0
  /** Starts each waiting task. The owner whose turn is next comes first. */
  readonly #waiting = new Map<string, (() => void)[]>()
  #allWaiting = 0

  constructor(limits: OwnerQueueLimits) {
    this.#limits = limits
  }

  /**
   * Waits for the owner's turn and returns the function that ends it. Throws a Problem where the queue is
   * full or slow: 429 where the owner's own tasks are the reason, otherwise 503. A client that leaves gives its
   * place to the next one.
   */
  async acquire(owner: string, gone?: AbortSignal): Promise<() => void> {
    if (gone?.aborted) throw clientGone()
    if (!this.#mayBegin(owner)) await this.#wait(owner, gone)
    else this.#count(owner, 1)
    return callOnce(() => this.#release(owner))
  }

  #mayBegin(owner: string): boolean {
    return this.#allAtWork < this.#limits.atOnce && !this.#isFull(owner)
  }

  #isFull(owner: string): boolean {
    return (this.#atWork.get(owner) ?? 0) >= this.#limits.atOnceOfOne
  }

  #count(owner: string, more: number): void {
    this.#allAtWork += more
    const ofOwner = (this.#atWork.get(owner) ?? 0) + more
    if (ofOwner === 0) this.#atWork.delete(owner)
    else this.#atWork.set(owner, ofOwner)
  }

  #wait(owner: string, gone: AbortSignal | undefined): Promise<void> {
    this.#refuseTooMany(owner)
    const { waitMs } = this.#limits
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    this.#waiting.set(owner, [...(this.#waiting.get(owner) ?? []), resolve])
    this.#allWaiting++
    const onGone = () => {
      this.#leave(owner, resolve)
      reject(clientGone())
    }
    gone?.addEventListener('abort', onGone)
    const stopWaiting = clock.alarm(waitMs, () => {
      this.#leave(owner, resolve)
      const waited = `The request has waited ${waitMs / 1_000} seconds in the queue`
      reject(
        this.#isFull(owner)
          ? rateLimitedProblem(
              `${waited}, behind your other requests. Send the next one after their answers.`,
            )
          : busy(`${waited}, behind other owners’ requests.`),
      )
    })
    return promise.finally(() => {
      stopWaiting()
      gone?.removeEventListener('abort', onGone)
    })
  }

  #leave(owner: string, begin: () => void): void {
    const rest = (this.#waiting.get(owner) ?? []).filter(other => other !== begin)
    if (rest.length === 0) this.#waiting.delete(owner)
    else this.#waiting.set(owner, rest)
    this.#allWaiting--
  }

  #refuseTooMany(owner: string): void {
    const { waiting, waitingOfOne } = this.#limits
    const own = this.#waiting.get(owner)?.length ?? 0
    if (own >= waitingOfOne)
      throw rateLimitedProblem(
        `${own} of your requests are already waiting. Send the next one after their answers.`,
      )
    if (this.#allWaiting >= waiting) throw busy('Too many requests are waiting.')
  }

  #release(owner: string): void {
    this.#count(owner, -1)
    for (const [next, [begin]] of [...this.#waiting]) {
      if (!begin || !this.#mayBegin(next)) continue
      this.#leave(next, begin)
      const rest = this.#waiting.get(next)
      // The other waiting owners come before its next task.
      if (rest && this.#waiting.delete(next)) this.#waiting.set(next, rest)
      this.#count(next, 1)
      begin()
    }
  }
}

const RETRY_AFTER_SECONDS = 5

export const rateLimitedProblem = (why: string, seconds = RETRY_AFTER_SECONDS): Problem =>
  new Problem('rate_limited', why, { 'Retry-After': String(seconds) })

/** The connection is closed, so that no client reads it. */
const clientGone = (): Problem => new Problem('busy', 'The client has left.')

const busy = (why: string): Problem =>
  new Problem('busy', `${why} Try again.`, { 'Retry-After': String(RETRY_AFTER_SECONDS) })

export function callOnce(work: () => void): () => void {
  let isDone = false
  return () => {
    if (!isDone) work()
    isDone = true
  }
}
