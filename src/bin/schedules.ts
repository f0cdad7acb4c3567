import { type Client, ScheduleAlreadyRunning, type ScheduleOptions } from '@temporalio/client'
import { MONTHLY, statementsProcess } from '../money/statements/process.ts'

/** What begins by the calendar, each under a name that an operator finds in the Web UI. */
export async function keepSchedules({ schedule }: Client, taskQueue: string): Promise<void> {
  const { scheduleId, ...monthly } = statementsOf(taskQueue)
  try {
    await schedule.create({ scheduleId, ...monthly })
  } catch (error) {
    if (!(error instanceof ScheduleAlreadyRunning)) throw error
    // A new version may say it otherwise; what an operator has paused stays so.
    await schedule.getHandle(scheduleId).update(({ state }) => ({ ...monthly, state }))
  }
}

const statementsOf = (taskQueue: string) =>
  ({
    scheduleId: `${taskQueue}-statements`,
    spec: { calendars: [{ ...MONTHLY, comment: 'The statements of the month that is over' }] },
    action: {
      type: 'startWorkflow',
      workflowType: statementsProcess.name,
      workflowId: `${statementsProcess.name}/all`,
      taskQueue,
      args: [{}],
    },
    // Whatever was missed is made by one run.
    policies: { overlap: 'SKIP', catchupWindow: '31 days' },
  }) as const satisfies ScheduleOptions
