import { patched, proxyActivities } from '@temporalio/workflow'

/**
 * Whether the run began with the names of this version. Asked once, and kept for the run, whose state a module's is: a
 * run that began under an earlier version uses the names of that version to its end.
 */
let isOfThisVersion: boolean | undefined
export function hasNamedSteps(): boolean {
  isOfThisVersion ??= patched('steps-are-named')
  return isOfThisVersion
}

interface Named {
  /** What it is for: the summary that its line in the timeline has. */
  readonly summary: string
  /** The name of the activity in runs that began under an earlier version, where it was another one. */
  readonly formerly?: string
  readonly timeoutMs?: number
}

const TIMEOUT_MS = 15_000

/** The activities of a process. Each is tried until it succeeds, for as long as that takes. */
export function stepsOf<Activities>() {
  return <Name extends keyof Activities & string>(
    table: Readonly<Record<Name, Named>>,
  ): Pick<Activities, Name> => {
    const steps = Object.entries<Named>(table).map(
      ([name, { summary, formerly = name, timeoutMs = TIMEOUT_MS }]) => {
        const activities = proxyActivities<Record<string, (input: unknown) => Promise<unknown>>>({
          summary,
          startToCloseTimeout: timeoutMs,
          retry: { initialInterval: 200, maximumInterval: 30_000 },
        })
        return [name, (input: unknown) => activities[hasNamedSteps() ? name : formerly]?.(input)]
      },
    )
    return Object.fromEntries(steps)
  }
}
