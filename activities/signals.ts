import { activityInfo, type Info } from '@temporalio/activity'
import { z } from 'zod'
import { refuseUnstorable } from '../src/derive/http/body.ts'
import type { WaitingRun } from '../src/kernel/contract/call.ts'
import {
  DECISION_PAYLOAD_EXAMPLE,
  type ProcessInput,
  type ProcessStatus,
  type RecordProcess,
} from '../src/kernel/contract/process.ts'
import type { RunOperation } from './run-operation.ts'

const remark = z.string().trim().min(1).max(1_000).optional()

/** A name, which is unproven, and a reason under either member. */
const Payload = z
  .strictObject({ by: z.string().trim().min(1).max(200), comment: remark, reason: remark })
  .refine(({ comment, reason }) => comment === undefined || reason === undefined)

export interface WorkflowSignalSettings {
  readonly operatorSignals: boolean
  /** Whether decisions in test mode also open live money. */
  readonly openLiveMoney?: boolean
  /** The page of a record in the console, which has the names that Temporal does not get. */
  readonly pageOf?: (id: string) => string | undefined
}

export interface ReceivedSignal extends ProcessInput {
  readonly verb: string
  readonly payload: unknown
}

interface Decision {
  readonly process: RecordProcess
  readonly signalled: ReceivedSignal
  readonly requestId: string
  readonly waitingRun?: WaitingRun
}

/** Runs the operation of a signal with the API's checks; returns the line that the operator reads. */
export async function applySignal(
  run: RunOperation,
  settings: WorkflowSignalSettings,
  { process, signalled, requestId, ...waiting }: Decision,
): Promise<string> {
  const { verb, payload, ...input } = signalled
  const signal = process.signals?.[verb]
  if (!signal) return `A signal ${verb} was ignored: no such signal is known.`
  const { operation, body = commentOnly } = signal
  if (process.withoutPayload) {
    const asked = { of: input, as: 'process', requestId, body: body('', undefined), ...waiting } as const
    const { result, refused = '' } = await run<{ acted: boolean }>(operation, asked)
    return result?.acted ? `Signal ${verb}: done.` : `The signal ${verb} changed nothing. ${refused}`
  }
  const read = readPayload(payload)
  if (!read) return `A signal ${verb} was ignored: send ${DECISION_PAYLOAD_EXAMPLE}.`
  if (areIgnored(input, settings))
    return `A signal ${verb} was ignored: OPERATOR_SIGNALS is off, and this is live money.`
  const { by, comment = read.reason } = read
  const { refused } = await run(operation, {
    of: input,
    as: { operator: by },
    requestId,
    body: body(by, comment),
    once: onceOf(activityInfo()),
    ...waiting,
  })
  return refused
    ? `The signal ${verb} by ${by} changed nothing: ${refused}`
    : `Signal ${verb} by ${by}: done.`
}

const commentOnly = (_by: string, comment: string | undefined): object => (comment ? { comment } : {})

/** Signals decide about live money only if the installation allows it. */
const areIgnored = (
  { mode }: ProcessInput,
  { operatorSignals, openLiveMoney = false }: WorkflowSignalSettings,
): boolean => (mode === 'live' || openLiveMoney) && !operatorSignals

export const withPermittedSignals = <Status extends ProcessStatus>(
  status: Status,
  input: ProcessInput,
  settings: WorkflowSignalSettings,
): Status => (areIgnored(input, settings) ? { ...status, signals: [] } : status)

/** An attempt whose answer was lost has done its work: by the same key the next attempt gets that answer. */
const onceOf = ({ workflowExecution, activityId }: Info): string =>
  `${workflowExecution?.runId}/${activityId}`

function readPayload(payload: unknown): z.output<typeof Payload> | undefined {
  try {
    refuseUnstorable(payload)
    return Payload.parse(payload)
  } catch {
    return undefined
  }
}
