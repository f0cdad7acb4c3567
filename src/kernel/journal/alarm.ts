import { setTimeout as pause } from 'node:timers/promises'

/** A wait that can be cut short. One waits at a time. */
export class Alarm {
  #waiting: AbortController | undefined

  /** Ends the wait, if somebody waits. */
  ring(): void {
    this.#waiting?.abort()
  }

  /** Waits until it rings, and says so, or until the time is over. */
  async wait(milliseconds: number): Promise<boolean> {
    this.#waiting = new AbortController()
    const options = { signal: this.#waiting.signal, ref: false }
    return pause(milliseconds, false, options).catch(() => true)
  }
}
