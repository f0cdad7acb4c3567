import { proxyActivities } from '@temporalio/workflow'

interface Step {
  /** What it is for: the summary that its line in the timeline has. */
  readonly summary: string
  readonly timeoutMs?: number
}

const TIMEOUT_MS = 15_000

/** The activities of a process. Each is tried until it succeeds, for as long as that takes. */
export function stepsOf<Activities>() {
  return <Name extends keyof Activities & string>(
    table: Readonly<Record<Name, Step>>,
  ): Pick<Activities, Name> => {
    const steps = Object.entries<Step>(table).map(([name, { summary, timeoutMs = TIMEOUT_MS }]) => {
      const activities = proxyActivities<Record<string, (input: unknown) => Promise<unknown>>>({
        summary,
        startToCloseTimeout: timeoutMs,
        retry: { initialInterval: 200, maximumInterval: 30_000 },
      })
      return [name, (input: unknown) => activities[name]?.(input)]
    })
    return Object.fromEntries(steps)
  }
}
