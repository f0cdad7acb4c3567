import type { DurableProcess } from './process.ts'

/** Records with a run, which waits by the tenant's time, and must wake when a test clock moves. */
export interface ClockWaitingRecords {
  readonly process: DurableProcess
  readonly table: string
  readonly record: string
  readonly agent: string
  readonly open: string
  /** SQL: whether the record has a run. The sweep leaves it to the run, and takes over 30 seconds later. */
  readonly waits: string
}

export interface Deadline
  extends Pick<ClockWaitingRecords, 'process' | 'table' | 'open'>,
    Partial<Pick<ClockWaitingRecords, 'record' | 'agent' | 'waits'>> {
  readonly due?: string
  /**
   * SQL: since when the present `due` may have been known. A deadline that lies in the past when it is written is late only
   * for its run.
   */
  readonly known?: string
  /** SQL: how long the sweep leaves the record to its run; never longer than others. */
  readonly rescueAfterMs?: string
  /** The activities of the record's run that the sweep carries out in its place, in this order. */
  readonly activities?: readonly string[]
  /**
   * The keys of the operations that end a record without a run. Each does nothing where nothing is left to do.
   */
  readonly operations?: readonly string[]
}

export const WITHOUT_RUN = 'false'

/** Defaults: the record's own id, no agent, and no run. */
export const withDeadlineDefaults = (deadline: Deadline): Required<Deadline> => ({
  ...{ record: 'id', agent: 'null::text', due: 'due_at', known: 'updated_at', rescueAfterMs: 'null' },
  ...{ waits: WITHOUT_RUN, activities: [], operations: [] },
  ...deadline,
})

export interface OpenRecordsQuery {
  readonly process: DurableProcess
  /**
   * SQL that gives `id`, `owner_id`, `mode` and `agent_id` of each, from an index in the order of `id`; for
   * the summary of the run also `amount_cents`, or `about` as in `ProcessRecord`.
   */
  readonly select: string
}
