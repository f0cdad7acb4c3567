import {
  type Client,
  ScheduleAlreadyRunning,
  ScheduleNotFoundError,
  type ScheduleOptions,
  type ScheduleSpec,
  WorkflowExecutionAlreadyStartedError,
} from '@temporalio/client'
import type { Duration } from '@temporalio/common'
import type * as workflows from '../../workflows/index.ts'
import { MONTHLY_STATEMENT_SCHEDULE, statementsProcess } from '../money/statements/process.ts'
import { AFTER_MONEY } from '../platform/temporal/starter.ts'
import { addMs, clock, days } from '../values/clock.ts'

interface Recurring {
  readonly summary: string
  readonly details: string
  readonly spec: ScheduleSpec
  /** How late it may begin after an outage of Temporal. One run makes up for all missed ones. */
  readonly catchupWindow: Duration
  /** It begins with the installation, too. */
  readonly triggerImmediately?: boolean
}

/**
 * What recurs by the clock for the whole installation, by the name of its workflow: once, with any number of processes.
 * Nothing that a payment needs waits for it.
 */
const recurring = {
  'exchange-rates': {
    summary: 'Exchange rates of the day',
    details: `The ECB publishes them on working days, at about 16:00 in Frankfurt. Those of today are not fetched again.

Without this schedule they are fetched by the first payment that finds them older than a day.`,
    spec: {
      calendars: [
        {
          dayOfWeek: { start: 'MONDAY', end: 'FRIDAY' },
          hour: { start: 14, end: 21 },
          minute: 15,
          comment: 'Working days, until those of the day are there',
        },
      ],
    },
    catchupWindow: '3 days',
    triggerImmediately: true,
  },
  returns: {
    summary: 'What was returned at Stripe',
    details: `Lists the disputes and refunds of the last 120 days in live mode, and books what is missing: the second witness, beside Stripe’s events.

Without this schedule, a lost event loses a return.`,
    spec: { intervals: [{ every: '1 hour', offset: '10 minutes' }] },
    catchupWindow: '1 hour',
  },
  'old-deliveries': {
    summary: 'Deliveries of webhooks after 30 days',
    details: 'Removes them, dead letters included. Their events are kept.',
    spec: { intervals: [{ every: '1 hour', offset: '25 minutes' }] },
    catchupWindow: '1 hour',
  },
  'unused-files': {
    summary: 'Files that no record uses',
    details:
      'Erases files that are older than an hour and have no row: their records were erased, or never committed.',
    spec: { intervals: [{ every: '30 minutes', offset: '20 minutes' }] },
    catchupWindow: '30 minutes',
  },
  statements: {
    summary: 'Statements of the month that is over, of all wallets',
    details: statementsProcess.details,
    spec: {
      calendars: [{ ...MONTHLY_STATEMENT_SCHEDULE, comment: 'The statements of the month that is over' }],
    },
    catchupWindow: '31 days',
  },
} satisfies Partial<Record<keyof typeof workflows, Recurring>>

type RecurringName = keyof typeof recurring

/** Schedules take it, although the SDK’s type of their actions does not name it. */
const BEHIND_MONEY = { priority: { priorityKey: AFTER_MONEY } }

const scheduleIdOf = (name: string, taskQueue: string): string => `${taskQueue}-${name}`

function scheduleOf(name: RecurringName, taskQueue: string) {
  const { summary, details, spec, catchupWindow }: Recurring = recurring[name]
  return {
    scheduleId: scheduleIdOf(name, taskQueue),
    spec,
    action: {
      type: 'startWorkflow',
      workflowType: name,
      // Databases that share a namespace have a run each.
      workflowId: `${name}/all/${taskQueue}`,
      taskQueue,
      args: [{}],
      ...BEHIND_MONEY,
      staticSummary: summary,
      staticDetails: details,
    },
    policies: { overlap: 'SKIP', catchupWindow },
  } as const satisfies ScheduleOptions
}

export const ensureSchedules = async (client: Client, taskQueue: string): Promise<void> => {
  const names = Object.keys(recurring) as RecurringName[]
  await Promise.all(names.map(name => ensureSchedule(name, client, taskQueue)))
}

async function ensureSchedule(name: RecurringName, { schedule }: Client, taskQueue: string): Promise<void> {
  const { scheduleId, ...wanted } = scheduleOf(name, taskQueue)
  const { triggerImmediately = false }: Recurring = recurring[name]
  try {
    await schedule.create({ scheduleId, ...wanted, state: { triggerImmediately } })
  } catch (error) {
    if (!(error instanceof ScheduleAlreadyRunning)) throw error
    // A new version may change the times; a schedule that an operator paused stays paused.
    await schedule.getHandle(scheduleId).update(({ state }) => ({ ...wanted, state }))
  }
}

/** For how long Temporal keeps the runs of what recurs each hour. All others it keeps as long as the namespace says. */
const KEPT_MS = days(1)

/**
 * Removes completed runs of a schedule. Temporal’s own retention is one for all runs of a namespace, and what recurs each
 * hour would leave a month of them. One that failed or was ended stays.
 */
export async function removeEarlierRuns(
  { workflow, workflowService, options: { namespace } }: Client,
  name: string,
  taskQueue: string,
  keptMs = KEPT_MS,
): Promise<void> {
  const before = addMs(clock.real(), -keptMs).toISOString()
  const schedule = scheduleIdOf(name, taskQueue)
  const query = `TemporalScheduledById = '${schedule}' and ExecutionStatus = 'Completed' and CloseTime < '${before}'`
  for await (const { workflowId, runId } of workflow.list({ query, pageSize: 100 }))
    await workflowService.deleteWorkflowExecution({ namespace, workflowExecution: { workflowId, runId } })
}

/**
 * Restarts the last run of the statements' schedule under the same id if it failed or was ended from outside: the next
 * one is a month away. A run that Temporal no longer retains is restarted, too, and finds everything done.
 */
export async function repairMonthlyStatementRun(client: Client, taskQueue: string): Promise<void> {
  const { scheduleId, action } = scheduleOf('statements', taskQueue)
  const last = await lastBegunBy(client, scheduleId)
  if (last === undefined) return
  const again = {
    taskQueue,
    args: action.args,
    workflowId: last,
    staticSummary: action.staticSummary,
    staticDetails: action.staticDetails,
    priority: action.priority,
    workflowIdReusePolicy: 'ALLOW_DUPLICATE_FAILED_ONLY',
  } as const
  await client.workflow.start(action.workflowType, again).catch((error: unknown) => {
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error
  })
}

/** Undefined before the first run, and before a worker has created the schedule. */
async function lastBegunBy({ schedule }: Client, scheduleId: string): Promise<string | undefined> {
  try {
    const { info } = await schedule.getHandle(scheduleId).describe()
    return info.recentActions.at(-1)?.action.workflow.workflowId
  } catch (error) {
    if (error instanceof ScheduleNotFoundError) return undefined
    throw error
  }
}
