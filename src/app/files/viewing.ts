import { availableParallelism } from 'node:os'
import { viewTask } from '../../adapters/file-viewer/viewer.ts'
import { type TurnLimits, Turns, tooMany } from '../../kernel/run/owner-queue.ts'
import type { Viewer } from '../../ports/viewer.ts'
import { clock } from '../../values/clock.ts'

/** Two at least: while a file of one owner is looked at, another owner's is too. Each may need 256 MiB. */
const VIEWERS = Math.min(4, Math.max(2, availableParallelism()))
const LIMITS: TurnLimits = {
  atOnceOfOne: 1,
  atOnce: VIEWERS,
  waitingOfOne: 20,
  waiting: 200,
  waitMs: 15_000,
}
/** The time of viewers that one owner may use at once, and how much of each second comes back. */
const BUDGET = { ms: 30_000, share: 0.5 } as const
const MOST_OWNERS = 10_000

interface Used {
  readonly ms: number
  readonly at: number
}

/** The time that the files of each owner have taken, less what has come back since. */
class TimeBudget {
  readonly #used = new Map<string, Used>()

  used(owner: string): number {
    const used = this.#used.get(owner)
    return used ? Math.max(0, used.ms - (clock.ticks() - used.at) * BUDGET.share) : 0
  }

  add(owner: string, ms: number): void {
    const all = this.used(owner) + ms
    this.#used.delete(owner)
    if (this.#used.size >= MOST_OWNERS) this.#forget()
    this.#used.set(owner, { ms: all, at: clock.ticks() })
  }

  #forget(): void {
    for (const owner of this.#used.keys()) if (this.used(owner) === 0) this.#used.delete(owner)
  }

  /** Refuses an owner whose files have taken more than is due to one. */
  check(owner: string): void {
    const over = this.used(owner) - BUDGET.ms
    if (over <= 0) return
    const seconds = Math.ceil(over / BUDGET.share / 1_000)
    throw tooMany(
      `Looking at your files has taken more than ${BUDGET.ms / 1_000} seconds. Send the next one in ${seconds} seconds, or files that are simpler to draw.`,
      seconds,
    )
  }
}

/** Viewers that owners share fairly: one file of each at a time, in turns, and no more time than is due to one owner. */
export function sharedViewers(): Viewer {
  const turns = new Turns(LIMITS)
  const budget = new TimeBudget()
  return {
    async look(owner, kind, carryOut) {
      const end = await turns.take(owner)
      const began = clock.ticks()
      try {
        budget.check(owner)
        return await carryOut(viewTask(kind))
      } finally {
        budget.add(owner, clock.ticks() - began)
        end()
      }
    },
  }
}
