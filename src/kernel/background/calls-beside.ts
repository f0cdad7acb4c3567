import { type CalledSystem, SystemTurns } from '../run/system-turns.ts'

/** Calls of one owner to one system, under way or waiting for a turn. The owner’s other records come with a later sweep. */
const MOST_OF_OWNER = 20
const MOST = 500

interface CallBeside extends CalledSystem {
  /** Names the record and its deadline: it is not begun again while it is under way. */
  readonly key: string
}

/** The sweep's calls to other systems. They run beside its rounds, so that no deadline waits for an answer. */
export class CallsBeside {
  readonly #turns = new SystemTurns()
  readonly #underWay = new Map<string, Promise<void>>()
  readonly #ofOwner = new Map<string, number>()
  readonly #onFailure: (error: unknown) => void

  constructor(onFailure: (error: unknown) => void) {
    this.#onFailure = onFailure
  }

  /** Owners, each with a mode, whose records are to be left out: they have enough calls to this system. */
  fullOwners(system: string): string[] {
    const prefix = `${system} `
    return [...this.#ofOwner]
      .filter(([name, count]) => name.startsWith(prefix) && count >= MOST_OF_OWNER)
      .map(([name]) => name.slice(prefix.length))
  }

  begin({ key, ...called }: CallBeside, work: () => Promise<unknown>): void {
    const name = `${called.system} ${called.owner} ${called.mode}`
    const count = this.#ofOwner.get(name) ?? 0
    if (this.#underWay.has(key) || this.#underWay.size >= MOST || count >= MOST_OF_OWNER) return
    this.#ofOwner.set(name, count + 1)
    const done = this.#turns
      .run(called, () => work().catch(this.#onFailure))
      // Its turn did not come in time: a later sweep begins it again.
      .catch(() => undefined)
      .then(() => this.#end(key, name))
    this.#underWay.set(key, done)
  }

  #end(key: string, name: string): void {
    this.#underWay.delete(key)
    const left = (this.#ofOwner.get(name) ?? 1) - 1
    if (left === 0) this.#ofOwner.delete(name)
    else this.#ofOwner.set(name, left)
  }

  async settle(): Promise<void> {
    await Promise.all(this.#underWay.values())
  }
}
