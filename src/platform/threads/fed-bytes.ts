import { freeMemory } from '../../values/free-memory.ts'
import type { StepRequest } from './messages.ts'

/** Large enough that a message costs little beside what is done with its bytes. */
const BUFFER = 262_144
/** The first one, which is all that a small body needs: a connection holds as much anyway. */
const FIRST_BUFFER = 65_536
/** How many buffers one job has: so much memory is on its way to its thread, whatever the length of what is sent. */
const MOST_BUFFERS = 4

type Post = (message: StepRequest, memory: ArrayBuffer[]) => void

/**
 * Takes bytes over, which are gone then, and collects them in buffers that move to the thread when they are full, and come
 * back when it has read them.
 */
export class FedBytes {
  readonly #post: Post
  readonly #free: ArrayBuffer[] = []
  #made = 0
  #hasEnded = false
  #filling: Uint8Array<ArrayBuffer> | undefined
  #length = 0
  #room: PromiseWithResolvers<void> | undefined

  constructor(post: Post) {
    this.#post = post
  }

  add(bytes: Uint8Array): Promise<void> | undefined {
    for (let rest = bytes; rest.length > 0; ) {
      this.#filling ??= this.#buffer()
      if (!this.#filling) return this.#whenFree().then(() => this.add(rest))
      const some = rest.subarray(0, this.#filling.length - this.#length)
      this.#filling.set(some, this.#length)
      this.#length += some.length
      rest = rest.subarray(some.length)
      if (this.#length === this.#filling.length) this.#send()
    }
    freeMemory(bytes)
    return undefined
  }

  end(): void {
    if (this.#length > 0) this.#send()
    this.#freeAll()
    this.#post({ bytes: null }, [])
  }

  breakOff(): void {
    this.#post({ isBrokenOff: true }, [])
  }

  giveBack(memory: ArrayBuffer): void {
    this.#free.push(memory)
    if (this.#hasEnded) this.#freeAll()
    this.#room?.resolve()
  }

  /** Nobody reads any more. */
  stop(reason: unknown): void {
    this.#freeAll()
    this.#room?.reject(reason)
  }

  #freeAll(): void {
    this.#hasEnded = true
    for (const memory of this.#free.splice(0)) freeMemory(new Uint8Array(memory))
  }

  #buffer(): Uint8Array<ArrayBuffer> | undefined {
    const memory = this.#free.pop()
    if (memory) return new Uint8Array(memory)
    if (this.#made === MOST_BUFFERS) return undefined
    const size = this.#made++ === 0 ? FIRST_BUFFER : BUFFER
    return new Uint8Array(Buffer.allocUnsafeSlow(size).buffer)
  }

  #send(): void {
    const filled = this.#filling
    if (!filled) return
    this.#filling = undefined
    const bytes = filled.subarray(0, this.#length)
    this.#length = 0
    this.#post({ bytes }, [filled.buffer])
  }

  #whenFree(): Promise<void> {
    this.#room = Promise.withResolvers()
    return this.#room.promise
  }
}
