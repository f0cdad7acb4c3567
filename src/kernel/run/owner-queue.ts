import { clock } from '../../values/clock.ts'
import { ClientGone, Problem } from '../contract/problem.ts'

export interface OwnerQueueLimits {
  readonly atOnceOfOne: number
  readonly atOnce: number
  readonly waitingOfOne: number
  readonly waiting: number
  readonly waitMs: number
}

interface WaitingTask {
  readonly begin: () => void
  readonly refuse: (why: Problem) => void
  /** The rest of what has begun: neither counted nor refused, since its requester has already been let in. */
  readonly isPatient: boolean
}

interface Waiting {
  /** Aborted when the client leaves, which gives its place to the next one. Asked for only where it waits. */
  readonly whenGone?: (() => AbortSignal | undefined) | undefined
  readonly isPatient?: boolean
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
  readonly #waiting = new Map<string, WaitingTask[]>()
  #allWaiting = 0

  constructor(limits: OwnerQueueLimits) {
    this.#limits = limits
  }

  /**
   * Waits for the owner's turn and returns the function that ends it. Throws a Problem where the queue is
   * full or slow: 429 where the owner's own tasks are the reason, otherwise 503.
   */
  async acquire(owner: string, waiting: Waiting = {}): Promise<() => void> {
    if (!this.#mayBegin(owner)) await this.#wait(owner, waiting)
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

  #wait(owner: string, { whenGone, isPatient = false }: Waiting): Promise<void> {
    const gone = whenGone?.()
    if (gone?.aborted) throw new ClientGone()
    if (!isPatient) this.#refuseTooMany(owner)
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const task: WaitingTask = { begin: resolve, refuse: reject, isPatient }
    this.#waiting.set(owner, [...(this.#waiting.get(owner) ?? []), task])
    if (!isPatient) this.#allWaiting++
    const onGone = () => {
      this.#leave(owner, task)
      reject(new ClientGone())
    }
    gone?.addEventListener('abort', onGone)
    const stopWaiting = isPatient ? undefined : this.#refuseLate(owner, task, reject)
    return promise.finally(() => {
      stopWaiting?.()
      gone?.removeEventListener('abort', onGone)
    })
  }

  #refuseLate(owner: string, task: WaitingTask, reject: (why: Problem) => void): () => void {
    const { waitMs } = this.#limits
    return clock.alarm(waitMs, () => {
      this.#leave(owner, task)
      const waited = `The request has waited ${waitMs / 1_000} seconds in the queue`
      reject(
        this.#isFull(owner)
          ? rateLimitedProblem(
              `${waited}, behind your other requests. Send the next one after their answers.`,
            )
          : busy(`${waited}, behind other owners’ requests.`),
      )
    })
  }

  #leave(owner: string, task: WaitingTask): void {
    const rest = (this.#waiting.get(owner) ?? []).filter(other => other !== task)
    if (rest.length === 0) this.#waiting.delete(owner)
    else this.#waiting.set(owner, rest)
    if (!task.isPatient) this.#allWaiting--
  }

  #refuseTooMany(owner: string): void {
    const { waiting, waitingOfOne } = this.#limits
    const own = impatient(this.#waiting.get(owner)).length
    if (own >= waitingOfOne)
      throw rateLimitedProblem(
        `${own} of your requests are already waiting. Send the next one after their answers.`,
      )
    if (this.#allWaiting >= waiting) this.#makeRoomBeside(own)
  }

  /** The newest request of the owner with the most waiting is refused, or the one that comes, with `own` of its owner. */
  #makeRoomBeside(own: number): void {
    const [most] = [...this.#waiting]
      .map(([owner, tasks]) => ({ owner, tasks: impatient(tasks) }))
      .toSorted((one, other) => other.tasks.length - one.tasks.length)
    const newest = most?.tasks.at(-1)
    if (!most || !newest || most.tasks.length <= own + 1)
      throw own === 0 ? busy('Too many requests are waiting.') : tooManyOf(own + 1)
    this.#leave(most.owner, newest)
    newest.refuse(tooManyOf(most.tasks.length))
  }

  #release(owner: string): void {
    this.#count(owner, -1)
    for (const [next, [task]] of [...this.#waiting]) {
      if (!task || !this.#mayBegin(next)) continue
      this.#leave(next, task)
      const rest = this.#waiting.get(next)
      // The other waiting owners come before its next task.
      if (rest && this.#waiting.delete(next)) this.#waiting.set(next, rest)
      this.#count(next, 1)
      // What others sent meanwhile comes first: one promise after the other would let nothing in between.
      setImmediate(task.begin)
    }
  }
}

const impatient = (tasks: readonly WaitingTask[] = []): WaitingTask[] =>
  tasks.filter(({ isPatient }) => !isPatient)

const RETRY_AFTER_SECONDS = 5

export const rateLimitedProblem = (why: string, seconds = RETRY_AFTER_SECONDS): Problem =>
  new Problem('rate_limited', why, { 'Retry-After': String(seconds) })

const tooManyOf = (own: number): Problem =>
  rateLimitedProblem(
    `Too many requests are waiting, ${own} of them yours. Send the next one after their answers.`,
  )

const busy = (why: string): Problem =>
  new Problem('busy', `${why} Try again.`, { 'Retry-After': String(RETRY_AFTER_SECONDS) })

export function callOnce(work: () => void): () => void {
  let isDone = false
  return () => {
    if (!isDone) work()
    isDone = true
  }
}
