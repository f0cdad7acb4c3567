import { clock } from '../../values/clock.ts'
import type { Mode } from '../contract/actor.ts'
import type { RegisteredOperation } from '../contract/operation.ts'
import { OwnerQueue, type OwnerQueueLimits } from './owner-queue.ts'

/** A system that does not answer holds so many calls of one owner, and of all owners. */
const LIMITS: OwnerQueueLimits = {
  atOnceOfOne: 4,
  atOnce: 32,
  waitingOfOne: 50,
  waiting: 200,
  waitMs: 5_000,
}

export class NoTurn extends Error {}

/** Longer than any call that did not get its turn stays away. */
const WAITS_MS = 90_000

/** The system that the operation calls, or its noun, where the contract names none. */
export const calledSystemOf = ({ key, operation }: RegisteredOperation): string =>
  operation.requires ?? key.split('.', 1).join()

export interface CalledSystem {
  readonly system: string
  readonly owner: string
  /** The sandbox of a system and the real one do not wait for each other. */
  readonly mode: Mode
}

/**
 * Calls to other systems, few of each owner and few to each system at once: one that hangs delays no call to another
 * system, and the calls of one owner delay those of others by their turns only.
 */
export class SystemTurns {
  readonly #queues = new Map<string, OwnerQueue>()
  /** Until when the owners count as waiting, the first one first. */
  readonly #waiting = new Map<string, number>()

  /** Throws `NoTurn` if the turn does not come in time. */
  async run<T>({ system, owner, mode }: CalledSystem, call: () => Promise<T>): Promise<T> {
    const name = `${mode} ${system}`
    const queue = this.#queues.get(name) ?? new OwnerQueue(LIMITS)
    this.#queues.set(name, queue)
    const end = await queue.acquire(owner).catch(() => {
      this.#note(`${name} ${owner}`)
      throw new NoTurn(`Other calls to ${system} are under way: this one waits for its turn.`)
    })
    try {
      return await call()
    } finally {
      end()
    }
  }

  /** Whether a call of the owner did not get its turn lately, and comes again by itself. */
  isAwaited({ system, owner, mode }: CalledSystem): boolean {
    return (this.#waiting.get(`${mode} ${system} ${owner}`) ?? 0) > clock.milliseconds()
  }

  #note(caller: string): void {
    const now = clock.milliseconds()
    for (const [other, until] of this.#waiting) {
      if (until > now) break
      this.#waiting.delete(other)
    }
    this.#waiting.delete(caller)
    this.#waiting.set(caller, now + WAITS_MS)
  }
}
