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

/** Whether it calls another system: a bank, a processor, a merchant. */
export const callsOutside = ({ operation }: RegisteredOperation): boolean => operation.run === 'external'

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

  /** Throws `NoTurn` if the turn does not come in time. */
  async run<T>({ system, owner, mode }: CalledSystem, call: () => Promise<T>): Promise<T> {
    const name = `${mode} ${system}`
    const queue = this.#queues.get(name) ?? new OwnerQueue(LIMITS)
    this.#queues.set(name, queue)
    const end = await queue.acquire(owner).catch(() => {
      throw new NoTurn(`Other calls to ${system} are under way: this one waits for its turn.`)
    })
    try {
      return await call()
    } finally {
      end()
    }
  }
}
