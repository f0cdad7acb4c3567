import { ApplicationFailure, allHandlersFinished, condition, proxySinks } from '@temporalio/workflow'
import {
  DECISION_PAYLOAD_EXAMPLE,
  readDecision,
  type UpdateAnswer,
  type UpdateRefusal,
} from '../../src/kernel/contract/process.ts'

/** Waits for the answer to its update. */
export type Caller = PromiseWithResolvers<UpdateAnswer>

/** Counts the updates that a run refused at once: they leave no event in its history. */
export type UpdateSinks = {
  readonly updates: { refused(reason: UpdateRefusal): void }
}

const { updates } = proxySinks<UpdateSinks>()

interface Limits {
  /** The updates carry no name. */
  readonly withoutPayload: boolean
  /** Why nothing changes the record any more; undefined while it may be open. */
  readonly whyOver: (() => string | undefined) | undefined
}

/** Refuses what no rule of the record has to decide. All else is accepted, and decided by the activity. */
export function validateUpdate(payload: unknown, { withoutPayload, whyOver }: Limits): void {
  const isLegible = withoutPayload ? isEmpty(payload) : readDecision(payload)
  if (!isLegible)
    refuseAtOnce('malformed', withoutPayload ? 'Send no payload.' : `Send ${DECISION_PAYLOAD_EXAMPLE}.`)
  const over = whyOver?.()
  if (over !== undefined) refuseAtOnce('ended', over)
}

const isEmpty = (payload: unknown): boolean => ['null', '{}'].includes(JSON.stringify(payload ?? null))

function refuseAtOnce(reason: UpdateRefusal, message: string): never {
  updates.refused(reason)
  throw refusal(message, reason)
}

/** Any other error would fail the workflow task, again and again. The Web UI shows a stack in full, which helps no operator. */
const refusal = (message: string, type: string): ApplicationFailure =>
  Object.assign(ApplicationFailure.nonRetryable(message, type), { stack: '' })

interface Decided extends UpdateAnswer {
  readonly isDone: boolean
}

/**
 * A run that ended, or began anew, before the handler has finished would give the caller no answer. Those that wait for their turn
 * are carried out first.
 */
export async function answerUpdate(
  { resolve, reject }: Caller,
  { isDone, status, line }: Decided,
  areOthersPending: () => boolean,
): Promise<void> {
  if (isDone) resolve({ status, line })
  else reject(refusal(line, 'refused'))
  await condition(() => allHandlersFinished() || areOthersPending())
}
