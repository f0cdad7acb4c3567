import {
  ActivityCancellationType,
  type ActivityOptions,
  isCancellation,
  proxyActivities,
  proxyLocalActivities,
  workflowInfo,
} from '@temporalio/workflow'
import { callsQueueOf, webhooksQueueOf } from '../../src/kernel/contract/process.ts'

/** Repeated until it succeeds: nothing is paid twice, since each activity finds out what an earlier attempt has done. */
const UNTIL_IT_SUCCEEDS = { initialInterval: 200, maximumInterval: 30_000 }

/** Well below the time of a workflow task, which is ten seconds. */
const QUICK_MS = 2_000

export type ActivityKind = (name: string) => (input: unknown) => Promise<unknown>

/** Has a task queue of its own: calls to other systems hold up no decision. */
interface OutsideKind extends ActivityKind {
  readonly isOutside: true
}

type KindOf<Activity> = Activity extends { readonly calls: object } ? OutsideKind : ActivityKind

/** A try that is under way ends first: what it has done is recorded. */
const cancellationType = ActivityCancellationType.WAIT_CANCELLATION_COMPLETED

const as =
  (summary: string, options: () => ActivityOptions): ActivityKind =>
  name =>
  input => {
    const common = { summary, retry: UNTIL_IT_SUCCEEDS, cancellationType }
    const activity = proxyActivities({ ...common, ...options() })[name]
    return activity?.(input) as Promise<unknown>
  }

type Time = Pick<ActivityOptions, 'startToCloseTimeout'>

/** Decides and records on PostgreSQL alone. */
export const decision = (summary: string, { startToCloseTimeout = '15 seconds' }: Time = {}): ActivityKind =>
  as(summary, () => ({ startToCloseTimeout }))

const outside = (kind: ActivityKind): OutsideKind => Object.assign(kind, { isOutside: true } as const)

/** Calls another system. */
export const call = (summary: string, { startToCloseTimeout = '15 seconds' }: Time = {}): OutsideKind =>
  outside(as(summary, () => ({ startToCloseTimeout, taskQueue: callsQueueOf(workflowInfo().taskQueue) })))

/** Calls another system that knows no reference: an attempt whose answer was lost is never repeated. */
export const once = (summary: string, { startToCloseTimeout = '15 seconds' }: Time = {}): OutsideKind =>
  outside(
    as(summary, () => ({
      startToCloseTimeout,
      retry: { maximumAttempts: 1 },
      taskQueue: callsQueueOf(workflowInfo().taskQueue),
    })),
  )

/** Posts a webhook. A stopping or dead worker’s attempt is repeated; one that is under way is never cut off. */
export const post = (summary: string): OutsideKind =>
  outside(
    as(summary, () => ({
      startToCloseTimeout: '45 seconds',
      heartbeatTimeout: '10 seconds',
      taskQueue: webhooksQueueOf(workflowInfo().taskQueue),
    })),
  )

/**
 * What recurs for the whole installation, and may take long. No record waits for it: what fails is tried again less and
 * less often, and fails before the next hour, since a schedule begins no run beside an open one. It holds up no decision.
 */
export const round = (summary: string): ActivityKind =>
  as(summary, () => ({
    scheduleToCloseTimeout: '50 minutes',
    heartbeatTimeout: '30 seconds',
    retry: { initialInterval: '1 second', maximumInterval: '10 minutes' },
    taskQueue: callsQueueOf(workflowInfo().taskQueue),
  }))

/**
 * Reads within the workflow task, which leaves one event in the history in place of six. A reading that fails is
 * repeated as an activity.
 */
export const reading = (summary: string): ActivityKind => {
  const patiently = decision(summary)
  return name => {
    const once = {
      startToCloseTimeout: QUICK_MS,
      scheduleToCloseTimeout: 2 * QUICK_MS,
      retry: { maximumAttempts: 1 },
    }
    return async input => {
      try {
        return await proxyLocalActivities(once)[name]?.(input)
      } catch (error) {
        if (isCancellation(error)) throw error
        return patiently(name)(input)
      }
    }
  }
}

/** The activities of a noun, each with its task queue, timeouts and what the Web UI calls it. */
export const activities = <A extends object>(kinds: { readonly [Name in keyof A]: KindOf<A[Name]> }): A =>
  Object.fromEntries(Object.entries<ActivityKind>(kinds).map(([name, kind]) => [name, kind(name)])) as A
