import type { Process } from './process.ts'

/** Records for which processes wait by the tenant's time. */
export interface Waiting {
  readonly process: Process
  readonly table: string
  /** The column that names the record of the process, and of the operation. */
  readonly record: string
  /** The column that names the agent to whom it belongs. */
  readonly agent: string
  /** SQL that tells which records still have it before them. */
  readonly open: string
  /** SQL that tells for which of these a process waits. */
  readonly waits: string
}

/** Records that end by themselves: where their instant stands, and the operation that ends one. */
export interface Deadline extends Waiting {
  /** The column of the instant, in the tenant's time. */
  readonly due: string
  /**
   * The operations that end one, by their keys, in this order. Each does nothing where there is nothing to do; what
   * answers `{done: false}` goes on the next time, and those after it wait.
   */
  readonly operations: readonly string[]
}
