/** A wait that can be cut short. One waits at a time. */
export class Alarm {
  #wake: ((isRung: boolean) => void) | undefined

  /** Ends the wait, if somebody waits. It costs nothing where nobody does: each of a thousand events a second rings. */
  ring(): void {
    this.#wake?.(true)
  }

  /** Waits until it rings, and says so, or until the time is over. */
  wait(milliseconds: number): Promise<boolean> {
    return new Promise(resolve => {
      const wake = (isRung: boolean): void => {
        clearTimeout(limit)
        this.#wake = undefined
        resolve(isRung)
      }
      const limit = setTimeout(wake, milliseconds, false).unref()
      this.#wake = wake
    })
  }
}
