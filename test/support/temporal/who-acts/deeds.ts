import type { WorkflowHandle } from '@temporalio/client'
import type { RunView } from '../runs.ts'
import type { Rescue } from './programs.ts'
import type { Step } from './steps.ts'
import type { Due } from './stories.ts'

/** Who has taken a step of a record. */
export type Actor = 'run' | 'sweep' | 'nobody'

export interface Deed {
  readonly step: Step
  readonly by: Actor
  /** How often its activity was completed. */
  readonly completed: number
  /** When it was completed last, as `Date.now()`. */
  readonly at: number
  readonly rescue: Rescue | undefined
  /** How often it was counted as a rescue. */
  readonly rescues: number
}

interface Completed {
  readonly name: string
  readonly at: number
}

interface Seen {
  readonly due: Due
  readonly steps: readonly Step[]
  readonly of: (record: { workflowId: string }) => RunView
  readonly rescues: readonly Rescue[]
  /** When they became due, as `Date.now()`. */
  readonly since: number
}

/** Who took the steps of a record: told by the histories of its runs, and by the rescues. */
export async function deedsOn({ due, steps, of, rescues, since }: Seen): Promise<Deed[]> {
  const runs = await due.runs()
  const ids = runs.map(run => run.slice(run.indexOf('/') + 1))
  const rescued = rescues.filter(({ id }) => ids.includes(id))
  const histories = await Promise.all(runs.map(workflowId => completedIn(of({ workflowId }).handle)))
  return steps.map(step => {
    const mine = histories.flat().filter(({ name, at }) => name === step.activity && at >= since)
    const ofStep = rescued.filter(({ operation }) => operation === step.operation)
    const [rescue] = ofStep
    const by = rescue ? 'sweep' : mine.length > 0 ? 'run' : 'nobody'
    return { step, by, completed: mine.length, at: mine.at(-1)?.at ?? 0, rescue, rescues: ofStep.length }
  })
}

/** The activities that a run has completed, in order. */
async function completedIn(handle: WorkflowHandle): Promise<Completed[]> {
  const { events } = await handle.fetchHistory()
  const names = new Map<string, string>()
  const completed: Completed[] = []
  for (const { eventId, eventTime, ...event } of events ?? []) {
    const { activityTaskScheduledEventAttributes: scheduled, activityTaskCompletedEventAttributes: end } =
      event
    if (scheduled) names.set(String(eventId), String(scheduled.activityType?.name))
    const at = Number(eventTime?.seconds ?? 0) * 1_000 + (eventTime?.nanos ?? 0) / 1e6
    if (end) completed.push({ name: String(names.get(String(end.scheduledEventId))), at })
  }
  return completed
}
