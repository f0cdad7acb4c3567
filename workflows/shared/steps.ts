import { proxyActivities } from '@temporalio/workflow'
import type { ProcessInput, RecordProcess, StepResult } from '../../src/kernel/contract/process.ts'

const TIMEOUT_MS = 15_000

interface Line {
  readonly summary: string
  readonly timeoutMs?: number
}

/** Retried until it succeeds, without a time limit. */
export function activity<Input, Result>(
  name: string,
  { summary, timeoutMs = TIMEOUT_MS }: Line,
): (input: Input) => Promise<Result> {
  const activities = proxyActivities<Record<string, (input: Input) => Promise<Result>>>({
    summary,
    startToCloseTimeout: timeoutMs,
    retry: { initialInterval: 200, maximumInterval: 30_000 },
  })
  return activities[name] as (input: Input) => Promise<Result>
}

export type StepsOf<P extends RecordProcess> = {
  readonly [Name in keyof P['steps']]: () => Promise<StepResult | null>
}

export function stepsOf<P extends RecordProcess>(process: P, input: ProcessInput): StepsOf<P> {
  const steps = Object.entries(process.steps).map(([name, step]) => {
    const run = activity<ProcessInput, StepResult | null>(name, step)
    return [name, () => run(input)]
  })
  return Object.fromEntries(steps)
}
