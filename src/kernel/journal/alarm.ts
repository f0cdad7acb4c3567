import { setTimeout as pause } from 'node:timers/promises'

const RUNG = new Error('the alarm has rung')

/** A wait that can be cut short. One waits at a time. */
export class Alarm {
  #waiting: AbortController | undefined

  /** Ends the wait, if somebody waits, and once: each of a thousand events a second rings, and ending a wait is dear. */
  ring(): void {
    const waiting = this.#waiting
    this.#waiting = undefined
    waiting?.abort(RUNG)
  }

  /** Waits until it rings, and says so, or until the time is over. */
  async wait(milliseconds: number): Promise<boolean> {
    const waiting = new AbortController()
    this.#waiting = waiting
    return pause(milliseconds, false, { signal: waiting.signal, ref: false }).catch(() => true)
  }
}
