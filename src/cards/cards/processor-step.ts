import type { ContextOf } from '../../kernel/contract/operation.ts'
import { Problem } from '../../kernel/contract/problem.ts'
import { beginCall, isCallDue, pendingCall, schedule } from './due.ts'
import { type LockedNumbers, lockNumbers } from './lock-card.ts'
import { cardProcess } from './process.ts'
import { isUnanswered } from './processor-request.ts'
import type { stepsApi } from './steps-api.ts'

export type StepContext = ContextOf<typeof stepsApi.issue>

/** The result of a step that had nothing to do. */
export const NOTHING = { acted: false }
export const ACTED = { acted: true }

/** The processor has answered: what it did not do before is no problem any more, and the next step is due at once. */
export function answered(locked: LockedNumbers, { now, wake }: Pick<StepContext, 'now' | 'wake'>): void {
  const { card } = locked
  Object.assign(card, { attempts: 0, callDueAt: null })
  if (isUnanswered(card.processorProblem)) card.processorProblem = null
  schedule(locked, now)
  wake(cardProcess, card)
}

/** The card, if this call of the processor is due for it now. */
export async function lockForCall(
  cardId: string,
  call: ReturnType<typeof pendingCall>,
  context: StepContext,
): Promise<LockedNumbers | null> {
  const { ports, tenant, now } = context
  const locked = await lockNumbers(cardId, context)
  if (!locked || pendingCall(locked) !== call || !isCallDue(locked.card, now)) return null
  const { name } = ports.cardProcessor(tenant.mode)
  const { processor } = locked.card
  if (processor !== name)
    throw new Problem('not_configured', `Its processor is ${processor}, and ${name} is configured.`)
  beginCall(locked.card, now)
  return locked
}
