/** A function of a module that a thread loads: its module may not be imported where the event loop runs. */
export interface Task {
  readonly module: URL
  readonly name: string
  /** For whom: of one owner one is at work at a time, and the next ones wait their turn. */
  readonly owner: string
}

type AnyFunction = (...args: never[]) => unknown

/**
 * Work that would hold the event loop, done in threads beside it. Arguments and results are copied, as
 * `structuredClone` copies; a thread has no connection, no secret and no environment.
 */
export interface Threads {
  /** What the function returns: `run<typeof readMessage>({ module, name: 'readMessage', owner }, text)`. */
  run<F extends AnyFunction>(task: Task, ...args: Parameters<F>): Promise<Awaited<ReturnType<F>>>
  /**
   * What a generator function yields, made no faster than it is taken. Its last argument is `pages`: each is read on
   * this side, when the thread asks for it.
   */
  stream(task: Task, args: readonly unknown[], pages: AsyncIterable<unknown>): AsyncIterable<Uint8Array>
}
