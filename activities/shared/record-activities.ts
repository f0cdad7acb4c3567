import type { WaitingRun } from '../../src/kernel/contract/call.ts'
import {
  type ProcessInput,
  type ProcessStatus,
  type ProcessStepResult,
  type RecordProcess,
  STEP_MS,
  workflowIdOf,
} from '../../src/kernel/contract/process.ts'
import type { ReceivedSignal } from '../../src/kernel/contract/step.ts'
import { clock } from '../../src/values/clock.ts'
import { attemptName, type RunOperation, readProcessStatus } from './run-operation.ts'
import { applySignal, type WorkflowSignalSettings, withPermittedSignals } from './signals.ts'

export type RecordActivities<P extends RecordProcess> = {
  readonly [Name in P['read']['activity']]: (input: ProcessInput) => Promise<ProcessStatus>
} & {
  readonly [Name in P['decide'] & string]: (signalled: ReceivedSignal) => Promise<string>
} & {
  readonly [Name in keyof P['steps']]: (input: ProcessInput) => Promise<ProcessStepResult | null>
}

/** Reads the record, carries out signals, and takes its steps. Each may be repeated: completed work is detected. */
export function recordActivities<P extends RecordProcess>(
  process: P,
  run: RunOperation,
  settings: WorkflowSignalSettings,
): RecordActivities<P> {
  const requestOf = (input: ProcessInput) => `workflow:${workflowIdOf(process, input.id)}`

  async function read(input: ProcessInput): Promise<ProcessStatus> {
    const { operation, whenClosed } = process.read
    const readBy = (key: string) => readProcessStatus(run, key, input, requestOf(input))
    let status = await readBy(operation)
    if (whenClosed && status.closed) status = await readBy(whenClosed)
    const page = settings.pageOf?.(input.id)
    const shown = page ? { ...status, page } : status
    return process.decide ? withPermittedSignals(shown, input, settings) : shown
  }

  const decide = (signalled: ReceivedSignal): Promise<string> =>
    applySignal(run, settings, {
      signal: process.signals?.[signalled.verb],
      signalled,
      requestId: requestOf(signalled),
      once: attemptName(signalled.updateId),
      ...waitingRunOf(process, signalled),
    })

  const steps = Object.entries(process.steps).map(([name, { operation, timeoutMs }]) => {
    async function act(input: ProcessInput): Promise<ProcessStepResult | null> {
      const { result } = await run<{ readonly done?: boolean }>(operation, {
        of: input,
        as: 'process',
        requestId: requestOf(input),
        ...waitingRunOf(process, input, timeoutMs),
      })
      return result?.done === undefined ? null : { done: result.done }
    }
    async function step(input: ProcessInput): Promise<ProcessStepResult | null> {
      const done = await act(input)
      return { ...done, status: await read(input) }
    }
    return [name, step] as const
  })

  const activities = { [process.read.activity]: read, ...Object.fromEntries(steps) }
  return { ...activities, ...(process.decide && { [process.decide]: decide }) } as RecordActivities<P>
}

/** Until half of the activity's time is over, it is sure to read the record itself. */
const waitingRunOf = (
  process: RecordProcess,
  { id }: ProcessInput,
  timeoutMs = STEP_MS,
): { waitingRun: WaitingRun } => ({
  waitingRun: { workflowId: workflowIdOf(process, id), until: clock.ticks() + timeoutMs / 2 },
})
