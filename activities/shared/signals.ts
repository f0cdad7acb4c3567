import type { Acted } from '../../src/kernel/contract/operation.ts'
import {
  DECISION_PAYLOAD_EXAMPLE,
  type ProcessInput,
  type ProcessStatus,
  readDecision,
} from '../../src/kernel/contract/process.ts'
import type { OperatorDecision } from '../../src/kernel/contract/step.ts'
import type { RunOperation } from './run-operation.ts'

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

/** What asks for a decision, as the line about it begins. */
const SIGNAL = ['A signal', 'The signal', 'Signal'] as const
const UPDATE = ['An update', 'The update', 'Update'] as const

/** Runs the operation of a signal or an update with the API's checks; returns the line that the operator reads. */
export async function applySignal(
  run: RunOperation,
  settings: WorkflowSignalSettings,
  { signal, withoutPayload, signalled, requestId, once, ...waiting }: Decision,
): Promise<string> {
  const { verb, payload, updateId, ...input } = signalled
  const [one, this_, it] = updateId === undefined ? SIGNAL : UPDATE
  if (!signal) return `${one} ${verb} was ignored: no such signal is known.`
  const { operation, body = commentOnly } = signal
  if (withoutPayload) {
    const asked = {
      of: input,
      as: 'process',
      requestId,
      body: body('', undefined, updateId !== undefined),
      once,
      ...waiting,
    } as const
    const { result, refused = '' } = await run<Acted>(operation, asked)
    return result?.acted ? `${it} ${verb}: done.` : `${this_} ${verb} changed nothing. ${refused}`.trimEnd()
  }
  const read = readDecision(payload)
  if (!read) return `${one} ${verb} was ignored: send ${DECISION_PAYLOAD_EXAMPLE}.`
  if (areIgnored(input, settings))
    return `${one} ${verb} was ignored: OPERATOR_SIGNALS is off, and this is live money.`
  const { by, comment } = read
  const { refused } = await run(operation, {
    of: input,
    as: { operator: by },
    requestId,
    body: body(by, comment, updateId !== undefined),
    once,
    ...waiting,
  })
  return refused ? `${this_} ${verb} by ${by} changed nothing: ${refused}` : `${it} ${verb} by ${by}: done.`
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
