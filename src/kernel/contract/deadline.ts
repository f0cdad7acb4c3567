import type { Process } from './process.ts'

/** Records whose processes wait by the tenant's time, and must be woken when a test clock moves. */
export interface Waiting {
  readonly process: Process
  readonly table: string
  /** The column that names the record of the process, and of the operation. */
  readonly record: string
  /** The column of the agent that the record belongs to. */
  readonly agent: string
  /** SQL condition: the record is open. */
  readonly open: string
  /** SQL condition: a process waits for this open record. */
  readonly waits: string
}

/** Records that end at an instant: the column of the instant, and the operations that end one. */
export interface Deadline extends Waiting {
  /** The column of the instant, in the tenant's time. */
  readonly due: string
  /**
   * The keys of the operations that end a record, in this order. Each is harmless where nothing is left to do. One that
   * answers `{done: false}` is run again by the next sweep, and the later ones wait for it.
   */
  readonly operations: readonly string[]
}
