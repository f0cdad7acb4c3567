/** A function that runs in a thread: the thread imports its module, so the event loop need not. */
export interface ThreadTask {
  readonly module: URL
  readonly name: string
  /** Tasks of one owner run one at a time. */
  readonly owner: string
  /** Memory of the arguments that moves into the thread instead of being copied: the caller can no longer use it. */
  readonly transfer?: readonly ArrayBuffer[]
}

type AnyFunction = (...args: never[]) => unknown

/**
 * Runs work that would block the event loop in threads. Arguments and results are copied as by
 * `structuredClone`; a thread has no connection, no secret and no environment.
 */
export interface Threads {
  run<F extends AnyFunction>(task: ThreadTask, ...args: Parameters<F>): Promise<Awaited<ReturnType<F>>>
  /**
   * Runs a generator function and streams what it yields, no faster than it is read. Its last argument is
   * `pages`, each fetched by this process when the thread asks for it.
   */
  stream(task: ThreadTask, args: readonly unknown[], pages: AsyncIterable<unknown>): AsyncIterable<Uint8Array>
  /** Runs a generator function that reads bytes while they arrive. Its last two arguments are the bytes and `pages`. */
  feed(task: ThreadTask, args: readonly unknown[], pages: AsyncIterable<unknown>): Promise<ThreadByteFeed>
}

/** Bytes on their way into a thread, of which a bounded number is buffered. */
export interface ThreadByteFeed {
  /** Takes ownership of the bytes. Returns a promise if the thread is behind: the next bytes must wait for it. */
  add(bytes: Uint8Array): Promise<void> | undefined
  end(): void
  /** The bytes are incomplete: reading them in the thread throws. */
  breakOff(): void
  /** The next value that the function yields, requested after the last byte; undefined at its end. */
  next(): Promise<unknown>
  close(): void
}
