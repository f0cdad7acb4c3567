import type { ProcessLease } from '../database/process-lease.ts'

interface OfOwner {
  readonly ownerId: string
}

interface ClaimedWorkParts<T> {
  readonly lease: ProcessLease
  /** Claims under the lease what there is room for. */
  readonly claim: (held: string) => Promise<readonly T[]>
  readonly serve: (claimed: T) => Promise<void>
  readonly onFailure: (error: unknown) => void
}

/** Serves what this process claims, whenever it is woken. It never claims twice at once, and no notice is lost. */
export class ClaimedWork<T extends OfOwner> {
  readonly #parts: ClaimedWorkParts<T>
  readonly #underWay = new Map<Promise<void>, T>()
  #claiming: Promise<void> | undefined
  #woken = false
  #stopped = false

  constructor(parts: ClaimedWorkParts<T>) {
    this.#parts = parts
  }

  readonly wake = (): void => {
    this.#woken = true
    this.#claiming ??= this.#claimAll().finally(() => {
      this.#claiming = undefined
    })
  }

  get underWay(): readonly T[] {
    return [...this.#underWay.values()]
  }

  /** The owners with at least this number under way. */
  ownersWith(least: number): string[] {
    const owners = Map.groupBy(this.#underWay.values(), ({ ownerId }) => ownerId)
    return [...owners].filter(([, all]) => all.length >= least).map(([owner]) => owner)
  }

  async stop(): Promise<void> {
    this.#stopped = true
    await this.#claiming
    await Promise.all(this.#underWay.keys())
  }

  async #claimAll(): Promise<void> {
    while (this.#woken && !this.#stopped) {
      this.#woken = false
      await this.#claimOnce().catch(this.#parts.onFailure)
    }
  }

  async #claimOnce(): Promise<void> {
    const { lease, claim } = this.#parts
    const held = await lease.hold()
    const claimed = await claim(held)
    // What was claimed under a lease that is over belongs to another process.
    if (lease.held !== held) return
    for (const one of claimed) this.#begin(one)
  }

  #begin(one: T): void {
    const serving: Promise<void> = this.#parts
      .serve(one)
      .catch(this.#parts.onFailure)
      .finally(() => {
        this.#underWay.delete(serving)
        this.wake()
      })
    this.#underWay.set(serving, one)
  }
}
