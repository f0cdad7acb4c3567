/** The bytes that a job is fed, in order. The memory of each buffer is given back when the next one is asked for. */
export class ReceivedBytes implements AsyncIterable<Uint8Array> {
  readonly #giveBack: (memory: ArrayBuffer) => void
  readonly #waiting: Uint8Array<ArrayBuffer>[] = []
  #isWhole = false
  #failure: Error | undefined
  #news = Promise.withResolvers<void>()

  constructor(giveBack: (memory: ArrayBuffer) => void) {
    this.#giveBack = giveBack
  }

  /** Null is the end. */
  take(bytes: Uint8Array<ArrayBuffer> | null): void {
    if (bytes) this.#waiting.push(bytes)
    else this.#isWhole = true
    this.#news.resolve()
  }

  breakOff(failure: Error): void {
    if (!this.#isWhole) this.#failure ??= failure
    this.#news.resolve()
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    for (;;) {
      if (this.#failure) throw this.#failure
      const bytes = this.#waiting.shift()
      if (bytes) {
        yield bytes
        this.#giveBack(bytes.buffer)
      } else if (this.#isWhole) return
      else {
        await this.#news.promise
        this.#news = Promise.withResolvers()
      }
    }
  }
}
