import type { HandlerOf } from '../../kernel/contract/operation.ts'
import { handIn } from './change.ts'
import type { Dispute } from './dispute.ts'
import { type LockedDispute, lockDispute } from './lock-dispute.ts'
import { withWord } from './money/standing.ts'
import { isCovered, type Settling, settle } from './settle.ts'
import type { stepsApi } from './steps-api.ts'

const isDue = (at: Date | null, now: Date): boolean => at !== null && at <= now

/** Gives back provisionally, reminds of the evidence, or ends the time for it, whichever is due. */
export const followDeadlines: HandlerOf<typeof stepsApi.followDeadlines> = async ({ params }, context) => {
  const { now, refuse } = context
  const locked = await lockDispute(params.id, context)
  if (!locked) return refuse('dispute_not_found')
  const { dispute } = locked
  const { creditDueAt, remindAt, evidenceDueAt } = dispute
  if (isDue(creditDueAt, now)) {
    Object.assign(dispute, { creditDueAt: null, creditedAt: now })
    settle(locked, context)
  }
  if (isDue(evidenceDueAt, now)) endEvidence(locked, context)
  else if (isDue(remindAt, now)) {
    dispute.remindAt = null
    settle(locked, context, { change: 'reminder', reason: REMINDER })
  }
  return { acted: [creditDueAt, remindAt, evidenceDueAt].some(at => isDue(at, now)) }
}

const REMINDER = 'Evidence can be given for one more day; then what is there is submitted.'

/** What is there is submitted; where nothing is, it lapses. */
function endEvidence(locked: LockedDispute, context: Settling): void {
  const { dispute } = locked
  if (hasSomething(dispute)) handIn(locked, context)
  else {
    const at = context.now.toISOString()
    dispute.words = withWord(dispute.words, { id: 'lapse', says: 'lapsed', at, cents: null })
    settle(locked, context)
  }
}

/** That somebody has not authorized a payment is what they say of it: no other evidence is asked of them. */
const hasSomething = (dispute: Dispute): boolean => dispute.evidenceIds.length > 0 || isCovered(dispute)
