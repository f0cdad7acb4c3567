import { type Client, ScheduleNotFoundError } from '@temporalio/client'
import { until } from '../until.ts'

/** A schedule of these workers, as operators see it in the Web UI. A worker creates it once it is connected. */
export function scheduleOf({ schedule }: Client, taskQueue: string, name: string) {
  const handle = schedule.getHandle(`${taskQueue}-${name}`)
  const described = () =>
    until(`there is a schedule ${name}`, () =>
      handle.describe().catch((error: unknown) => {
        if (error instanceof ScheduleNotFoundError) return undefined
        throw error
      }),
    )
  const lastRun = async () => (await described()).info.recentActions.at(-1)?.action.workflow
  return {
    handle,
    described,
    lastRun,
    /** Starts it by hand, and gives the run that it began. */
    async trigger() {
      const { numActionsTaken: before, recentActions } = (await described()).info
      // Its id has the second in which it begins.
      const last = recentActions.at(-1)?.takenAt.getTime() ?? 0
      await until('it would have another id', () => Date.now() >= last + 1_000)
      await handle.trigger('SKIP')
      await until(
        `the schedule ${name} has acted`,
        async () => (await described()).info.numActionsTaken > before,
      )
      const run = await lastRun()
      if (!run) throw new Error(`the schedule ${name} has begun nothing`)
      return run
    },
  }
}
