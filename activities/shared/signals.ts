import { z } from 'zod'
import { refuseUnstorable } from '../../src/derive/http/body.ts'
import {
  DECISION_PAYLOAD_EXAMPLE,
  type ProcessInput,
  type ProcessStatus,
} from '../../src/kernel/contract/process.ts'
import type { OperatorDecision } from '../../src/kernel/contract/step.ts'
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

interface Decision extends OperatorDecision {
  /** The idempotency key: a repeated attempt gets the answer of the first. */
  readonly once: string
}

/** Runs the operation of a signal with the API's checks; returns the line that the operator reads. */
export async function applySignal(
  run: RunOperation,
  settings: WorkflowSignalSettings,
  { signal, withoutPayload, signalled, requestId, once, ...waiting }: Decision,
): Promise<string> {
  const { verb, payload, ...input } = signalled
  if (!signal) return `A signal ${verb} was ignored: no such signal is known.`
  const { operation, body = commentOnly } = signal
  if (withoutPayload) {
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
    once,
    ...waiting,
  })
  return refused
    ? `The signal ${verb} by ${by} changed nothing: ${refused}`
    : `Signal ${verb} by ${by}: done.`
}

const commentOnly = (_by: string, comment: string | undefined): object => (comment ? { comment } : {})

/** Signals decide about live money only if the installation allows it. */
const areIgnored = (
  { mode }: Pick<ProcessInput, 'mode'>,
  { operatorSignals, openLiveMoney = false }: WorkflowSignalSettings,
): boolean => (mode === 'live' || openLiveMoney) && !operatorSignals

export const withPermittedSignals = <Status extends ProcessStatus>(
  status: Status,
  input: Pick<ProcessInput, 'mode'>,
  settings: WorkflowSignalSettings,
): Status => (areIgnored(input, settings) ? { ...status, signals: [] } : status)

function readPayload(payload: unknown): z.output<typeof Payload> | undefined {
  try {
    refuseUnstorable(payload)
    return Payload.parse(payload)
  } catch {
    return undefined
  }
}
