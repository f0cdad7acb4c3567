import {
  type Client,
  ScheduleAlreadyRunning,
  ScheduleNotFoundError,
  type ScheduleOptions,
  WorkflowExecutionAlreadyStartedError,
} from '@temporalio/client'
import { MONTHLY_STATEMENT_SCHEDULE, statementsProcess } from '../money/statements/process.ts'

export async function ensureSchedules({ schedule }: Client, taskQueue: string): Promise<void> {
  const { scheduleId, ...monthly } = statementsOf(taskQueue)
  try {
    await schedule.create({ scheduleId, ...monthly })
  } catch (error) {
    if (!(error instanceof ScheduleAlreadyRunning)) throw error
    // A new version may change the calendar; a schedule that an operator paused stays paused.
    await schedule.getHandle(scheduleId).update(({ state }) => ({ ...monthly, state }))
  }
}

/**
 * Restarts the last run of the schedule under the same id if it failed or was ended from outside. A run that
 * Temporal no longer retains is restarted, too, and finds everything done.
 */
export async function repairMonthlyStatementRun(client: Client, taskQueue: string): Promise<void> {
  const { scheduleId, action } = statementsOf(taskQueue)
  const last = await lastBegunBy(client, scheduleId)
  if (last === undefined) return
  const again = {
    taskQueue,
    args: action.args,
    workflowId: last,
    staticSummary: action.staticSummary,
    staticDetails: action.staticDetails,
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

const statementsOf = (taskQueue: string) =>
  ({
    scheduleId: `${taskQueue}-statements`,
    spec: {
      calendars: [{ ...MONTHLY_STATEMENT_SCHEDULE, comment: 'The statements of the month that is over' }],
    },
    action: {
      type: 'startWorkflow',
      workflowType: statementsProcess.name,
      // Databases that share a namespace have a run each.
      workflowId: `${statementsProcess.name}/all/${taskQueue}`,
      taskQueue,
      args: [{}],
      staticSummary: 'Statements of the month that is over, of all wallets',
      staticDetails: statementsProcess.details,
    },
    // One run makes up for all missed ones.
    policies: { overlap: 'SKIP', catchupWindow: '31 days' },
  }) as const satisfies ScheduleOptions
