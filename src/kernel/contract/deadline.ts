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
export interface Deadline
  extends Pick<Waiting, 'process' | 'table' | 'open'>,
    Partial<Pick<Waiting, 'record' | 'agent' | 'waits'>> {
  /** The column of the instant, in the tenant's time. */
  readonly due?: string
  /**
   * The keys of the operations that end a record, in this order. Each is harmless where nothing is left to do. One that
   * answers `{done: false}` is run again by the next sweep, and the later ones wait for it.
   */
  readonly operations: readonly string[]
}

/** A deadline with what is left out of most: the record has the names of all records, no agent, and no process that waits. */
export const completeDeadline = (deadline: Deadline): Required<Deadline> => ({
  ...{ record: 'id', agent: 'null::text', due: 'due_at', waits: 'false' },
  ...deadline,
})

/** The records of a noun that need a run of its process for as long as they are open. */
export interface OpenRecords {
  readonly process: Process
  /**
   * SQL that gives `id`, `owner_id`, `mode` and `agent_id` of each, from an index that is in the order of `id`; for the
   * line of the run also `amount_cents`, or `about` as in `ProcessRecord`.
   */
  readonly select: string
}
