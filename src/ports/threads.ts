/** A function that a thread runs: the thread imports its module, the event loop need not. */
export interface Task {
  readonly module: URL
  readonly name: string
  /** Tasks of one owner run one at a time. */
  readonly owner: string
  /** Memory of the arguments that moves into the thread instead of being copied: it is gone here. */
  readonly transfer?: readonly ArrayBuffer[]
}

type AnyFunction = (...args: never[]) => unknown

/**
 * Runs work in threads that would block the event loop. Arguments and results are copied as by `structuredClone`; a
 * thread has no connection, no secret and no environment.
 */
export interface Threads {
  /** Runs a function and gives its result: `run<typeof readMessage>({ module, name: 'readMessage', owner }, text)`. */
  run<F extends AnyFunction>(task: Task, ...args: Parameters<F>): Promise<Awaited<ReturnType<F>>>
  /**
   * Runs a generator function and streams what it yields, no faster than it is read. Its last argument is `pages`, each
   * read here when the thread asks for it.
   */
  stream(task: Task, args: readonly unknown[], pages: AsyncIterable<unknown>): AsyncIterable<Uint8Array>
  /**
   * Runs a generator function that reads bytes while they arrive here. Its last two arguments are the bytes and `pages`.
   */
  feed(task: Task, args: readonly unknown[], pages: AsyncIterable<unknown>): Promise<Feed>
}

/** Bytes on their way into a thread, a bounded number of them at a time. */
export interface Feed {
  /** Takes the bytes over: they are gone here. Where the thread is behind, it gives a promise: the next ones are to wait for it. */
  add(bytes: Uint8Array): Promise<void> | undefined
  /** There are no more bytes. */
  end(): void
  /** No more bytes will come, and some are missing: what reads them in the thread throws. */
  breakOff(): void
  /** What the function yields next, to be asked for after the last byte; undefined at its end. */
  next(): Promise<unknown>
  /** Nobody needs more of it. */
  close(): void
}
