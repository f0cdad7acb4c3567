import {
  type DisputeStanding,
  isFailure,
  type OpenedDispute,
  type ProcessorFailure,
} from '../../../ports/card-processor.ts'
import { after } from '../../../values/clock.ts'
import { excerpt } from '../../../values/schemas.ts'
import { type Dispute, INQUIRY_MS, REMINDER_MS } from '../dispute.ts'
import type { LockedDispute } from '../lock-dispute.ts'
import { type Word, withWord } from '../money/standing.ts'
import { pendingCall } from '../schedule.ts'
import { type Settling, settle } from '../settle.ts'
import type { DisputeAnswer, DisputeCall } from './dispute-call.ts'

/** Applies what the processor has answered. What has been decided meanwhile stays decided. */
export function applyAnswer(
  answer: DisputeAnswer,
  asked: DisputeCall,
  locked: LockedDispute,
  context: Settling,
): void {
  const { dispute } = locked
  const { now } = context
  if (isFailure(answer)) fail(dispute, asked, answer, now)
  else {
    Object.assign(dispute, { attempts: 0, processorProblem: null, callDueAt: now })
    note(dispute, asked, answer, now)
    if (pendingCall(dispute) === 'inquire') dispute.callDueAt = after(now, INQUIRY_MS)
  }
  settle(locked, context)
}

const UNANSWERED = {
  late: 'The card processor does not answer. It is asked again.',
  unusable: 'The answer of the card processor cannot be read. It is asked again.',
}

/** What cannot be withdrawn is left to the network; what is refused before is lost, as the network never hears of it. */
function fail(dispute: Dispute, { kind }: DisputeCall, failure: ProcessorFailure, now: Date): void {
  if (failure.failure !== 'refused') {
    dispute.processorProblem = UNANSWERED[failure.failure]
    return
  }
  dispute.processorProblem = excerpt(failure.message)
  if (kind === 'withdraw') dispute.toldWithdrawnAt = now
  else if (kind === 'inquire') dispute.callDueAt = after(now, INQUIRY_MS)
  else addWord(dispute, { id: `refused/${kind}`, says: 'lost', at: now.toISOString(), cents: null })
}

const addWord = (dispute: Dispute, word: Word): void => {
  dispute.words = withWord(dispute.words, word)
}

function note(
  dispute: Dispute,
  { kind }: DisputeCall,
  answer: Exclude<DisputeAnswer, ProcessorFailure>,
  now: Date,
): void {
  if (kind === 'open') opened(dispute, answer as OpenedDispute)
  if (kind === 'document') dispute.documentedAt ??= now
  if (kind === 'file') dispute.filedAt ??= now
  if (kind === 'withdraw') dispute.toldWithdrawnAt ??= now
  if (kind === 'inquire') learn(dispute, answer as DisputeStanding, now)
}

/** The processor's time for evidence wins over ours. */
function opened(dispute: Dispute, { processorDisputeId, evidenceDueAt }: OpenedDispute): void {
  dispute.processorDisputeId ??= processorDisputeId
  if (
    dispute.status !== 'open' ||
    evidenceDueAt === null ||
    evidenceDueAt.getTime() === dispute.evidenceDueAt?.getTime()
  )
    return
  Object.assign(dispute, { evidenceDueAt, remindAt: after(evidenceDueAt, -REMINDER_MS) })
}

/** An answer that says what is known already is no new word: the processor is asked every day. */
function learn(dispute: Dispute, standing: DisputeStanding, now: Date): void {
  if (standing.status === 'undecided') return
  const says = standing.status === 'expired' ? 'lost' : standing.status
  const cents =
    'amountEuros' in standing && standing.amountEuros !== null ? String(standing.amountEuros) : null
  const last = dispute.words.findLast(word => ['credited', 'won', 'lost'].includes(word.says))
  if (last?.says === says && last.cents === cents) return
  const at = now.toISOString()
  addWord(dispute, { id: `inquiry/${at}`, says, at, cents })
}
