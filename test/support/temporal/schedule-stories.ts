import type { Stage } from './stage.ts'

export interface ScheduleStage {
  /** Starts a schedule by hand; returns the id of its run. */
  begins(schedule: string): Promise<string>
}

type Story = (stage: Stage & ScheduleStage) => Promise<string>

const actsOnce =
  (schedule: string): Story =>
  async ({ begins, ends }) => {
    const workflowId = await begins(schedule)
    await ends(workflowId)
    return workflowId
  }

export const scheduleStories: Readonly<Record<string, Story>> = {
  'exchange-rates-fetched': actsOnce('exchange-rates'),
  'old-deliveries-removed': actsOnce('old-deliveries'),
  'returns-listed': actsOnce('returns'),
  'unused-files-erased': actsOnce('unused-files'),
}
