import { upsertSearchAttributes, workflowInfo } from '@temporalio/workflow'
import {
  DEADLINE_ATTRIBUTE,
  DOUBTFUL_SINCE_ATTRIBUTE,
  type ProcessStatus,
  STATUS_SEARCH_ATTRIBUTE,
} from '../../src/kernel/contract/process.ts'

/** A deadline may be off by this much before the list is corrected. */
const TOLERANCE_MS = 60_000

interface RunVisibility {
  /** Writes what has changed into Temporal's list of runs: an event in the history. */
  show(status: ProcessStatus): void
}

/**
 * The run was started with the status and the deadline that its record had. A run that acts many times has no deadline in
 * the list, which would be an event for each.
 */
export function runList({ hasDeadline = true } = {}): RunVisibility {
  return {
    // Histories of before have no time of the reading.
    show({ status, doubtfulSince = null, readAtMs = Date.now(), ...times }) {
      const dueInMs = hasDeadline ? times.dueInMs : null
      const listed = workflowInfo().typedSearchAttributes
      const listedDoubt = listed.get(DOUBTFUL_SINCE_ATTRIBUTE)?.toISOString() ?? null
      const hasDoubt = listedDoubt === doubtfulSince
      const hasStatus = hasDoubt && listed.get(STATUS_SEARCH_ATTRIBUTE) === status
      // A step that is due is taken at once: the next deadline is known after it.
      const deadline = dueInMs === null ? null : readAtMs + Math.max(dueInMs, 0)
      const isDue = dueInMs !== null && dueInMs <= 0
      if (hasStatus && (isDue || isNear(listed.get(DEADLINE_ATTRIBUTE), deadline))) return
      const listedNow = { key: STATUS_SEARCH_ATTRIBUTE, value: status }
      const due = { key: DEADLINE_ATTRIBUTE, value: deadline === null ? null : new Date(deadline) }
      const since = {
        key: DOUBTFUL_SINCE_ATTRIBUTE,
        value: doubtfulSince === null ? null : new Date(doubtfulSince),
      }
      upsertSearchAttributes([listedNow, ...(isDue ? [] : [due]), ...(hasDoubt ? [] : [since])])
    },
  }
}

const isNear = (listed: Date | undefined, deadline: number | null): boolean =>
  listed === undefined || deadline === null
    ? listed === undefined && deadline === null
    : Math.abs(listed.getTime() - deadline) <= TOLERANCE_MS
