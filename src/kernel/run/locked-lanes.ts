import { clock } from '../../values/clock.ts'

/** For how long a lane is taken for locked after it was found so: then its calls join the others again. */
const LOCKED_FOR_MS = 5_000
/** More are never remembered; those that are forgotten are found again. */
const MOST_LOCKED = 10_000

/** The lanes whose rows somebody else has locked. */
export class LockedLanes {
  readonly #until = new Map<string, number>()

  add(lanes: readonly string[]): void {
    if (this.#until.size > MOST_LOCKED) this.#until.clear()
    for (const lane of lanes) this.#until.set(lane, clock.ticks() + LOCKED_FOR_MS)
  }

  has(lane: string): boolean {
    const until = this.#until.get(lane)
    if (until === undefined) return false
    if (until > clock.ticks()) return true
    this.#until.delete(lane)
    return false
  }

  delete(lane: string): void {
    this.#until.delete(lane)
  }
}
