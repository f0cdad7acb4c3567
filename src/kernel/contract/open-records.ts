import type { Process } from './process.ts'

/** The records of a noun that need a run of its process for as long as they are open. */
export interface OpenRecords {
  readonly process: Process
  /**
   * SQL that gives `id`, `owner_id`, `mode` and `agent_id` of each, from an index that is in the order of `id`; for the
   * line of the run also `amount_cents`, or `about` as in `ProcessRecord`.
   */
  readonly select: string
}
