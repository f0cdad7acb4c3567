import { isCancellation, proxyActivities, proxyLocalActivities, workflowInfo } from '@temporalio/workflow'
import {
  callsQueueOf,
  type ProcessInput,
  type ProcessStatus,
  type ProcessStep,
  type ProcessStepResult,
  type RecordProcess,
  STEP_MS,
} from '../../src/kernel/contract/process.ts'
import { receiveSignals, type SignalHandling } from './signals.ts'

/** Well below the time of a workflow task, which is ten seconds. */
const QUICK_MS = 2_000

interface Line extends Partial<Pick<ProcessStep, 'callsOutside'>> {
  readonly summary: string
  readonly timeoutMs?: number
}

/** Retried until it succeeds, without a time limit. */
export function proxyActivity<Input, Result>(
  name: string,
  { summary, timeoutMs = STEP_MS, ...step }: Line,
): (input: Input) => Promise<Result> {
  const activities = proxyActivities<Record<string, (input: Input) => Promise<Result>>>({
    summary,
    ...(step.callsOutside && { taskQueue: callsQueueOf(workflowInfo().taskQueue) }),
    startToCloseTimeout: timeoutMs,
    retry: { initialInterval: 200, maximumInterval: 30_000 },
  })
  return activities[name] as (input: Input) => Promise<Result>
}

type Local = Record<string, (input: unknown) => Promise<unknown>>

/**
 * Runs within the workflow task and leaves one event in the history, where an activity and the task after it
 * leave six. For one quick statement that changes nothing: if it fails, it becomes an activity, which Temporal
 * retries.
 */
export function localActivityFirst<Input, Result>(
  name: string,
  line: Line,
): (input: Input) => Promise<Result> {
  const local = proxyLocalActivities<Local>({
    startToCloseTimeout: QUICK_MS,
    scheduleToCloseTimeout: 2 * QUICK_MS,
    retry: { maximumAttempts: 1 },
  })
  const patiently = proxyActivity<Input, Result>(name, line)
  return async input => {
    try {
      return (await local[name]?.(input)) as Result
    } catch (error) {
      if (isCancellation(error)) throw error
      return patiently(input)
    }
  }
}

export type StepsOf<P extends RecordProcess> = {
  readonly [Name in keyof P['steps']]: () => Promise<ProcessStepResult | null>
}

/** `onStatus` receives the status of the record after each step. */
export function stepsOf<P extends RecordProcess>(
  process: P,
  input: ProcessInput,
  onStatus: (status: ProcessStatus) => void = () => undefined,
): StepsOf<P> {
  const steps = Object.entries(process.steps).map(([name, step]) => {
    const run = proxyActivity<ProcessInput, ProcessStepResult | null>(name, step)
    const take = async () => {
      const result = await run(input)
      if (result?.status) onStatus(result.status)
      return result
    }
    return [name, take]
  })
  return Object.fromEntries(steps)
}

/** Answers the signals of a process by its activity `decide`. */
export function handleSignals({ decide, signals = {} }: RecordProcess, input: ProcessInput): SignalHandling {
  const effects = Object.entries(signals).map(([verb, { effect }]) => [verb, effect])
  return receiveSignals(input, {
    signals: Object.fromEntries(effects),
    ...(decide && { decide: proxyActivity(decide, { summary: 'Carry out the signal of an operator' }) }),
  })
}
